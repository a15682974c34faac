import type { Dialect, Ended, Step } from '../core/work/profile.ts'
import type { Failure } from '../core/talk/outcome.ts'
import type { Loose } from './jsonl.ts'
import type { Sign } from './signs.ts'
import { Account } from './account.ts'
import { loose, numberOf, parseLine, textOf } from './jsonl.ts'
import { readMessage } from './signs.ts'

/** The tools that a leash takes away; another name that is not there is the model's own mistake. */
const leashed = new Set(['bash', 'edit', 'write', 'apply_patch', 'webfetch', 'task'])

/** `opencode run --format json`: each part is printed once, when it is whole. */
export function opencodeDialect(signs: readonly Sign[], known: (ended: Ended) => Failure | undefined): Dialect {
  const account = new Account()
  const errors: Loose[] = []
  let thread: string | undefined

  function used(part: Loose): Step[] {
    const { callID, tool, state } = part
    const { status, input, output, error } = loose(state)
    // A tool it does not have is printed as one named `invalid`, with the name inside.
    const missing = tool === 'invalid'
    const name = textOf(missing ? loose(input).tool : tool) ?? 'tool'
    const ok = status === 'completed' && !missing
    const text = textOf(ok ? output : (error ?? output)) ?? ''
    const refused = /^The user (?:rejected|has specified a rule)/.test(text)
    if (refused || (missing && leashed.has(name))) account.deny(name, missing ? undefined : input)
    const call = String(callID)
    return [
      { type: 'call', call, tool: name, input },
      { type: 'result', call, ok, text },
    ]
  }

  function spent({ tokens, cost, reason }: Loose): void {
    const { input, output, reasoning, cache } = loose(tokens)
    const cached = numberOf(loose(cache).read)
    account.spend({
      input: numberOf(input) + cached + numberOf(loose(cache).write),
      output: numberOf(output) + numberOf(reasoning),
      cached,
      cost: numberOf(cost),
    })
    if (reason !== 'tool-calls') account.done()
  }

  function failure({ name, data }: Loose, now: number): Failure {
    const { message, statusCode, responseBody } = loose(data)
    const words = textOf(message) ?? textOf(name) ?? 'it ended with an error'
    if (name === 'ContextOverflowError') return { kind: 'overflow', message: words }
    if (name === 'ProviderAuthError') return { kind: 'auth', message: words }
    // The body names the kind where the sentence does not; the sentence is what people read.
    const found = readMessage(signs, `${numberOf(statusCode) || ''} ${words} ${textOf(responseBody) ?? ''}`, now)
    return { kind: 'crash', ...found, message: words }
  }

  function steps(event: Loose): Step[] {
    const part = loose(event.part)
    switch (event.type) {
      case 'step_start':
        account.goOn()
        return []
      case 'text':
        account.say(textOf(part.text) ?? '')
        return [{ type: 'text', delta: `${textOf(part.text) ?? ''}\n` }]
      case 'reasoning':
        return [{ type: 'thought', delta: `${textOf(part.text) ?? ''}\n` }]
      case 'tool_use':
        return used(part)
      case 'step_finish':
        spent(part)
        return []
      case 'error':
        errors.push(loose(event.error))
        return []
      default:
        return []
    }
  }

  return {
    open: (prompt) => prompt,
    line(line) {
      const event = parseLine(line)
      const key = textOf(event.sessionID)
      if (key === undefined || key === thread) return steps(event)
      thread = key
      return [{ type: 'thread', key }, ...steps(event)]
    },
    end(ended) {
      const last = errors.at(-1)
      if (last) account.fail(failure(last, ended.now))
      return account.end('opencode', ended, known)
    },
  }
}
