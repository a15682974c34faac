import type { Pane } from './pane.ts'
import type { TmuxServer } from './server.ts'
import { basename } from 'node:path'
import { quoted } from '../shell.ts'

/** What a person types to see a pane: inside its server they go there, from anywhere else they attach. */
export function attachCommand(
  { program, place }: TmuxServer,
  { session, window, pane }: Pane,
  env: Readonly<Record<string, string | undefined>>,
): string {
  const [option, name] = place
  const tmux = [program, option, name].map(bare).join(' ')
  const around = env.TMUX?.split(',')[0]
  const inside = around !== undefined && (option === '-S' ? around === name : basename(around) === name)
  if (inside) return `${tmux} switch-client -t ${quoted(pane)}`
  return `${around === undefined ? '' : 'env -u TMUX '}${tmux} attach-session -t ${quoted(`${session}:${window}.${pane}`)}`
}

/** A person reads it: only what needs marks has them. */
const bare = (word: string) => (/^[\w./-]+$/.test(word) ? word : quoted(word))
