import type { TermsChange } from '../../core/profile/turn-terms.ts'
import type { Effort } from '../../core/profile/effort.ts'
import type { Loose } from '../shared/jsonl.ts'
import { listOf, loose, parseLine, textOf } from '../shared/jsonl.ts'

/** pi's own name of a level. */
export const thinkingLevel = (effort: Effort) => (effort === 'none' ? 'off' : effort)

const line = (command: Loose) => `${JSON.stringify({ id: command.type, ...command })}\n`

/**
 * Changes the model and the thinking level of a process. pi begins with the same tools at each of these leashes, so no request is needed
 * for them.
 */
export const piTerms: TermsChange = {
  leashes: ['read', 'ask', 'edit'],
  begin(from, to) {
    const { model, effort } = to
    const isOther = from.model !== model
    // No request makes pi go back to the model or the level of its settings.
    if ((isOther && model === undefined) || (from.effort !== effort && effort === undefined)) return undefined
    // With another model pi also takes another level.
    const isLevelled = effort !== undefined && (isOther || from.effort !== effort)
    const level = isLevelled ? line({ type: 'set_thinking_level', level: thinkingLevel(effort) }) : ''
    return {
      text: isOther ? line({ type: 'get_available_models' }) : level,
      hear(text) {
        const { type, id, success, data } = parseLine(text)
        if (type !== 'response') return undefined
        if (id === 'get_available_models') {
          const chosen = modelNamed(listOf(loose(data).models), model!)
          return success === true && chosen ? { send: line({ type: 'set_model', ...chosen }) } : 'refused'
        }
        if (id !== 'set_model' && id !== 'set_thinking_level') return undefined
        if (success !== true) return 'refused'
        return id === 'set_model' && level !== '' ? { send: level } : 'accepted'
      },
    }
  },
}

/** The model with this name; undefined if several have it, or none. */
function modelNamed(models: readonly Loose[], name: string): Loose | undefined {
  const found = models.filter(({ provider, id }) => [id, `${textOf(provider)}/${textOf(id)}`].includes(name))
  return found.length === 1 ? { provider: found[0]!.provider, modelId: found[0]!.id } : undefined
}
