import type { Dialect, Ended, Step } from '../core/screen/profile.ts'
import type { Failure, FailureKind } from '../core/talk/outcome.ts'
import type { Loose } from './jsonl.ts'
import type { Sign } from './signs.ts'
import { Account } from './account.ts'
import { contentText, loose, parseLine, textOf } from './jsonl.ts'
import { readMessage } from './signs.ts'

/** What Copilot calls its errors, where their words are not known. */
const kinds: Readonly<Record<string, FailureKind>> = {
  rate_limit: 'busy',
  quota: 'quota',
  authentication: 'auth',
  authorization: 'auth',
  context_limit: 'overflow',
}

/** `copilot --output-format json`. It reports no tokens, so the usage is an estimate of ours. */
export function copilotDialect(signs: readonly Sign[], known: (ended: Ended) => Failure | undefined): Dialect {
  const account = new Account()
  const calls = new Map<string, { tool: string; input: unknown }>()
  let error: Loose | undefined

  function done({ toolCallId, success, result, error: why }: Loose): Step[] {
    const call = String(toolCallId)
    const { message, code } = loose(why)
    const made = calls.get(call)
    if (made && code === 'denied') account.deny(made.tool, made.input)
    const text = success === true ? contentText(loose(result).content ?? '') : (textOf(message) ?? '')
    return [{ type: 'result', call, ok: success === true, text }]
  }

  function failure({ errorType, message }: Loose, now: number): Failure {
    const words = textOf(message) ?? 'it ended with an error'
    return readMessage(signs, words, now) ?? { kind: kinds[textOf(errorType) ?? ''] ?? 'crash', message: words }
  }

  return {
    open: (prompt) => prompt,
    line(line) {
      const event = parseLine(line)
      const data = loose(event.data)
      switch (event.type) {
        case 'assistant.message_delta':
          return [{ type: 'text', delta: textOf(data.deltaContent) ?? '' }]
        case 'assistant.reasoning_delta':
          return [{ type: 'thought', delta: textOf(data.deltaContent) ?? '' }]
        case 'assistant.message':
          // A subagent's words are its tool's result, not the answer.
          if (data.parentToolCallId || !data.content) return []
          account.say(textOf(data.content) ?? '')
          return [{ type: 'text', delta: '\n' }]
        case 'tool.execution_start': {
          const call = { tool: textOf(data.toolName) ?? 'tool', input: data.arguments }
          calls.set(String(data.toolCallId), call)
          return [{ type: 'call', call: String(data.toolCallId), ...call }]
        }
        case 'tool.execution_complete':
          return done(data)
        case 'session.error':
          error = data
          return []
        case 'result': {
          if (event.exitCode === 0) account.done()
          const key = textOf(event.sessionId)
          return key === undefined ? [] : [{ type: 'thread', key }]
        }
        default:
          return []
      }
    },
    end(ended) {
      if (error && ended.code !== 0) account.fail(failure(error, ended.now))
      return account.end('copilot', ended, known)
    },
  }
}
