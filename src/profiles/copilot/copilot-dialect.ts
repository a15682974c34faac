import type { Dialect, Ended, Step } from '../../core/profile/profile.ts'
import type { Failure, FailureKind } from '../../core/talk/outcome.ts'
import type { CountedThread } from '../shared/counted-thread.ts'
import type { Loose } from '../shared/jsonl.ts'
import type { Sign } from '../shared/failure-signs.ts'
import { TurnAccount } from '../shared/turn-account.ts'
import { threadKey, usageSince } from '../shared/counted-thread.ts'
import { contentText, idOf, loose, numberOf, parseLine, rowOf, textOf } from '../shared/jsonl.ts'
import { readMessage } from '../shared/failure-signs.ts'

/** Copilot's names for its errors, for messages that match no sign. */
const kinds: Readonly<Record<string, FailureKind>> = {
  rate_limit: 'busy',
  quota: 'quota',
  authentication: 'auth',
  authorization: 'auth',
  context_limit: 'overflow',
}

/**
 * The output of `copilot --output-format json`, followed by the file of `--usage-output-file`, whose tokens are those of the whole
 * thread.
 */
export function copilotDialect(
  signs: readonly Sign[],
  known: (ended: Ended) => Failure | undefined,
  before: CountedThread = { id: '', input: 0, cached: 0, output: 0 },
): Dialect {
  const account = new TurnAccount()
  const calls = new Map<string, { tool: string; input: unknown }>()
  let error: Loose | undefined
  let id: string | undefined
  let total: CountedThread | undefined

  function done({ toolCallId, success, result, error: why }: Loose): Step[] {
    const call = idOf(toolCallId)
    const { message, code } = loose(why)
    const made = calls.get(call)
    if (made && code === 'denied') account.deny(made.tool, made.input)
    const text = success === true ? contentText(loose(result).content ?? '') : (textOf(message) ?? '')
    return [{ type: 'result', call, ok: success === true, text }]
  }

  function failure({ errorType, message }: Loose, now: number): Failure {
    const words = textOf(message) ?? 'it ended with an error'
    return readMessage(signs, words, now) ?? { kind: rowOf(kinds, errorType) ?? 'crash', message: words }
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
          // A subagent's text is its tool's result, not the answer.
          if (data.parentToolCallId || !data.content) return []
          account.say(textOf(data.content) ?? '')
          return [{ type: 'text', delta: '\n' }]
        case 'tool.execution_start': {
          const call = { tool: textOf(data.toolName) ?? 'tool', input: data.arguments }
          calls.set(idOf(data.toolCallId), call)
          return [{ type: 'call', call: idOf(data.toolCallId), ...call }]
        }
        case 'tool.execution_complete':
          return done(data)
        case 'session.error':
          error = data
          return []
        case 'result': {
          if (event.exitCode === 0) account.done()
          id = textOf(event.sessionId)
          return []
        }
        default:
          if (event.modelMetrics) total = counted(loose(event.modelMetrics))
          return []
      }
    },
    end(ended) {
      const usage = usageSince(before, total ?? before)
      if (error && ended.code !== 0) account.fail(failure(error, ended.now))
      return [
        ...(id === undefined ? [] : [{ type: 'thread' as const, key: threadKey({ ...(total ?? before), id }) }]),
        ...(usage.input + usage.output > 0 ? [usage] : []),
        ...account.end('copilot', ended, known),
      ]
    },
  }
}

/** The tokens of all models together; the input includes the cached ones. */
function counted(models: Loose): CountedThread {
  const usages = Object.values(models).map((model) => loose(loose(model).usage))
  const sum = (field: string) => usages.reduce((all, usage) => all + numberOf(usage[field]), 0)
  return { id: '', input: sum('inputTokens'), cached: sum('cacheReadTokens'), output: sum('outputTokens') }
}
