import { render } from 'preact'
import { HubRefusal, followHub, forgetSignIn, signInByLink, standing } from './hub-connection.ts'
import { forgetTurns, knowMe, load, take } from './hub-state.ts'
import { Shell } from './shell.tsx'

const root = document.getElementById('page')!
root.replaceChildren()
render(<Shell />, root)

try {
  await signInByLink()
  const { role } = await knowMe()
  // A guest reads one session, which asks for its news itself.
  if (role === 'guest') standing.value = 'live'
  else await followHub({ load, take, begin: forgetTurns })
} catch (error) {
  forgetSignIn(
    error instanceof HubRefusal ? signInWords(error) : 'The hub cannot be reached. Reload the page to try again.',
  )
}

function signInWords({ status, message }: HubRefusal): string {
  return status === 401 && !message.startsWith('This link')
    ? 'This browser is not signed in, or its sign-in has ended.'
    : message
}
