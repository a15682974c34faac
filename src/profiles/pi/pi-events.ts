import type { Ended, Step } from '../../core/profile/profile.ts'
import type { Failure } from '../../core/talk/outcome.ts'
import type { Loose } from '../shared/jsonl.ts'
import type { Sign } from '../shared/failure-signs.ts'
import { readMessage } from '../shared/failure-signs.ts'
import { TurnAccount } from '../shared/turn-account.ts'
import { contentText, idOf, innerMessage, listOf, loose, numberOf, textOf } from '../shared/jsonl.ts'

/** Reads the events of a session, which pi prints in the same form in each of its modes, and collects the result of one turn. */
export class PiEvents {
  #signs: readonly Sign[]
  #known: (ended: Ended) => Failure | undefined
  #account = new TurnAccount()
  #calls = new Map<string, unknown>()
  #error: string | undefined

  constructor(signs: readonly Sign[], known: (ended: Ended) => Failure | undefined) {
    this.#signs = signs
    this.#known = known
  }

  read(event: Loose): Step[] {
    switch (event.type) {
      case 'message_update':
        return live(loose(event.assistantMessageEvent))
      case 'message_end':
        this.#spoke(loose(event.message))
        return []
      case 'tool_execution_start': {
        const call = idOf(event.toolCallId)
        this.#calls.set(call, event.args)
        return [{ type: 'call', call, tool: textOf(event.toolName) ?? 'tool', input: event.args }]
      }
      case 'tool_execution_end':
        return this.#done(event)
      default:
        return []
    }
  }

  /** pi refused the turn, or broke it off. */
  fail(error: string): void {
    this.#error = error
  }

  end(ended: Ended): Step[] {
    if (this.#error !== undefined) {
      const found = readMessage(this.#signs, this.#error, ended.now) ?? { kind: 'crash' as const }
      this.#account.fail({ ...found, message: innerMessage(this.#error) })
    }
    return this.#account.end('pi', ended, this.#known)
  }

  #spoke(message: Loose): void {
    if (message.role !== 'assistant') return
    const { input, output, cacheRead, cacheWrite, cost } = loose(message.usage)
    this.#account.spend({
      input: numberOf(input) + numberOf(cacheRead) + numberOf(cacheWrite),
      output: numberOf(output),
      cached: numberOf(cacheRead),
      cost: numberOf(loose(cost).total),
    })
    const isError = message.stopReason === 'error'
    this.#error = isError ? (textOf(message.errorMessage) ?? 'it ended with an error') : undefined
    if (isError) return
    this.#account.say(contentText(listOf(message.content).filter(({ type }) => type === 'text')))
    if (message.stopReason === 'toolUse') this.#account.goOn()
    else this.#account.done()
  }

  #done({ toolCallId, toolName, result, isError }: Loose): Step[] {
    const call = idOf(toolCallId)
    const text = contentText(loose(result).content)
    // If a model calls a tool that the leash removed, it gets the error that the tool was not found.
    if (/^Tool (?:bash|edit|write) not found$/.test(text))
      this.#account.deny(textOf(toolName) ?? 'tool', this.#calls.get(call))
    return [{ type: 'result', call, ok: isError !== true, text }]
  }
}

function live({ type, delta }: Loose): Step[] {
  if (type === 'text_delta') return [{ type: 'text', delta: textOf(delta) ?? '' }]
  if (type === 'text_end') return [{ type: 'text', delta: '\n' }]
  return type === 'thinking_delta' ? [{ type: 'thought', delta: textOf(delta) ?? '' }] : []
}
