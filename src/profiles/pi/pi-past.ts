import type { PastFact, PastReader, PastSessions } from '../../core/profile/past-session.ts'
import type { Loose } from '../shared/jsonl.ts'
import { join } from 'node:path'
import { contentText, idOf, listOf, loose, numberOf, textOf } from '../shared/jsonl.ts'
import { timeOf } from '../shared/past-time.ts'

/** `--<folder>--/<time>_<session>.jsonl`: one line for each message, written when the message is complete. */
function piReader(): PastReader {
  function spoken(message: Loose, at: number | undefined): PastFact[] {
    const facts = listOf(message.content).flatMap(({ type, text, id, name, arguments: input }): PastFact[] => {
      const words = textOf(text) ?? ''
      if (type === 'text') return words === '' ? [] : [{ type: 'reply', at, text: words }]
      if (type !== 'toolCall') return []
      return [{ type: 'call', at, call: idOf(id), tool: textOf(name) ?? 'tool', input }]
    })
    const { input, output, cacheRead, cacheWrite, cost } = loose(message.usage)
    const cached = numberOf(cacheRead)
    const written = numberOf(cacheWrite)
    const sum = { input: numberOf(input) + cached + written, output: numberOf(output), cached, written }
    const more = { model: textOf(message.model), request: textOf(message.responseId) }
    if (sum.input + sum.output > 0)
      facts.push({ type: 'usage', at, ...sum, cost: numberOf(loose(cost).total), ...more })
    if (message.stopReason === 'aborted')
      facts.push({ type: 'stop', at, by: 'person', message: 'stopped by the person' })
    if (message.stopReason === 'error')
      facts.push({ type: 'stop', at, by: 'failure', message: textOf(message.errorMessage) ?? 'the request failed' })
    return facts
  }

  return (line): PastFact[] => {
    const at = timeOf(line.timestamp)
    if (line.type === 'session') return [{ type: 'session', at, key: textOf(line.id), cwd: textOf(line.cwd) }]
    const message = loose(line.message)
    if (line.type !== 'message') return []
    if (message.role === 'user') return [{ type: 'prompt', at, text: contentText(message.content) }]
    if (message.role === 'assistant') return spoken(message, at)
    if (message.role !== 'toolResult') return []
    const { toolCallId, content, isError } = message
    return [{ type: 'result', at, call: idOf(toolCallId), ok: isError !== true, text: contentText(content) }]
  }
}

export const piPast: PastSessions = {
  folder: ({ home, env }) => join(env.PI_CODING_AGENT_DIR || join(home, '.pi', 'agent'), 'sessions'),
  file: /^[^/]+\/[^/]+_[0-9a-f-]{36}\.jsonl$/,
  reader: piReader,
}
