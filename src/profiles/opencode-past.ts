import type { PastFact, PastReader, PastSessions } from '../core/profile/past-session.ts'
import type { Loose } from './shared/jsonl.ts'
import { dataFolder } from './shared/home-folders.ts'
import { idOf, loose, numberOf, parseLine, textOf } from './shared/jsonl.ts'
import { timeOf } from './shared/past-time.ts'

const objectIn = (text: unknown): Loose => (typeof text === 'string' ? parseLine(text) : {})

/** The rows of a session: each part of each message, with the message and the session that it belongs to. */
function opencodeReader(): PastReader {
  let told = false
  let last: unknown

  function called({ callID, tool, state }: Loose, at: number | undefined): PastFact[] {
    const { status, input, output, error } = loose(state)
    const call = idOf(callID)
    const made: PastFact = { type: 'call', at, call, tool: textOf(tool) ?? 'tool', input }
    if (status !== 'completed' && status !== 'error') return [made]
    return [made, { type: 'result', at, call, ok: status === 'completed', text: textOf(output) ?? textOf(error) ?? '' }]
  }

  function spent({ tokens, cost }: Loose, message: Loose, row: Loose, at: number | undefined): PastFact {
    const { input, output, reasoning, cache } = loose(tokens)
    const cached = numberOf(loose(cache).read)
    const written = numberOf(loose(cache).write)
    return {
      type: 'usage',
      at,
      input: numberOf(input) + cached + written,
      output: numberOf(output) + numberOf(reasoning),
      cached,
      written,
      cost: numberOf(cost),
      model: textOf(message.modelID),
      request: textOf(row.id),
    }
  }

  function failure({ error }: Loose, at: number | undefined): PastFact[] {
    const { name, data } = loose(error)
    if (error === undefined) return []
    const message = textOf(loose(data).message) ?? textOf(name) ?? 'the request failed'
    return [{ type: 'stop', at, by: name === 'MessageAbortedError' ? 'person' : 'failure', message }]
  }

  function steps(row: Loose, message: Loose, first: boolean): PastFact[] {
    const part = objectIn(row.part)
    const at = timeOf(row.at)
    const text = textOf(part.text) ?? ''
    if (message.role === 'user')
      return first && part.type === 'text' && part.synthetic !== true
        ? [{ type: 'prompt', at, text: text.trimEnd() }]
        : []
    const ended = first ? failure(message, at) : []
    if (part.type === 'text' && text !== '') return [{ type: 'reply', at, text }, ...ended]
    if (part.type === 'tool') return [...called(part, at), ...ended]
    return part.type === 'step-finish' ? [spent(part, message, row, at), ...ended] : ended
  }

  return (row) => {
    const message = objectIn(row.message)
    const facts = steps(row, message, row.of !== last)
    // A person's message may begin with files that OpenCode reads for it: the first text part is the prompt.
    if (message.role !== 'user' || facts.length > 0) last = row.of
    if (told) return facts
    told = true
    return [{ type: 'session', key: textOf(row.key), cwd: textOf(row.cwd) }, ...facts]
  }
}

/** `opencode.db`; a session with a parent is a subagent's. A part of more than 32 MB is left out. */
export const opencodePast: PastSessions = {
  database: ({ home, env }) => dataFolder({ home, env, cwd: '' }, 'opencode', 'opencode.db'),
  sessions: `
    SELECT s.id AS session, s.time_updated AS changed, s.parent_id IS NOT NULL AS inner,
      (SELECT coalesce(sum(length(data)), 0) FROM part WHERE session_id = s.id) AS bytes
    FROM session s ORDER BY s.time_created, s.id
  `,
  records: `
    SELECT coalesce(s.parent_id, s.id) AS key, s.directory AS cwd, m.id AS "of", m.data AS message, p.id, p.data AS part,
      coalesce(p.time_created, m.time_created) AS at
    FROM session s JOIN message m ON m.session_id = s.id
      LEFT JOIN part p ON p.message_id = m.id AND length(p.data) <= 33554432
    WHERE s.id = :session ORDER BY m.time_created, m.id, p.id
  `,
  reader: opencodeReader,
}
