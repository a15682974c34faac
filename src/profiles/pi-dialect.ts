import type { Dialect, Ended, Step } from '../core/work/profile.ts'
import type { Failure } from '../core/talk/outcome.ts'
import type { Loose } from './jsonl.ts'
import type { Sign } from './signs.ts'
import { Account } from './account.ts'
import { contentText, innerMessage, listOf, loose, numberOf, parseLine, textOf } from './jsonl.ts'
import { readMessage } from './signs.ts'

/** `pi -p --mode json`. It exits with 0 whatever happened, so its messages are the truth. */
export function piDialect(signs: readonly Sign[], known: (ended: Ended) => Failure | undefined): Dialect {
  const account = new Account()
  const calls = new Map<string, unknown>()
  let error: string | undefined

  function spoke(message: Loose): void {
    if (message.role !== 'assistant') return
    const { input, output, cacheRead, cacheWrite, cost } = loose(message.usage)
    account.spend({
      input: numberOf(input) + numberOf(cacheRead) + numberOf(cacheWrite),
      output: numberOf(output),
      cached: numberOf(cacheRead),
      cost: numberOf(loose(cost).total),
    })
    error = message.stopReason === 'error' ? (textOf(message.errorMessage) ?? 'it ended with an error') : undefined
    if (error !== undefined) return
    account.say(contentText(listOf(message.content).filter(({ type }) => type === 'text')))
    if (message.stopReason === 'toolUse') account.goOn()
    else account.done()
  }

  function done({ toolCallId, toolName, result, isError }: Loose): Step[] {
    const call = String(toolCallId)
    const text = contentText(loose(result).content)
    // A leash takes tools away, and a model that reaches for one is told that there is none.
    if (/^Tool (?:bash|edit|write) not found$/.test(text)) account.deny(textOf(toolName) ?? 'tool', calls.get(call))
    return [{ type: 'result', call, ok: isError !== true, text }]
  }

  function live({ type, delta }: Loose): Step[] {
    if (type === 'text_delta') return [{ type: 'text', delta: textOf(delta) ?? '' }]
    if (type === 'text_end') return [{ type: 'text', delta: '\n' }]
    return type === 'thinking_delta' ? [{ type: 'thought', delta: textOf(delta) ?? '' }] : []
  }

  return {
    open: (prompt) => prompt,
    line(line) {
      const event = parseLine(line)
      switch (event.type) {
        case 'session':
          return typeof event.id === 'string' ? [{ type: 'thread', key: event.id }] : []
        case 'message_update':
          return live(loose(event.assistantMessageEvent))
        case 'message_end':
          spoke(loose(event.message))
          return []
        case 'tool_execution_start': {
          const call = String(event.toolCallId)
          calls.set(call, event.args)
          return [{ type: 'call', call, tool: textOf(event.toolName) ?? 'tool', input: event.args }]
        }
        case 'tool_execution_end':
          return done(event)
        default:
          return []
      }
    },
    end(ended) {
      if (error !== undefined) {
        const found = readMessage(signs, error, ended.now) ?? { kind: 'crash' as const }
        account.fail({ ...found, message: innerMessage(error) })
      }
      return account.end('pi', ended, known)
    },
  }
}
