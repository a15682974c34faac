import type { Dialect, Ended, Step } from '../../core/profile/profile.ts'
import type { Usage } from '../../core/talk/entry.ts'
import type { Failure, Outcome } from '../../core/talk/outcome.ts'
import type { Loose } from '../shared/jsonl.ts'
import type { Sign } from '../shared/failure-signs.ts'
import { defined } from '../../base/defined.ts'
import {
  brokenOff,
  contentText,
  denial,
  idOf,
  innerMessage,
  loose,
  numberOf,
  parseLine,
  textOf,
} from '../shared/jsonl.ts'
import { readMessage } from '../shared/failure-signs.ts'

/** Tools that Gemini does not offer if its approval mode would need a yes for them. */
const acting = ['run_shell_command', 'write_file', 'replace', 'web_fetch']

/** `gemini -o stream-json`. */
export function geminiDialect(signs: readonly Sign[], known: (ended: Ended) => Failure | undefined): Dialect {
  const calls = new Map<string, { tool: string; input: unknown }>()
  const denials: string[] = []
  /** The text between one tool call and the next. */
  const said: string[] = ['']
  let result: Loose | undefined

  function called({ tool_id, tool_name, parameters }: Loose): Step[] {
    const call = { tool: textOf(tool_name) ?? 'tool', input: parameters }
    calls.set(idOf(tool_id), call)
    if (said.at(-1) !== '') said.push('')
    return [{ type: 'call', call: idOf(tool_id), ...call }]
  }

  function returned({ tool_id, status, output, error }: Loose): Step[] {
    const id = idOf(tool_id)
    const call = calls.get(id)
    const { type, message } = loose(error)
    const refused = type === 'policy_violation' || (type === 'tool_not_registered' && acting.includes(call?.tool ?? ''))
    if (call && refused) denials.push(denial(call.tool, call.input))
    const text = contentText(output ?? message ?? '')
    return [{ type: 'result', call: id, ok: status === 'success', text }]
  }

  function outcome(last: Loose, { now }: Ended): Outcome {
    if (last.status !== 'success') {
      const message = textOf(loose(last.error).message) ?? 'it ended with an error'
      const failure = readMessage(signs, message, now) ?? { kind: 'crash' as const, message }
      return { ok: false, failure: { ...failure, message: sentence(message) } }
    }
    const text = said
      .map((part) => part.trim())
      .filter((part) => part !== '')
      .join('\n\n')
    return defined<Outcome>({ ok: true, text, denials: denials.length > 0 ? [...new Set(denials)] : undefined })
  }

  return {
    open: (prompt) => prompt,
    line(line) {
      const event = parseLine(line)
      switch (event.type) {
        case 'init':
          return typeof event.session_id === 'string' ? [{ type: 'thread', key: event.session_id }] : []
        case 'message': {
          if (event.role !== 'assistant') return []
          const delta = contentText(event.content)
          said.push((said.pop() ?? '') + delta)
          return [{ type: 'text', delta }]
        }
        case 'tool_use':
          return called(event)
        case 'tool_result':
          return returned(event)
        case 'result':
          result = event
          return []
        default:
          return []
      }
    },
    over: () => result !== undefined,
    end(ended) {
      if (!result) {
        const failure = known(ended)
        return [{ type: 'end', outcome: failure ? { ok: false, failure } : brokenOff('gemini', ended) }]
      }
      const usage = usageOf(loose(result.stats))
      return [...(usage.input + usage.output > 0 ? [usage] : []), { type: 'end', outcome: outcome(result, ended) }]
    },
  }
}

/** The message inside "[API Error: …]" or inside a printed error object. */
export function sentence(message: string): string {
  const inside = /^\[API Error: (.*?)\](?:\n|$)/s.exec(message)?.[1]
  const told = inside ?? /(?:\.json \w+: |^message: ')(.*?)(?:',)?$/s.exec(message)?.[1] ?? message
  const words = innerMessage(told).trim().slice(0, 500)
  return words.includes(' ') ? words : `API error: ${words}`
}

function usageOf(stats: Loose): Usage {
  const input = numberOf(stats.input_tokens)
  // Thoughts are counted only in the total.
  const output = Math.max(numberOf(stats.output_tokens), numberOf(stats.total_tokens) - input)
  return { type: 'usage', input, output, cached: numberOf(stats.cached), source: 'reported' }
}
