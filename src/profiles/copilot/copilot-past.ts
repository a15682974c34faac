import type { PastFact, PastReader, PastSessions } from '../../core/profile/past-session.ts'
import { join } from 'node:path'
import { contentText, idOf, listOf, loose, numberOf, textOf } from '../shared/jsonl.ts'
import { threadKey, threadOf } from '../shared/counted-thread.ts'
import { timeOf } from '../shared/past-time.ts'

/** `<session>/events.jsonl`: one line for each event. */
function copilotReader(): PastReader {
  return ({ type, timestamp, data: found }): PastFact[] => {
    const at = timeOf(timestamp)
    const data = loose(found)
    const text = contentText(data.content ?? '')
    switch (type) {
      case 'session.start': {
        const { cwd } = loose(data.context)
        return [{ type: 'session', at, key: textOf(data.sessionId), cwd: textOf(cwd) }]
      }
      case 'user.message':
        return [{ type: 'prompt', at, text }]
      case 'assistant.message': {
        const calls = listOf(data.toolRequests).map(({ toolCallId, name, arguments: input }): PastFact => {
          return { type: 'call', at, call: idOf(toolCallId), tool: textOf(name) ?? 'tool', input }
        })
        return text === '' ? calls : [{ type: 'reply', at, text }, ...calls]
      }
      case 'tool.execution_complete': {
        const output = contentText(loose(data.result).content ?? loose(data.error).message ?? '')
        return [{ type: 'result', at, call: idOf(data.toolCallId), ok: data.success === true, text: output }]
      }
      case 'session.usage_record': {
        const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, model } = loose(data.usage)
        const read = { cached: numberOf(cacheReadTokens), written: numberOf(cacheWriteTokens) }
        const sum = { input: numberOf(inputTokens), output: numberOf(outputTokens), ...read }
        // GitHub counts premium requests: the recorded cost is not a price of these tokens.
        return [{ type: 'usage', at, ...sum, model: textOf(model) }]
      }
      case 'session.error':
        return [{ type: 'stop', at, by: 'failure', message: textOf(data.message) ?? 'the request failed' }]
      case 'abort':
        return [{ type: 'stop', at, by: 'person', message: 'stopped by the person' }]
      default:
        return []
    }
  }
}

export const copilotPast: PastSessions = {
  folder: ({ home, env }) => join(env.COPILOT_HOME || join(home, '.copilot'), 'session-state'),
  file: /^[0-9a-f-]{36}\/events\.jsonl$/,
  key: (thread) => threadOf(thread).id,
  thread: (id, used) => threadKey({ id, ...used }),
  reader: copilotReader,
}
