import type { Env } from '../../base/env.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Tool } from '../../core/work/tool.ts'
import type { Hook, HookEvent, HookSettings } from './hook-config.ts'
import { callAfter } from '../../base/time/clock.ts'
import { start } from '../../base/process/run.ts'
import { messageOf } from '../../base/error-message.ts'
import { defined } from '../../base/defined.ts'
import { matchedField } from './hook-config.ts'

export type HookParts = {
  settings: HookSettings
  cwd: string
  /** The project's folder, if it differs from `cwd`. */
  root?: string
  env: Env
  clock: Clock
  signal: AbortSignal
  /** The tool of a tool event. */
  tool?: NamedTool
  /** Puts a hook's program behind a wall; `settle` is called after the program's end. */
  enclose?(hook: Hook, argv: HookArgv, env: HookParts['env']): Promise<EnclosedHook>
  /** Records a hook before it runs; the returned function is called after it. */
  record?(hook: Hook): Promise<(ok: boolean) => void>
}

type HookArgv = readonly [string, ...string[]]
type EnclosedHook = {
  argv: HookArgv
  env: HookParts['env']
  /** Advice on how to let the hook run outside its wall, if it has one. */
  hint?: string
  settle(): Promise<unknown>
}

type NamedTool = Pick<Tool, 'name' | 'aliases'>

/** The combined answers of all hooks of an event. */
export type HookOutcome = {
  /** Why the call, prompt or end is blocked. */
  blocked?: string
  /** The strictest decision about a tool call. */
  decision?: { permission: 'allow' | 'deny' | 'ask'; reason: string }
  /** A new input for the tool. */
  input?: unknown
  /** Additional texts for the model. */
  context: string[]
  /** Why the turn must end. */
  stop?: string
  /** Messages for the person. */
  messages: string[]
  warnings: string[]
}

const usualSeconds = 60
/** The limit for hooks at the end of a session, because the person waits for them. */
const usualAtEnd = 5
const mostOutput = 1024 * 1024

/** Runs the hooks of an event in parallel, each in its own session. A hook that fails causes a warning, never an error. */
export async function runHooks(
  event: HookEvent,
  input: Record<string, unknown>,
  world: HookParts,
): Promise<HookOutcome> {
  const key = matchedField(event)
  const names = world.tool ? hookNames(world.tool) : [String(input[key ?? ''] ?? '')]
  const groups = (world.settings[event] ?? []).filter(({ matcher }) => key === undefined || isMatch(matcher, names))
  const hooks = new Map<string, Hook>()
  // The person's own hooks come first: a project with the same command does not change how it runs.
  for (const hook of groups.flatMap((group) => group.hooks)) if (!hooks.has(hook.command)) hooks.set(hook.command, hook)
  const told = {
    ...input,
    tool_name: world.tool ? names[0] : undefined,
    hook_event_name: event,
    cwd: world.cwd,
  }
  const plainIsContext = event === 'UserPromptSubmit' || event === 'SessionStart'
  const answers = await Promise.all(
    [...hooks.values()].map(async (hook) => {
      const timeout = hook.timeout ?? (event === 'SessionEnd' ? usualAtEnd : usualSeconds)
      const ran = await runHook({ ...hook, timeout }, JSON.stringify(told), world)
      const answer = refusedAnswer(ran, event) ?? answerOf(ran, plainIsContext)
      return hook.project ? withoutConsent(answer) : answer
    }),
  )
  return joinAnswers(answers)
}

/** A tool's names for hooks and subagents. Hooks get the first one, because their scripts expect Claude Code's names. */
export const hookNames = ({ name, aliases }: NamedTool): readonly string[] => [...(aliases?.hooks ?? []), name]

/** Whether a matcher matches one of the names: no matcher and `*` match all, any other is a pattern for a whole name. */
function isMatch(matcher: string | undefined, names: readonly string[]): boolean {
  if (matcher === undefined || matcher === '' || matcher === '*') return true
  const pattern = new RegExp(`^(?:${matcher})$`)
  return names.some((name) => pattern.test(name))
}

type TimedHook = Hook & { timeout: number }

async function runHook(hook: TimedHook, input: string, world: HookParts): Promise<HookResult> {
  const { command, timeout } = hook
  const { cwd, root = cwd, clock, signal } = world
  const nothing = { command, out: '', err: '' }
  if (signal.aborted) return { ...nothing, trouble: 'was cancelled' }
  const env = { ...world.env, TERMAITE_PROJECT_DIR: root, CLAUDE_PROJECT_DIR: root }
  const plain: EnclosedHook = { argv: ['/bin/sh', '-c', command], env, settle: async () => [] }
  let run
  let how = plain
  let ran: ((ok: boolean) => void) | undefined
  try {
    how = (await world.enclose?.(hook, plain.argv, env)) ?? plain
    ran = await world.record?.(hook)
    run = await start({ argv: how.argv, cwd, env: how.env, clock })
  } catch (error) {
    ran?.(false)
    await how.settle()
    return { ...nothing, trouble: `could not start: ${messageOf(error)}` }
  }
  let trouble: string | undefined
  const end = (why: string) => {
    trouble ??= why
    // The end of the run is awaited below.
    void run.end()
  }
  const cancel = () => end('was cancelled')
  const over = new AbortController()
  signal.addEventListener('abort', cancel, { once: true })
  // The turn may have been cancelled while the wall was built or the hook was started. The abort event is over by then, so the signal is
  // checked here.
  if (signal.aborted) cancel()
  callAfter(clock, timeout * 1000, over.signal, () => end(`took longer than ${timeout} s and was stopped`))
  run.stdin.end(input)
  const [out, err, exit] = await Promise.all([readOutput(run.stdout), readOutput(run.stderr), run.exited])
  over.abort()
  signal.removeEventListener('abort', cancel)
  // Code 2 is an answer: the hook did its work and forbids the call.
  ran?.(trouble === undefined && (exit.code === 0 || exit.code === 2))
  await how.settle()
  return defined({ command, out, err, code: exit.code, trouble, hint: how.hint })
}

/** Reads an output up to a limit and drops the rest, so that the hook is not blocked. */
async function readOutput(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of stream) {
    if (size < mostOutput) chunks.push(chunk)
    size += chunk.length
  }
  return Buffer.concat(chunks).subarray(0, mostOutput).toString('utf8')
}

/** Combines answers: deny comes before ask, ask before allow; of several reasons, inputs and stops the first one counts. */
function joinAnswers(answers: readonly HookAnswer[]): HookOutcome {
  const all = <K extends keyof HookAnswer>(key: K) =>
    answers.flatMap((answer) => (answer[key] === undefined ? [] : [answer[key]]))
  const decision = ['deny', 'ask', 'allow']
    .map((wanted) => all('decision').find(({ permission }) => permission === wanted))
    .find((one) => one)
  const [blocked] = all('blocked')
  const [input] = all('input')
  const [stop] = all('stop')
  return defined({
    blocked,
    decision,
    input,
    context: all('context'),
    stop,
    messages: all('message'),
    warnings: all('warning'),
  })
}

/** The output of one hook, and how it ended; `hint` says how to let it run outside its wall. */
type HookResult = { command: string; code?: number; out: string; err: string; trouble?: string; hint?: string }

/** Error messages of programs that a wall may have caused. */
const refused = /read-only file system|permission denied|operation not permitted|\bE(?:ROFS|ACCES|PERM)\b/i

/**
 * A hook that fails behind its wall might have forbidden the call, so the call does not run. A hook that fails without a wall only causes
 * a warning.
 */
function refusedAnswer({ command, code, err, hint }: HookResult, event: HookEvent): HookAnswer | undefined {
  // A shell that cannot open a file exits with 2, as does a hook that forbids a call and gives a reason.
  const signs = code === 2 ? /read-only file system/i : refused
  if (hint === undefined || code === 0 || !signs.test(err)) return undefined
  const words = `the hook ${brief(command)} could not do its work in the sandbox (${err.trim().split('\n').at(-1)}). ${hint}`
  return event === 'PreToolUse' || event === 'UserPromptSubmit' ? { blocked: words } : { warning: words }
}

/** The answer of one hook. */
type HookAnswer = {
  blocked?: string
  decision?: { permission: 'allow' | 'deny' | 'ask'; reason: string }
  input?: unknown
  context?: string
  stop?: string
  message?: string
  warning?: string
}

/**
 * A hook of the project can forbid a call or have the person asked, but never gives a yes in their place: the agent may change the files
 * that the hook runs.
 */
function withoutConsent(answer: HookAnswer): HookAnswer {
  if (answer.decision?.permission !== 'allow') return answer
  const { decision: _consent, ...others } = answer
  return others
}

/**
 * Interprets the result of a hook: exit code 2 blocks with stderr as the reason, 0 may decide by JSON on stdout, any other is a warning.
 */
function answerOf(ran: HookResult, plainIsContext: boolean): HookAnswer {
  if (ran.trouble !== undefined) return { warning: `the hook ${brief(ran.command)} ${ran.trouble}` }
  const words = ran.err.trim()
  if (ran.code === 2) return { blocked: words || `the hook ${brief(ran.command)} blocks it` }
  if (ran.code !== 0)
    return {
      warning: `the hook ${brief(ran.command)} ended with ${ran.code ?? 'a signal'}${words ? `: ${words}` : ''}`,
    }
  const text = ran.out.trim()
  const said = objectIn(text)
  if (!said) return plainIsContext && text !== '' ? { context: text } : {}
  return answerFromJson(said)
}

function answerFromJson(said: Record<string, unknown>): HookAnswer {
  const own =
    typeof said.hookSpecificOutput === 'object' && said.hookSpecificOutput !== null
      ? (said.hookSpecificOutput as Record<string, unknown>)
      : {}
  const reason = text(own.permissionDecisionReason) ?? text(said.reason) ?? 'a hook decided so and gave no reason'
  const permission = own.permissionDecision
  const answer: HookAnswer = {}
  if (permission === 'allow' || permission === 'deny' || permission === 'ask') answer.decision = { permission, reason }
  else if (said.decision === 'approve') answer.decision = { permission: 'allow', reason }
  if (said.decision === 'block') answer.blocked = reason
  if (own.updatedInput !== undefined) answer.input = own.updatedInput
  const context = text(own.additionalContext)
  if (context !== undefined) answer.context = context
  if (said.continue === false) answer.stop = text(said.stopReason) ?? 'a hook decided so and gave no reason'
  const message = text(said.systemMessage)
  if (message !== undefined) answer.message = message
  return answer
}

function objectIn(out: string): Record<string, unknown> | undefined {
  if (!out.startsWith('{')) return undefined
  try {
    const value: unknown = JSON.parse(out)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined)
const brief = (command: string) => JSON.stringify(command.length > 80 ? `${command.slice(0, 80)}…` : command)
