import type { Event } from '../../core/talk/entry.ts'
import type { Ask, Question } from '../../core/talk/question.ts'
import type { NativeParts, NativeSeat } from './parts.ts'
import { hooks } from './hooking.ts'

/** Whoever is asked may look elsewhere: hooks tell them. Nobody waits for those. */
export function notifying(ask: Ask, seat: NativeSeat, parts: NativeParts): Ask {
  if (!seat.settings.hooks.Notification) return ask
  return (question, withdrawn, id) => {
    notify(question, seat, parts, withdrawn)
    return ask(question, withdrawn, id)
  }
}

/** The questions that a turn ends with are asked when it is over. */
export function notifyOfAsks(event: Event, seat: NativeSeat, parts: NativeParts, signal: AbortSignal): void {
  if (event.type !== 'result' || !seat.settings.hooks.Notification) return
  const [first] = (event.data as { asks?: Question[] } | undefined)?.asks ?? []
  if (first) notify(first, seat, parts, signal)
}

function notify({ about, text }: Question, seat: NativeSeat, parts: NativeParts, signal: AbortSignal): void {
  const kind = about === 'permission' ? 'permission_prompt' : 'elicitation_dialog'
  const told = { message: text, title: 'termaite', notification_type: kind }
  void hooks('Notification', told, seat, parts, signal)
}
