import type { Dialect, Ended, Step } from '../core/work/profile.ts'
import type { Failure } from '../core/talk/outcome.ts'
import type { Loose } from './jsonl.ts'
import type { Sign } from './signs.ts'
import { claudeDialect } from './claude-dialect.ts'
import { brokenOff, listOf, loose, numberOf, parseLine } from './jsonl.ts'

/**
 * Qwen prints Claude's stream with two differences: its last word has an error in a field of its own, and counts the
 * tokens of the whole session with the cached ones among the input, so those of this turn's messages are summed.
 */
export function qwenDialect(signs: readonly Sign[], known: (ended: Ended) => Failure | undefined): Dialect {
  const claude = claudeDialect(signs, known)
  const spent = { input_tokens: 0, output_tokens: 0, cache_read_input_tokens: 0 }
  let streams = false
  let ended = false

  function said(event: Loose): Step[] {
    const message = loose(event.message)
    const usage = loose(message.usage)
    const cached = numberOf(usage.cache_read_input_tokens)
    spent.input_tokens += Math.max(0, numberOf(usage.input_tokens) - cached)
    spent.output_tokens += numberOf(usage.output_tokens)
    spent.cache_read_input_tokens += cached
    // Thoughts and words of one answer come whole as messages of their own, after all of them were streamed.
    const content = listOf(message.content).filter(({ type }) => !streams || type === 'tool_use')
    return claude.line(JSON.stringify({ ...event, message: { ...message, content } }))
  }

  return {
    ...claude,
    line(line) {
      const event = parseLine(line)
      if (event.type === 'stream_event') streams = true
      if (event.type === 'assistant') return said(event)
      if (event.type !== 'result') return claude.line(line)
      ended = true
      const result = event.result ?? loose(event.error).message
      return claude.line(JSON.stringify({ ...event, result, usage: spent }))
    },
    end(exit) {
      if (ended) return claude.end(exit)
      const failure = known(exit)
      return [{ type: 'end', outcome: failure ? { ok: false, failure } : brokenOff('qwen', exit) }]
    },
  }
}
