import type { PastFact, PastReader, PastSessions } from '../../core/profile/past-session.ts'
import type { Loose } from '../shared/jsonl.ts'
import { join } from 'node:path'
import { idOf, listOf, loose, numberOf, textOf } from '../shared/jsonl.ts'
import { timeOf } from '../shared/past-time.ts'

/** `<session>.jsonl`: one line for each message, written when the message is complete. */
function qwenReader(): PastReader {
  let told = false
  let counted = false

  function spoken(line: Loose, at: number | undefined): PastFact[] {
    const facts = listOf(loose(line.message).parts).flatMap(({ text, thought, functionCall }): PastFact[] => {
      const { id, name, args } = loose(functionCall)
      if (functionCall !== undefined)
        return [{ type: 'call', at, call: idOf(id), tool: textOf(name) ?? 'tool', input: args }]
      const words = textOf(text) ?? ''
      return thought === true || words === '' ? [] : [{ type: 'reply', at, text: words }]
    })
    const { promptTokenCount, candidatesTokenCount, cachedContentTokenCount } = loose(line.usageMetadata)
    const input = numberOf(promptTokenCount)
    const output = numberOf(candidatesTokenCount)
    if (counted || input + output === 0) return facts
    const more = { cached: numberOf(cachedContentTokenCount), model: textOf(line.model), request: textOf(line.uuid) }
    return [...facts, { type: 'usage', at, input, output, ...more }]
  }

  /** Qwen records an event for every request before its message; requests of subagents and for the memory have no message here. */
  function answered(event: Loose, at: number | undefined): PastFact {
    counted = true
    const beside = textOf(event.subagent_name)?.startsWith('managed-') === true
    return {
      type: 'usage',
      at,
      input: numberOf(event.input_token_count),
      output: numberOf(event.output_token_count),
      cached: numberOf(event.cached_content_token_count),
      model: textOf(event.model),
      request: textOf(event.response_id),
      ...(beside ? { beside } : {}),
    }
  }

  function results(line: Loose, at: number | undefined): PastFact[] {
    return listOf(loose(line.message).parts).flatMap(({ functionResponse }): PastFact[] => {
      const { id, response } = loose(functionResponse)
      const { output, error } = loose(response)
      const text = textOf(output) ?? textOf(error) ?? ''
      return [{ type: 'result', at, call: idOf(id), ok: error === undefined, text }]
    })
  }

  function steps(line: Loose, at: number | undefined): PastFact[] {
    if (line.type === 'assistant') return spoken(line, at)
    if (line.type === 'tool_result') return results(line, at)
    if (line.type === 'user' && (line.provenance === undefined || line.provenance === 'real_user')) {
      const text = listOf(loose(line.message).parts)
        .map(({ text }) => textOf(text) ?? '')
        .join('\n')
      return text === '' ? [] : [{ type: 'prompt', at, text }]
    }
    const event = loose(loose(line.systemPayload).uiEvent)
    if (event['event.name'] === 'qwen-code.api_response') return [answered(event, at)]
    if (event['event.name'] !== 'qwen-code.api_error') return []
    return [{ type: 'stop', at, by: 'failure', message: textOf(event.error_message) ?? 'the request failed' }]
  }

  return (line) => {
    const facts = steps(line, timeOf(line.timestamp))
    if (told) return facts
    told = true
    return [{ type: 'session', key: textOf(line.sessionId), cwd: textOf(line.cwd) }, ...facts]
  }
}

export const qwenPast: PastSessions = {
  folder: ({ home }) => join(home, '.qwen', 'projects'),
  file: /^[^/]+\/chats\/[0-9a-f-]{36}\.jsonl$/,
  reader: qwenReader,
}
