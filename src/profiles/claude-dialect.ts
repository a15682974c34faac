import type { Dialect, Ended, Step } from '../core/screen/profile.ts'
import type { Usage } from '../core/talk/entry.ts'
import type { Failure, FailureKind, Outcome } from '../core/talk/outcome.ts'
import type { Loose } from './jsonl.ts'
import type { Sign } from './signs.ts'
import { brokenOff, contentText, denial, listOf, loose, numberOf, parseLine, textOf } from './jsonl.ts'
import { readMessage } from './signs.ts'

/** What Claude Code calls its errors in the `error` field of a message. */
const kinds: Readonly<Record<string, FailureKind>> = {
  authentication_failed: 'auth',
  oauth_org_not_allowed: 'auth',
  account_on_hold: 'auth',
  verification_required: 'auth',
  cloud_credential_error: 'auth',
  billing_error: 'quota',
  rate_limit: 'busy',
  overloaded: 'busy',
  server_error: 'busy',
}

/** `claude -p --output-format stream-json --verbose`, with or without `--include-partial-messages`. */
export function claudeDialect(signs: readonly Sign[], known: (ended: Ended) => Failure | undefined): Dialect {
  const calls = new Map<string, { tool: string; input: unknown }>()
  const denied: string[] = []
  const used: Loose[] = []
  let thread: string | undefined
  let streamed: string | undefined
  let error: Loose = {}
  let result: Loose | undefined

  function partial({ event, parent_tool_use_id }: Loose): Step[] {
    if (parent_tool_use_id) return []
    const { type, message, delta } = loose(event)
    if (type === 'message_start') streamed = textOf(loose(message).id)
    const { text, thinking } = loose(delta)
    if (typeof text === 'string') return [{ type: 'text', delta: text }]
    return typeof thinking === 'string' ? [{ type: 'thought', delta: thinking }] : []
  }

  function said(line: Loose): Step[] {
    const { id, content } = loose(line.message)
    if (line.error !== undefined || line.is_api_error_message === true) {
      error = line
      return []
    }
    // A subagent's words are not the agent's; what was streamed was shown already.
    const shown = Boolean(line.parent_tool_use_id) || (id !== undefined && id === streamed)
    return listOf(content).flatMap((block): Step[] => {
      if (block.type === 'tool_use') {
        const call = { tool: textOf(block.name) ?? 'tool', input: block.input }
        calls.set(String(block.id), call)
        return [{ type: 'call', call: String(block.id), ...call }]
      }
      if (shown) return []
      if (block.type === 'text') return [{ type: 'text', delta: textOf(block.text) ?? '' }]
      return block.type === 'thinking' ? [{ type: 'thought', delta: textOf(block.thinking) ?? '' }] : []
    })
  }

  function done({ message }: Loose): Step[] {
    return listOf(loose(message).content).flatMap((block): Step[] => {
      if (block.type !== 'tool_result') return []
      const id = String(block.tool_use_id)
      const text = contentText(block.content)
      const call = calls.get(id)
      // A tool taken away by the leash is no `permission_denials` of its own account.
      if (call && /\bis disabled for this session\b/.test(text)) denied.push(denial(call.tool, call.input))
      return [{ type: 'result', call: id, ok: block.is_error !== true, text }]
    })
  }

  function outcome(last: Loose, ended: Ended): Outcome {
    const text = textOf(last.result) ?? ''
    if (last.stop_reason === 'refusal') return { ok: true, text, refused: true }
    if (last.is_error === true) return { ok: false, failure: failure(last, ended) }
    const denials = [
      ...new Set([
        ...denied,
        ...listOf(last.permission_denials).map((one) => denial(textOf(one.tool_name) ?? 'tool', one.tool_input)),
      ]),
    ]
    return { ok: true, text, ...(denials.length ? { denials } : {}) }
  }

  function failure(last: Loose, { now }: Ended): Failure {
    const errors = Array.isArray(last.errors) ? last.errors.filter((one) => typeof one === 'string') : []
    const message = textOf(last.result) ?? (errors.join('; ') || `it ended with ${textOf(last.subtype) ?? 'an error'}`)
    if (last.terminal_reason === 'prompt_too_long') return { kind: 'overflow', message }
    if (error.api_error === 'usage_limit_reached') {
      const resets = numberOf(loose(loose(error.api_error_params).rate_limit_info).resetsAt) * 1000
      return { kind: 'quota', message, ...(resets > now ? { retryAt: resets } : {}) }
    }
    const kind = kinds[textOf(error.error) ?? '']
    return readMessage(signs, message, now) ?? { kind: kind ?? 'crash', message }
  }

  return {
    open: (prompt) => prompt,
    line(line) {
      const event = parseLine(line)
      switch (event.type) {
        case 'stream_event':
          return partial(event)
        case 'assistant':
          return said(event)
        case 'user':
          return done(event)
        case 'result':
          result = event
          used.push(...Object.values(loose(event.model_usage_since_last_result)).map(loose))
          return []
        case 'system': {
          const key = event.subtype === 'init' ? textOf(event.session_id) : undefined
          if (key === undefined || key === thread) return []
          thread = key
          return [{ type: 'thread', key }]
        }
        default:
          return []
      }
    },
    over: () => result !== undefined,
    end(ended) {
      if (!result) {
        const failed = known(ended)
        return [{ type: 'end', outcome: failed ? { ok: false, failure: failed } : brokenOff('claude', ended) }]
      }
      const usage = used.length > 0 ? usageByModel(used) : usageOf(loose(result.usage))
      return [...(usage.input + usage.output > 0 ? [usage] : []), { type: 'end', outcome: outcome(result, ended) }]
    },
  }
}

/** What every model of this run used; the totals beside it count a resumed session from its start. */
function usageByModel(models: readonly Loose[]): Usage {
  const sum = (field: string) => models.reduce((total, model) => total + numberOf(model[field]), 0)
  const cached = sum('cacheReadInputTokens')
  return {
    type: 'usage',
    input: sum('inputTokens') + cached + sum('cacheCreationInputTokens'),
    output: sum('outputTokens'),
    cached,
    cost: sum('costUSD'),
    source: 'reported',
  }
}

function usageOf(usage: Loose): Usage {
  const cached = numberOf(usage.cache_read_input_tokens)
  return {
    type: 'usage',
    input: numberOf(usage.input_tokens) + cached + numberOf(usage.cache_creation_input_tokens),
    output: numberOf(usage.output_tokens),
    cached,
    source: 'reported',
  }
}
