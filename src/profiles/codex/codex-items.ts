import type { FileChange, Usage } from '../../core/talk/entry.ts'
import type { Loose } from '../shared/jsonl.ts'
import type { Failure, FailureKind } from '../../core/talk/outcome.ts'
import type { Sign } from '../shared/failure-signs.ts'
import type { Step } from '../../core/profile/profile.ts'
import type { CountedThread } from '../shared/counted-thread.ts'
import { wholeFile } from '../../core/talk/question.ts'
import { defined } from '../../base/defined.ts'
import { shortPath } from '../../base/files/short-path.ts'
import { contentText, denial, innerMessage, listOf, loose, numberOf, rowOf, textOf } from '../shared/jsonl.ts'
import { diffSides } from '../../core/work/diff-sides.ts'
import { readMessage } from '../shared/failure-signs.ts'
import { usageSince } from '../shared/counted-thread.ts'

/** An item that is a tool call: its purpose, its result, and its text in a list of denials. */
type ToolItem = { tool: string; input: unknown; output: string; changes?: FileChange[]; denial: string }

/** The item with short file names, relative to the working folder. */
export function withShortPaths(item: Loose, cwd: string): Loose {
  if (!Array.isArray(item.changes)) return item
  const short = (path: unknown) => (typeof path === 'string' ? shortPath(path, cwd) : path)
  const changes = listOf(item.changes).map((change) => {
    const kind = loose(change.kind)
    return { ...change, path: short(change.path), kind: { ...kind, move_path: short(kind.move_path) } }
  })
  return { ...item, changes }
}

/** Reads an item that is a tool call; other items are text or bookkeeping. */
export function toolItemOf(item: Loose): ToolItem | undefined {
  switch (item.type) {
    case 'commandExecution': {
      const input = { command: commandOf(item.command) }
      return { tool: 'shell', input, output: textOf(item.aggregatedOutput) ?? '', denial: denial('shell', input) }
    }
    case 'fileChange': {
      const changes = changesOf(item)
      const paths = changes.map(({ path }) => path).join(', ')
      return {
        tool: 'file_change',
        input: changes.length === 1 ? { path: paths, diff: listOf(item.changes)[0]!.diff } : { changes: item.changes },
        output: listOf(item.changes)
          .map(({ kind, path }) => `${textOf(loose(kind).type)} ${textOf(path)}`)
          .join('\n'),
        changes,
        denial: denial('file_change', { path: paths }),
      }
    }
    case 'mcpToolCall': {
      const tool = `${textOf(item.server)}.${textOf(item.tool)}`
      const output = textOf(loose(item.error).message) ?? contentText(loose(item.result).content ?? '')
      return { tool, input: item.arguments, output, denial: denial(tool, item.arguments) }
    }
    case 'webSearch': {
      const input = { query: item.query }
      return { tool: 'web_search', input, output: '', denial: denial('web_search', input) }
    }
    default:
      return undefined
  }
}

/** The changed files of an item: a new or deleted file as a whole, any other as a diff. */
export function changesOf({ changes }: Loose): FileChange[] {
  return listOf(changes).map(({ path, kind, diff }) => {
    const text = textOf(diff) ?? ''
    const { type, move_path } = loose(kind)
    const at = textOf(move_path) ?? textOf(path) ?? ''
    if (type === 'add') return { path: at, after: text, starts: wholeFile }
    return type === 'delete'
      ? { path: at, before: text, after: '', starts: wholeFile }
      : { path: at, ...diffSides(text) }
  })
}

/** The command inside `bash -c '…'`, if its quotes can be removed safely: the model may name another shell. */
export function commandOf(command: unknown): string {
  const text = textOf(command) ?? ''
  return /^(?:(?:\/usr)?\/bin\/)?(?:bash|zsh|sh) -l?c '([^']*)'$/s.exec(text)?.[1] ?? text
}

/** The app-server's names for its errors, for messages that match no sign. */
const kinds: Readonly<Record<string, FailureKind>> = {
  usageLimitExceeded: 'quota',
  sessionBudgetExceeded: 'unfinished',
  contextWindowExceeded: 'overflow',
  rateLimitExceeded: 'busy',
  serverOverloaded: 'busy',
  internalServerError: 'busy',
  flexUnavailable: 'busy',
  unauthorized: 'auth',
}

/** The failure of a turn, found by its message, otherwise by its type, otherwise by its HTTP status. */
export function failureOf(signs: readonly Sign[], { message, codexErrorInfo }: Loose, now: number): Failure {
  const words = textOf(message) ?? 'it failed without a message'
  const kind = rowOf(kinds, codexErrorInfo) ?? kindOf(statusIn(loose(codexErrorInfo)))
  const failure = readMessage(signs, words, now) ?? { kind, message: words }
  return { ...failure, message: innerMessage(words).slice(0, 500) }
}

/** `{"httpConnectionFailed":{"httpStatusCode":401}}` */
function statusIn(info: Loose): number {
  return numberOf(loose(Object.values(info)[0]).httpStatusCode)
}

function kindOf(status: number): FailureKind {
  if (status === 401 || status === 403) return 'auth'
  return status === 429 || status >= 500 ? 'busy' : 'crash'
}

type Limit = Extract<Step, { type: 'limit' }>

/** The usage windows of an account; an account with credits, or a key that is paid by use, has no windows. */
export function limitsOf({ primary, secondary, credits }: Loose): Limit[] {
  const { hasCredits, unlimited } = loose(credits)
  if (hasCredits === true || unlimited === true) return []
  return [primary, secondary].flatMap((found): Limit[] => {
    const { usedPercent, windowDurationMins, resetsAt } = loose(found)
    if (typeof usedPercent !== 'number') return []
    const until = numberOf(resetsAt) * 1000
    const window = windowName(numberOf(windowDurationMins))
    return [defined<Limit>({ type: 'limit', used: usedPercent, until: until > 0 ? until : undefined, window })]
  })
}

/** The time at which the last of the spent windows begins again. */
export function spentUntil(limits: readonly Step[], now: number): number | undefined {
  const times = limits.flatMap((step) => (step.type === 'limit' && step.used >= 100 ? [step.until ?? 0] : []))
  const last = Math.max(0, ...times)
  return last > now ? last : undefined
}

function windowName(minutes: number): string | undefined {
  if (minutes <= 0) return undefined
  if (minutes === 7 * 24 * 60) return 'weekly'
  return minutes % (24 * 60) === 0 ? `${minutes / (24 * 60)}-day` : `${Math.round(minutes / 60)}-hour`
}

export const tokensOf = ({ inputTokens, cachedInputTokens, outputTokens }: Loose) => ({
  input: numberOf(inputTokens),
  cached: numberOf(cachedInputTokens),
  output: numberOf(outputTokens),
})

/** The usage of a turn: of its own thread since the thread was resumed, and of all threads that it started. */
export function usageOf(
  all: readonly CountedThread[],
  before: (total: CountedThread) => CountedThread | undefined,
): Usage {
  const none = { id: '', input: 0, cached: 0, output: 0 }
  return all
    .map((total) => usageSince(before(total) ?? none, total))
    .reduce(
      (sum, one) => ({
        ...sum,
        input: sum.input + one.input,
        output: sum.output + one.output,
        cached: (sum.cached ?? 0) + (one.cached ?? 0),
      }),
      usageSince(none, none),
    )
}
