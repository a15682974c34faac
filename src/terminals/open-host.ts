import type { Env } from '../base/env.ts'
import type { Clock } from '../base/time/clock.ts'
import type { TerminalHost } from '../core/screen/terminal.ts'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { messageOf } from '../base/error-message.ts'
import { findOutside, withoutProject } from '../base/process/program-path.ts'

type HostParts = {
  /** The folder with the files of terminals, the same for all processes of a home. */
  folder: string
  env: Env
  clock: Clock
  /** The name of our own tmux server. */
  socket?: string
  /** Whether the programs in the terminals are stopped with this process, even if it is killed. */
  bound?: boolean
}

/** A terminal host; `why` is a sentence that says why it is not the preferred one. */
type OpenedHost = { host: TerminalHost; kind: 'tmux' | 'pty'; why?: string }

/**
 * Chooses tmux if it is installed and works, otherwise embedded terminals. If a host is requested by name, it is opened or an error is
 * thrown.
 */
export async function openHost(wanted: 'auto' | 'tmux' | 'pty', parts: HostParts): Promise<OpenedHost> {
  if (wanted === 'pty') return embedded(parts)
  const found = await findTmux(parts.env)
  if ('program' in found) {
    const { tmuxHost } = await import('./tmux/tmux-host.ts')
    return { host: tmuxHost({ ...parts, program: found.program }), kind: 'tmux' }
  }
  if (wanted === 'tmux')
    throw new Error(
      `terminals.host is tmux, but ${found.why}. Install tmux 3.2 or newer, or set terminals.host to auto.`,
    )
  return {
    ...(await embedded(parts)),
    why: `${found.why}: agents run in embedded terminals and stop when termaite stops`,
  }
}

async function embedded({ env, clock }: HostParts): Promise<OpenedHost> {
  const { ptyHost } = await import('./pty/pty-host.ts')
  return { host: ptyHost({ env, clock }), kind: 'pty' }
}

/** The first version with pane options, and with a copy mode that a command can leave. */
const oldest = [3, 2] as const

/** Returns the path of a working tmux, or the reason why there is no such program. */
async function findTmux(env: Env): Promise<{ program: string } | { why: string }> {
  const program = findOutside('tmux', env)
  if (program === undefined) return { why: 'tmux is not installed' }
  try {
    const { stdout } = await promisify(execFile)(program, ['-V'], {
      env: { PATH: withoutProject(env).PATH },
      timeout: 5_000,
    })
    // Reads the version from `tmux 3.3a` and `tmux next-3.6`.
    const [, major, minor] = /(\d+)\.(\d+)/.exec(stdout) ?? []
    const version = [Number(major), Number(minor)] as const
    if (version[0] > oldest[0] || (version[0] === oldest[0] && version[1] >= oldest[1])) return { program }
    return { why: `${stdout.trim()} is older than ${oldest.join('.')}` }
  } catch (error) {
    return { why: `tmux does not run: ${messageOf(error).split('\n')[0]}` }
  }
}
