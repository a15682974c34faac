import type { Clock } from '../base/clock.ts'
import type { TerminalHost } from '../core/screen/terminal.ts'

export type HostParts = {
  /** Where what is kept of terminals lies, the same for all processes of a home. */
  folder: string
  env: Readonly<Record<string, string | undefined>>
  clock: Clock
  /** The name of our own tmux server. */
  socket?: string
}

/** A host, and in a sentence why it is not the one that is liked best. */
export type OpenedHost = { host: TerminalHost; kind: 'tmux' | 'pty'; why?: string }

/** tmux where it is there and works, else terminals of our own; what is asked for by name is given or refused. */
export async function openHost(wanted: 'auto' | 'tmux' | 'pty', parts: HostParts): Promise<OpenedHost> {
  if (wanted === 'pty') return embedded(parts)
  const { findTmux } = await import('./tmux/found.ts')
  const found = await findTmux(parts.env)
  if ('program' in found) {
    const { tmuxHost } = await import('./tmux/host.ts')
    return { host: tmuxHost({ ...parts, program: found.program }), kind: 'tmux' }
  }
  if (wanted === 'tmux')
    throw new Error(
      `terminals.host is tmux, but ${found.why}. Install tmux 3.2 or newer, or set terminals.host to auto.`,
    )
  return { ...(await embedded(parts)), why: `${found.why}: agents run in terminals of our own, and end when we do` }
}

async function embedded({ env, clock }: HostParts): Promise<OpenedHost> {
  const { ptyHost } = await import('./pty/host.ts')
  return { host: ptyHost({ env, clock }), kind: 'pty' }
}
