import type { Thinking } from '../../core/work/framework.ts'
import type { App } from '../app.ts'

/** `aimed`: the person named who takes it; `chat`: somebody watches it. */
export type Taken = { think?: How; aimed: boolean; chat: boolean }

/** `resume`: the tree of tasks that was left last is gone on with. */
export type How = Thinking | 'resume'

/** How a turn is thought through: what was said goes first; unsaid, only a chat and our own agents at work are. */
export function howOf({ thinking, settings, mode }: Pick<App, 'thinking' | 'settings' | 'mode'>, turn: Taken): How {
  // Whoever plans thinks already, and changes nothing that could be checked.
  if (mode === 'plan') return 'off'
  const usual = !turn.aimed && (turn.chat || mode === 'agent') ? 'auto' : 'off'
  return turn.think ?? thinking.said ?? thinking.project ?? settings.thinking ?? usual
}
