import type { Login } from './login.ts'
import { errorCode } from '../../base/files.ts'

/**
 * Sends a person to the page where a login is granted, and takes back what they were given.
 * `send` brings about `login.page`, knowing where the browser comes back to; `show` opens it, or says no.
 */
export async function visit(
  login: Login,
  send: () => Promise<void>,
  show: (url: string) => Promise<boolean>,
  signal: AbortSignal,
): Promise<boolean> {
  const { listenForCallback } = await import('./callback.ts')
  const callback = await listenForCallback(login.port).catch((error) => {
    // Another program has our port: a new one has to be registered, which `send` does.
    if (errorCode(error) !== 'EADDRINUSE') throw error
    return listenForCallback()
  })
  try {
    await login.usePort(callback.port)
    await send()
    if (!login.page || !(await show(login.page.href))) return false
    const answer = await callback.answer(login.state, signal)
    if (!answer || !login.finish) return false
    await login.finish(answer)
    return true
  } finally {
    login.page = undefined
    await callback.close()
  }
}
