import { render } from 'preact'
import { HubRefusal, followHub, forgetSignIn, signInByLink, standing, untilReached } from './hub/page-connection.ts'
import { forgetLive, knowMe, load, take } from './hub/page-state.ts'
import { installWorker } from './hub/installed-page.ts'
import { startNotifications } from './notifications.ts'
import { Shell } from './shell.tsx'

const root = document.getElementById('page')!
root.replaceChildren()
render(<Shell />, root)
void installWorker()

try {
  await untilReached(signInByLink)
  const { role } = await untilReached(knowMe)
  // A guest reads one session, and its view follows the changes itself.
  if (role === 'guest') standing.value = 'live'
  else {
    startNotifications()
    await followHub({ load, take, begin: forgetLive })
  }
} catch (error) {
  forgetSignIn(error instanceof HubRefusal ? signInWords(error) : String(error))
}

function signInWords({ status, message }: HubRefusal): string {
  return status === 401 && !message.startsWith('This link')
    ? 'This browser is not signed in, or its sign-in is no longer valid.'
    : message
}
