import type { Thinking } from '../../core/talk/framework.ts'
import type { App } from '../app.ts'

/** `resume`: the tree of tasks that was left last is gone on with. */
export type How = Thinking | 'resume'

/** `aimed`: the person named who takes it; `chat`: somebody watches it. */
export type Taken = { think?: How; aimed: boolean; chat: boolean }

type Here = Pick<App, 'thinking' | 'settings' | 'mode'>

/** How a turn is thought through: what was said for it goes first. */
export function howOf(app: Here, turn: Taken): How {
  // Whoever plans thinks already, and changes nothing that could be checked.
  return app.mode === 'plan' ? 'off' : (turn.think ?? usualHow(app, turn))
}

/** The same where nothing was said for the turn; unsaid, only a chat and our own agents at work are thought through. */
export function usualHow({ thinking, settings, mode }: Here, turn: Omit<Taken, 'think'>): Thinking {
  if (mode === 'plan') return 'off'
  const unsaid = !turn.aimed && (turn.chat || mode === 'agent') ? 'auto' : 'off'
  return thinking.said ?? thinking.project ?? settings.thinking ?? unsaid
}
