import type { Dialect, Ended, Step } from '../../core/profile/profile.ts'
import type { Failure, Outcome } from '../../core/talk/outcome.ts'
import type { Loose } from '../shared/jsonl.ts'
import type { Sign } from '../shared/failure-signs.ts'
import { defined } from '../../base/defined.ts'
import {
  brokenOff,
  contentText,
  denial,
  innerMessage,
  listOf,
  loose,
  numberOf,
  parseLine,
  textOf,
} from '../shared/jsonl.ts'
import { readMessage } from '../shared/failure-signs.ts'
import { threadKey, usageSince, type CountedThread } from '../shared/counted-thread.ts'

/** `codex exec --json`; `thread` is the thread to resume, with its earlier token count. */
export function codexExecDialect(
  signs: readonly Sign[],
  known: (ended: Ended) => Failure | undefined,
  thread: CountedThread = { id: '', input: 0, cached: 0, output: 0 },
): Dialect {
  const begun = new Set<string>()
  const said: string[] = []
  const denied: string[] = []
  let id = thread.id
  let total: CountedThread | undefined
  let trouble: string | undefined
  let failed = false

  function item(item: Loose, over: boolean): Step[] {
    const text = textOf(item.text) ?? ''
    if (item.type === 'agent_message') {
      if (!over) return []
      said.push(text)
      return [{ type: 'text', delta: `${text}\n` }]
    }
    if (item.type === 'reasoning') return over ? [{ type: 'thought', delta: `${text}\n` }] : []
    const work = workOf(item)
    if (!work) return []
    // Items are numbered from 0 in each turn of a thread.
    const call = `${id}/${textOf(item.id) ?? ''}`
    const steps: Step[] = begun.has(call) ? [] : [{ type: 'call', call, tool: work.tool, input: work.input }]
    begun.add(call)
    if (!over) return steps
    if (item.status === 'declined') denied.push(denial(work.tool, work.input))
    const ok = item.status === undefined || item.status === 'completed'
    return [...steps, { type: 'result', call, ok, text: work.output }]
  }

  function outcome(ended: Ended): Outcome {
    if (!total || failed) {
      const failure = trouble === undefined ? known(ended) : failureOf(trouble, ended)
      return failure ? { ok: false, failure } : brokenOff('codex', ended)
    }
    const denials = [...new Set([...denied, ...rejections(ended.err)])]
    const text = said.join('\n\n').trim()
    return defined<Outcome>({ ok: true, text, denials: denials.length > 0 ? denials : undefined })
  }

  function failureOf(message: string, { now }: Ended): Failure {
    const failure = readMessage(signs, message, now) ?? { kind: 'crash' as const, message }
    return { ...failure, message: innerMessage(message).slice(0, 500) }
  }

  return {
    open: (prompt) => prompt,
    line(line) {
      const event = parseLine(line)
      switch (event.type) {
        case 'thread.started':
          id = textOf(event.thread_id) ?? id
          return [{ type: 'thread', key: threadKey({ ...thread, id }) }]
        case 'item.started':
        case 'item.completed':
          return item(loose(event.item), event.type === 'item.completed')
        case 'turn.completed':
          total = { id, ...tokensOf(loose(event.usage)) }
          return []
        case 'turn.failed':
          failed = true
          trouble = textOf(loose(event.error).message) ?? trouble
          return []
        case 'error':
          trouble = textOf(event.message) ?? trouble
          return []
        default:
          return []
      }
    },
    over: () => total !== undefined,
    end(ended) {
      const usage = total && usageSince(thread, total)
      return [
        ...(total && id !== '' ? [{ type: 'thread' as const, key: threadKey(total) }] : []),
        ...(usage && usage.input + usage.output > 0 ? [usage] : []),
        { type: 'end', outcome: outcome(ended) },
      ]
    },
  }
}

/** Reads an item that is a tool call; other items are text or bookkeeping. */
function workOf(item: Loose): { tool: string; input: unknown; output: string } | undefined {
  switch (item.type) {
    case 'command_execution':
      return { tool: 'shell', input: { command: item.command }, output: contentText(item.aggregated_output ?? '') }
    case 'file_change': {
      const changes = listOf(item.changes)
      const output = changes.map(({ kind, path }) => `${textOf(kind)} ${textOf(path)}`).join('\n')
      return { tool: 'file_change', input: { changes: item.changes }, output }
    }
    case 'mcp_tool_call': {
      const output = textOf(loose(item.error).message) ?? contentText(loose(item.result).content ?? '')
      return { tool: `${textOf(item.server)}.${textOf(item.tool)}`, input: item.arguments, output }
    }
    case 'web_search':
      return { tool: 'web_search', input: { query: item.query }, output: '' }
    default:
      return undefined
  }
}

// "… ERROR codex_core::tools::router: error=patch rejected: writing is blocked by read-only sandbox; rejected by user approval settings"
const rejection = /codex_core::tools::router: error=(.*(?:rejected|reject command|approval policy).*)$/

/** The refusals, which Codex prints only to stderr. */
export function rejections(err: string): string[] {
  return err.split('\n').flatMap((line) => rejection.exec(line)?.[1] ?? [])
}

function tokensOf(usage: Loose): Omit<CountedThread, 'id'> {
  const { input_tokens, cached_input_tokens, output_tokens } = usage
  return { input: numberOf(input_tokens), cached: numberOf(cached_input_tokens), output: numberOf(output_tokens) }
}
