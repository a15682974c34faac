import type { PastFact, PastReader, PastSessions } from '../../core/profile/past-session.ts'
import type { Loose } from '../shared/jsonl.ts'
import { join } from 'node:path'
import { threadKey, threadOf } from '../shared/counted-thread.ts'
import { contentText, idOf, loose, numberOf, textOf } from '../shared/jsonl.ts'
import { timeOf } from '../shared/past-time.ts'

/** Text that Codex itself wrote in place of a prompt: the environment, the instruction files, the end of a turn. */
const notTyped =
  /^<(?:environment_context|user_instructions|turn_aborted|permissions|collaboration_mode|INSTRUCTIONS|skills?)\b|^# AGENTS\.md instructions/

function inputOf(text: unknown): unknown {
  try {
    return typeof text === 'string' ? JSON.parse(text) : text
  } catch {
    return text
  }
}

function usageOf(usage: Loose, more: { at?: number; model?: string; request?: string }): PastFact {
  return {
    type: 'usage',
    input: numberOf(usage.input_tokens),
    output: numberOf(usage.output_tokens),
    cached: numberOf(usage.cached_input_tokens),
    written: numberOf(usage.cache_write_input_tokens),
    ...more,
  }
}

/** `rollout-<time>-<session>.jsonl`. Older versions write only `token_count`, newer ones also a record of each request. */
function codexReader(file: string): PastReader {
  // A fork begins with the lines of its origin: only the file's name reliably identifies the session itself.
  const key = /([0-9a-f-]{36})\.jsonl$/.exec(file)?.[1]
  let model: string | undefined
  let records = false
  let total = 0

  /** A count is repeated if there was no request in between: then the total of the session has not grown. */
  function counted(info: Loose, at: number | undefined): PastFact[] {
    const sum = numberOf(loose(info.total_token_usage).total_tokens)
    if (records || sum <= total) return []
    total = sum
    return [usageOf(loose(info.last_token_usage), { at, model })]
  }

  function item(payload: Loose, at: number | undefined): PastFact[] {
    const { type, role, call_id, name, output } = payload
    if (type === 'message') {
      const text = contentText(payload.content)
      if (text === '') return []
      if (role === 'assistant') return [{ type: 'reply', at, text }]
      return role === 'user' && !notTyped.test(text) ? [{ type: 'prompt', at, text }] : []
    }
    const call = idOf(call_id)
    const tool = textOf(name) ?? 'tool'
    if (type === 'function_call') return [{ type: 'call', at, call, tool, input: inputOf(payload.arguments) }]
    if (type === 'custom_tool_call') return [{ type: 'call', at, call, tool, input: payload.input }]
    if (type !== 'function_call_output' && type !== 'custom_tool_call_output') return []
    const text = typeof output === 'string' ? output : contentText(loose(output).content ?? output)
    const ok = !/^Process exited with code [1-9]/m.test(text) && !/\baborted by user$/.test(text)
    return [{ type: 'result', at, call, ok, text }]
  }

  function event(payload: Loose, at: number | undefined): PastFact[] {
    if (payload.type === 'token_count') return counted(loose(payload.info), at)
    if (payload.type === 'turn_aborted') return [{ type: 'stop', at, by: 'person', message: 'interrupted' }]
    const message = textOf(loose(payload.error).message)
    if (payload.type !== 'task_complete' || message === undefined) return []
    return [{ type: 'stop', at, by: 'failure', message }]
  }

  return ({ type, timestamp, payload: found }) => {
    const at = timeOf(timestamp)
    const payload = loose(found)
    switch (type) {
      case 'session_meta':
        return [{ type: 'session', at, key: key ?? textOf(payload.id), cwd: textOf(payload.cwd) }]
      case 'turn_context':
        model = textOf(payload.model) ?? model
        return [{ type: 'session', at, key, cwd: textOf(payload.cwd) }]
      case 'token_usage_record':
        records = true
        return [usageOf(loose(payload.usage), { at, model, request: textOf(payload.response_id) })]
      case 'response_item':
        return item(payload, at)
      case 'event_msg':
        return event(payload, at)
      // After a summary Codex repeats the messages that it continues with.
      default:
        return []
    }
  }
}

export const codexPast: PastSessions = {
  provider: 'openai',
  folder: ({ home, env }) => join(env.CODEX_HOME || join(home, '.codex'), 'sessions'),
  file: /^\d{4}\/\d\d\/\d\d\/rollout-[^/]+\.jsonl$/,
  key: (thread) => threadOf(thread).id,
  thread: (id, used) => threadKey({ id, ...used }),
  reader: codexReader,
}
