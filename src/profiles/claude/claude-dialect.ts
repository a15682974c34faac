import type { Dialect, Ended, PictureLimits, SentPicture, Step } from '../../core/profile/profile.ts'
import type { FileChange, Usage } from '../../core/talk/entry.ts'
import type { Failure, FailureKind, Outcome, StoppedBy } from '../../core/talk/outcome.ts'
import type { Loose } from '../shared/jsonl.ts'
import type { Sign } from '../shared/failure-signs.ts'
import { defined } from '../../base/defined.ts'
import {
  claudeQuestions,
  line as written,
  planQuestions,
  planTool,
  questionTool,
  stopsAtPlan,
} from './claude-questions.ts'
import { claudeTerms } from './claude-terms.ts'
import {
  brokenOff,
  contentText,
  denial,
  idOf,
  listOf,
  loose,
  numberOf,
  parseLine,
  rowOf,
  textOf,
} from '../shared/jsonl.ts'
import { wholeFile } from '../../core/talk/question.ts'
import { unfinished } from '../../core/talk/outcome.ts'
import { diffSides } from '../../core/work/diff-sides.ts'
import { readMessage } from '../shared/failure-signs.ts'

/** Claude Code's names for its errors, in the `error` field of a message. */
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

/** The results of a turn that reached one of Claude Code's own limits (`--max-turns`, `--max-budget-usd`). */
const stops: Readonly<Record<string, StoppedBy>> = { error_max_turns: 'steps', error_max_budget_usd: 'cost' }

/**
 * `claude -p --output-format stream-json --verbose`, with or without `--include-partial-messages`; it `asks` with `--input-format stream-json`.
 * `plans`: it is in plan mode, and its plan is the answer.
 */
export function claudeDialect(
  signs: readonly Sign[],
  known: (ended: Ended) => Failure | undefined,
  { asks = false, plans = false }: { asks?: boolean; plans?: boolean } = {},
): Dialect {
  const calls = new Map<string, { tool: string; input: unknown }>()
  const denied: string[] = []
  const used: Loose[] = []
  let thread: string | undefined
  let streamed: string | undefined
  let error: Loose = {}
  /** The results so far: one, plus one for each message that arrived too late for the turn before. */
  const results: Loose[] = []
  /** Messages typed during the turn that Claude Code has not processed yet; with versions that do not report this, we do not wait. */
  const pending = new Set<string>()
  let tells = false
  let answered = false
  /** Whether something runs in the background of Claude Code on this machine, such as a subagent. */
  let works = false
  let windows = ''
  /** The text of the last message, and the plan that waits for the person's approval. */
  let words = { id: '', text: '' }
  let plan: string | undefined

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
    // A subagent's text is not the agent's, and streamed text was emitted already.
    const shown = Boolean(line.parent_tool_use_id) || (id !== undefined && id === streamed)
    if (!line.parent_tool_use_id) remember(idOf(id), listOf(content))
    return listOf(content).flatMap((block): Step[] => {
      if (block.type === 'tool_use') {
        const call = { tool: textOf(block.name) ?? 'tool', input: block.input }
        calls.set(idOf(block.id), call)
        // The plan is the answer, so the request to leave plan mode is no work to show.
        if (plans && call.tool === planTool) return []
        return [{ type: 'call', call: idOf(block.id), ...call }]
      }
      if (shown) return []
      if (block.type === 'text') return [{ type: 'text', delta: textOf(block.text) ?? '' }]
      return block.type === 'thinking' ? [{ type: 'thought', delta: textOf(block.thinking) ?? '' }] : []
    })
  }

  /** Claude Code prints each block of a message by itself, under the id of the message. */
  function remember(id: string, blocks: readonly Loose[]) {
    if (id !== words.id) words = { id, text: '' }
    for (const block of blocks) if (block.type === 'text') words.text += textOf(block.text) ?? ''
  }

  /** Takes the plan from the request to leave plan mode, and stops the turn: the person decides about the plan after it. */
  function planned({ request_id, request }: Loose): Step[] {
    const { tool_use_id, input } = loose(request)
    const written = [input, calls.get(idOf(tool_use_id))?.input].map((one) => textOf(loose(one).plan))
    plan = written.find((text) => text !== undefined && text.trim() !== '') ?? words.text
    return [{ type: 'send', text: stopsAtPlan(idOf(request_id)) }]
  }

  function done({ message, tool_use_result }: Loose): Step[] {
    return listOf(loose(message).content).flatMap((block): Step[] => {
      if (block.type !== 'tool_result') return []
      const id = idOf(block.tool_use_id)
      const text = contentText(block.content)
      const call = calls.get(id)
      if (plans && call?.tool === planTool) return []
      // A tool that the leash removed is missing from Claude Code's own `permission_denials`.
      if (call && /\bis disabled for this session\b/.test(text)) denied.push(denial(call.tool, call.input))
      const data = changesOf(loose(tool_use_result))
      const changes = data.length > 0 ? data : undefined
      return [defined<Step>({ type: 'result', call: id, ok: block.is_error !== true, text, data: changes })]
    })
  }

  function limits({ rate_limit_info }: Loose): Step[] {
    const { unifiedWindows, ...one } = loose(rate_limit_info)
    // An account that pays for use beyond its window never has to wait for a limit.
    if (one.isUsingOverage === true) return []
    const all = Object.entries(loose(unifiedWindows)).map(([name, window]) => [name, loose(window)] as const)
    const told = all.length > 0 ? all : [[textOf(one.rateLimitType) ?? '', one] as const]
    const steps = told.flatMap(([name, { utilization, resetsAt }]): Step[] => {
      if (typeof utilization !== 'number') return []
      const until = numberOf(resetsAt) * 1000
      const window = rowOf(windowNames, name) ?? name
      return [defined<Step>({ type: 'limit', used: Math.round(utilization * 100), until: until || undefined, window })]
    })
    // Claude Code reports its limits with every answer of the model; they are emitted only if they have changed.
    if (JSON.stringify(steps) === windows) return []
    windows = JSON.stringify(steps)
    return steps
  }

  function outcome(ended: Ended): Outcome {
    const last = results.at(-1)!
    // Stopping at the plan is an error of the turn in Claude Code's own account.
    if (plan?.trim()) return { ok: true, text: plan.trim(), plan: true }
    const text = results
      .map(({ result }) => textOf(result) ?? '')
      .join('\n\n')
      .trim()
    if (last.stop_reason === 'refusal') return { ok: true, text, refused: true }
    if (last.is_error === true) return { ok: false, failure: failure(last, ended) }
    const denials = [
      ...new Set([
        ...denied,
        ...results
          .flatMap(({ permission_denials }) => listOf(permission_denials))
          .filter(({ tool_name }) => tool_name !== questionTool)
          .map((one) => denial(textOf(one.tool_name) ?? 'tool', one.tool_input)),
      ]),
    ]
    return defined<Outcome>({ ok: true, text, denials: denials.length > 0 ? denials : undefined })
  }

  function failure(last: Loose, { now }: Ended): Failure {
    const errors = Array.isArray(last.errors) ? last.errors.filter((one) => typeof one === 'string') : []
    const message = textOf(last.result) ?? (errors.join('; ') || `it ended with ${textOf(last.subtype) ?? 'an error'}`)
    if (last.terminal_reason === 'prompt_too_long') return { kind: 'overflow', message }
    const stop = rowOf(stops, last.subtype)
    if (stop) return unfinished(stop, message)
    if (error.api_error === 'usage_limit_reached') {
      const resets = numberOf(loose(loose(error.api_error_params).rate_limit_info).resetsAt) * 1000
      return defined<Failure>({ kind: 'quota', message, retryAt: resets > now ? resets : undefined })
    }
    const kind = rowOf(kinds, error.error)
    return readMessage(signs, message, now) ?? { kind: kind ?? 'crash', message }
  }

  return {
    asks,
    ...(asks ? { pictures: pictureLimits } : {}),
    open: (prompt, pictures) => (asks ? message(prompt, undefined, pictures) : prompt),
    line(line) {
      const event = parseLine(line)
      switch (event.type) {
        case 'stream_event':
          return partial(event)
        case 'assistant':
          return said(event)
        case 'user':
          return done(event)
        case 'control_request':
          if (!plans) return claudeQuestions(event)
          return loose(event.request).tool_name === planTool ? planned(event) : planQuestions(event)
        case 'control_cancel_request':
          return [{ type: 'unask', id: idOf(event.request_id) }]
        case 'rate_limit_event':
          return limits(event)
        case 'command_lifecycle':
          if (event.state === 'started') answered = false
          else if (event.state !== 'queued') pending.delete(idOf(event.command_uuid))
          return []
        case 'result':
          answered = true
          results.push(event)
          used.push(...Object.values(loose(event.model_usage_since_last_result)).map(loose))
          return []
        case 'system': {
          if (event.subtype === 'background_tasks_changed')
            works = listOf(event.tasks).some(({ off_host }) => off_host !== true)
          if (event.subtype !== 'init') return []
          const { capabilities, session_id } = event
          tells = Array.isArray(capabilities) && capabilities.includes('msg_lifecycle_v1')
          const key = textOf(session_id)
          if (key === undefined || key === thread) return []
          thread = key
          return [{ type: 'thread', key }]
        }
        default:
          return []
      }
    },
    over: () => answered && (!tells || pending.size === 0),
    works: () => works,
    ...(asks
      ? {
          steer(text: string, id: string, pictures: readonly SentPicture[] = []) {
            pending.add(id)
            return message(text, id, pictures)
          },
          // Until Claude Code has named its thread, there is nothing to save.
          stop: () => (thread === undefined ? undefined : interrupt),
          next: () => claudeDialect(signs, known, { asks, plans }),
          change: claudeTerms,
          knock: {
            text: knock,
            isAnswer: (text: string) => loose(parseLine(text).response).request_id === 'knock',
          },
        }
      : {}),
    end(ended) {
      const last = results.at(-1)
      if (!last) {
        const failed = known(ended)
        return [{ type: 'end', outcome: failed ? { ok: false, failure: failed } : brokenOff('claude', ended) }]
      }
      const usage = used.length > 0 ? usageByModel(used) : usageOf(loose(last.usage))
      return [...(usage.input + usage.output > 0 ? [usage] : []), { type: 'end', outcome: outcome(ended) }]
    },
  }
}

/** Anthropic refuses larger pictures. */
const pictureLimits: PictureLimits = { bytes: 5 * 1024 * 1024, points: 8000 }

function message(text: string, uuid?: string, pictures: readonly SentPicture[] = []): string {
  const blocks = pictures.map(({ media, data }) => ({
    type: 'image',
    source: { type: 'base64', media_type: media, data },
  }))
  const content = blocks.length > 0 ? [{ type: 'text', text }, ...blocks] : text
  return written({ type: 'user', message: { role: 'user', content }, uuid })
}

/** Claude Code refuses at once a request that it does not know. */
const knock = written({ type: 'control_request', request_id: 'knock', request: { subtype: 'termaite_knock' } })

const interrupt = written({ type: 'control_request', request_id: 'stop', request: { subtype: 'interrupt' } })

/** Claude Code's names for its usage windows. */
const windowNames: Readonly<Record<string, string>> = { five_hour: '5-hour', seven_day: 'weekly' }

/** The files that an edit changed, from its result. */
function changesOf({ filePath, content, structuredPatch }: Loose): FileChange[] {
  const path = textOf(filePath)
  if (path === undefined || !Array.isArray(structuredPatch)) return []
  const hunks = listOf(structuredPatch).map(({ oldStart, newStart, lines }) => {
    const known = typeof oldStart === 'number' && typeof newStart === 'number'
    return `@@${known ? ` -${oldStart} +${newStart} @@` : ''}\n${Array.isArray(lines) ? lines.join('\n') : ''}\n`
  })
  if (hunks.length > 0) return [{ path, ...diffSides(hunks.join('')) }]
  return typeof content === 'string' ? [{ path, after: content, starts: wholeFile }] : []
}

/** The usage of every model in this run; the totals beside it count a resumed session from its start. */
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
