import type { PromptResponse } from '@agentclientprotocol/sdk'
import type { Outcome } from '../../core/talk/outcome.ts'
import { failed } from '../../core/talk/outcome.ts'

/** What a turn that the agent ended itself came to. */
export function outcomeOf(
  name: string,
  { stopReason }: PromptResponse,
  text: string,
  denials: readonly string[],
): Outcome {
  const refused = stopReason === 'refusal'
  if (text === '' && denials.length > 0) return failed('denied', `${name} was not allowed: ${denials.join(', ')}`)
  if (text === '' && !refused) return failed('crash', `${name} gave an empty answer (it stopped with "${stopReason}")`)
  return {
    ok: true,
    text: text === '' ? `${name} declined to answer.` : text,
    ...(refused ? { refused } : {}),
    ...(denials.length > 0 ? { denials: [...denials] } : {}),
  }
}

const early: Partial<Record<PromptResponse['stopReason'], string>> = {
  max_tokens: 'its answer was as long as it may be',
  max_turn_requests: 'it asked its model as often as it may in one turn',
  cancelled: 'it says that the turn was cancelled',
}

/** What is to be said of an answer that is not all that was meant to come. */
export function cutShort(name: string, { stopReason }: PromptResponse): string | undefined {
  const why = early[stopReason]
  return why && `${name} stopped early: ${why}`
}
