import type { TermsChange } from '../../core/profile/turn-terms.ts'
import type { Leash } from '../../core/work/agent.ts'
import type { Loose } from '../shared/jsonl.ts'
import { line } from './claude-questions.ts'
import { loose, parseLine } from '../shared/jsonl.ts'

/** The permission mode of each leash that is held by that mode alone; the others need words of the command line. */
const modes: Partial<Record<Leash, string>> = { ask: 'default', edit: 'acceptEdits' }

/**
 * Changes the terms of a process by control requests, which Claude Code applies in their order. With `null` it goes back to the model or the
 * effort of its settings, whatever its command line says.
 */
export const claudeTerms: TermsChange = {
  leashes: ['ask', 'edit'],
  begin(from, to) {
    const requests: Loose[] = []
    if (from.leash !== to.leash) {
      const mode = modes[to.leash]
      if (mode === undefined || modes[from.leash] === undefined) return undefined
      requests.push({ subtype: 'set_permission_mode', mode })
    }
    if (from.model !== to.model) requests.push({ subtype: 'set_model', model: to.model ?? null })
    if (from.effort !== to.effort)
      requests.push({ subtype: 'apply_flag_settings', settings: { effortLevel: to.effort ?? null } })
    const open = new Set(requests.map(({ subtype }) => subtype))
    return {
      text: requests.map((request) => line({ type: 'control_request', request_id: request.subtype, request })).join(''),
      hear(text) {
        const { subtype, request_id } = loose(loose(parseLine(text)).response)
        if (!open.has(request_id)) return undefined
        if (subtype !== 'success') return 'refused'
        open.delete(request_id)
        return open.size === 0 ? 'accepted' : undefined
      },
    }
  },
}
