import { render } from 'preact'
import { HubRefusal, followHub, forgetSignIn, signInByLink } from './hub-connection.ts'
import { forgetTurns, load, take } from './hub-state.ts'
import { Shell } from './shell.tsx'

const root = document.getElementById('page')!
root.replaceChildren()
render(<Shell />, root)

try {
  await signInByLink()
  await followHub({ load, take, begin: forgetTurns })
} catch (error) {
  forgetSignIn(error instanceof HubRefusal ? error.message : 'The hub cannot be reached. Reload the page to try again.')
}
