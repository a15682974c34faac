import type { Thinking } from '../../core/talk/framework.ts'
import type { App } from '../../turn/app.ts'

/** How a turn is thought through; `resume` continues the last unfinished task tree. */
type TurnThinking = Thinking | 'resume'

/**
 * The facts that decide about a turn: the choice made for it, whether the person named an agent (`aimed`), and whether a person watches
 * (`chat`).
 */
type ThinkingRequest = { think?: TurnThinking; aimed: boolean; chat: boolean }

type Surroundings = Pick<App, 'thinking' | 'settings' | 'mode'>

/** Decides how a turn is thought through. A choice for the turn itself comes first. */
export function thinkingFor(app: Surroundings, turn: ThinkingRequest): TurnThinking {
  return thinksItself(app) ? 'off' : (turn.think ?? defaultThinking(app, turn))
}

/**
 * Decides how a turn is thought through if its request does not say so. Without any setting, only chats and our own agents in agent mode
 * think.
 */
export function defaultThinking(
  { thinking, settings, mode }: Surroundings,
  turn: Omit<ThinkingRequest, 'think'>,
): Thinking {
  if (thinksItself({ mode })) return 'off'
  const unset = !turn.aimed && (turn.chat || mode === 'agent') ? 'auto' : 'off'
  return thinking.said ?? thinking.project ?? settings.thinking ?? unset
}

/** An agent in plan mode already thinks, and changes nothing that could be checked; a coordinator asks its workers. */
const thinksItself = ({ mode }: Pick<Surroundings, 'mode'>) => mode === 'plan' || mode === 'coordinator'
