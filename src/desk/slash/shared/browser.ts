import type { Io } from '../../../core/io.ts'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { findOutside } from '../../../base/process/program-path.ts'

/** The program that opens an address in the browser of the person at this screen; undefined if there is no such browser. */
export function browserOpener({ env, cwd }: Pick<Io, 'env' | 'cwd'>, platform = process.platform): string | undefined {
  // A browser that is opened here would be on the screen of another machine.
  if (env.SSH_CONNECTION || env.SSH_TTY) return undefined
  if (platform !== 'darwin' && !env.DISPLAY && !env.WAYLAND_DISPLAY) return undefined
  return findOutside(platform === 'darwin' ? 'open' : 'xdg-open', env, cwd)
}

/**
 * Opens an address in the browser, if there is one, and returns whether the opener was started: it may stay until the browser is
 * closed. The address must not hold a secret, because the other users of a machine can see the arguments of a program.
 */
export async function openInBrowser({ env, cwd }: Pick<Io, 'env' | 'cwd'>, url: string): Promise<boolean> {
  const opener = browserOpener({ env, cwd })
  if (opener === undefined) return false
  const child = spawn(opener, [url], { cwd, env, stdio: 'ignore', detached: true })
  child.unref()
  return once(child, 'spawn').then(
    () => true,
    () => false,
  )
}
