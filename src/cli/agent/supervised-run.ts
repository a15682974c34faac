import type { SupervisedState } from '../../supervise/supervision.ts'
import type { SupervisionEnd, SupervisionEvent } from '../../supervise/supervision.ts'
import type { SupervisedSessionState } from '../../crew/machine/supervised-session.ts'
import type { Io } from '../../core/io.ts'
import type { TerminalHost } from '../../core/screen/terminal.ts'
import type { TaskWorkspace } from '../../hub/model/tasks/task-source.ts'
import type { ReadyAgent } from '../../supervise/agent/preflight.ts'
import type { TaskOptions } from '../../supervise/agent/supervised-agent.ts'
import { screenFactsOf } from '../../agents/screen/screen-spec.ts'
import { projectRoot } from '../../base/files/git.ts'
import { messageOf } from '../../base/error-message.ts'
import { taskIdOf } from '../../hub/engine/rules/task-rules.ts'
import { shortId } from '../../hub/client/hub-client.ts'
import { noBudget } from '../../core/work/budget.ts'
import { superviseCli } from '../../supervise/supervisor.ts'
import { borderOf } from '../../border/border.ts'
import { completeCard } from '../../border/cards.ts'
import { terminalsOf } from '../../crew/machine/crew-terminals.ts'
import { say, UsageError } from '../../core/io.ts'
import { attend } from './supervised-screen.ts'
import {
  supervisedConversation,
  cliOpener,
  supervisedSpec,
  openHubWork,
} from '../../supervise/agent/supervised-agent.ts'
import { CurrentTerminal } from '../../supervise/agent/current-terminal.ts'
import { logsIn } from '../../crew/machine/supervised-session.ts'
import { TokenMeter } from '../../supervise/token-meter.ts'
import { TerminalLog } from '../../store/terminal-log.ts'
import { SupervisionMessages } from './supervision-messages.ts'
import { fillWorkflow } from '../../supervise/agent/workflow.ts'
import { exit } from '../../core/exit-codes.ts'

/** How many of the last rows of the screen are saved with the session. */
const lastRows = 40

/** Supervises the agent until it stops. Returns the exit code. */
export async function keepAtWork(io: Io, ready: ReadyAgent, options: TaskOptions): Promise<number> {
  const { settings, agent, session } = ready
  const { host: kind } = session.state
  const records = openRecords(io, ready)
  const { mask, meter, scribe, messages } = records
  session.warn = (words) => messages.warn(words)
  const terminals = terminalsOf(
    io,
    { ...settings, terminals: { ...settings.terminals, host: kind } },
    { lends: true, warn: (words) => messages.warn(words) },
  )
  const seen = new CurrentTerminal((opened) => {
    scribe.follow(opened).catch(() => {})
    if (kind === 'tmux' && opened.attach) say(io, `${agent.name} runs in tmux; see it with: ${opened.attach}`)
  })
  const save = async () => {
    const rows = (await seen.now?.screen().catch(() => undefined))?.rows ?? []
    const last = rows.filter((row) => row.trim() !== '').slice(-lastRows)
    session.keep(last.length === 0 ? {} : { lastOutput: mask(last.join('\n')) })
  }
  const attended = io.in.isTTY === true && io.out.isTTY === true
  const leave = new AbortController()
  const dropped = io.in.isTTY ? io.hangup?.() : undefined
  const over = new AbortController()
  try {
    const bare = await openHost(terminals.host, agent.name)
    // A CLI whose folder was removed would continue in the removed folder and lose its work.
    if (options.isRemade) await (await (await bare()).find(session.state.terminal))?.close()
    const host = seen.watch(bare)
    const signal = AbortSignal.any([io.signal, leave.signal, ...(dropped ? [dropped] : [])])
    const { working } = await beginWork(io, ready, options, { records, host, save, signal, over })
    const showing = (so: boolean) => {
      messages.showing = so
    }
    const wish = attended
      ? await attend(io, { seen, shows: kind === 'pty', over: over.signal, save, showing })
      : undefined
    if (wish) leave.abort()
    const end = await working
    await save()
    session.keep({ owner: '' })
    return reportEnd(io, ready, {
      end,
      meter,
      stays: await removeWorktreeIfFree(options.workspace, ready, await bare()),
      interrupted: wish === 'interrupted',
    })
  } finally {
    messages.close()
    await terminals.close()
  }
}

/** The destinations of the agent's output, its tokens and the messages about it. */
type Records = ReturnType<typeof openRecords>

function openRecords(io: Io, ready: ReadyAgent) {
  const { place, agent, session, hub } = ready
  const border = borderOf(io.env, place.home)
  if (hub.place.key !== undefined) border.learn('hub', hub.place.key)
  const mask = border.toward('log')
  const meter = new TokenMeter(session.state.tokens)
  const scribe = new TerminalLog(logsIn(place.root), agent.name, {
    clock: io.clock,
    mask,
    seen: (line) => meter.see(line),
  })
  const messages = new SupervisionMessages(io, ready, { scribe, mask: border.toward('notice') })
  return { border, mask, meter, scribe, messages }
}

type WorkParts = {
  records: Records
  host(): Promise<TerminalHost>
  /** Saves the last rows of the screen with the session. */
  save(): Promise<void>
  signal: AbortSignal
  /** Aborted when the supervision is over. */
  over: AbortController
}

/** Begins the supervision and its reports to the hub; `working` resolves when it ends. */
async function beginWork(
  io: Io,
  ready: ReadyAgent,
  options: TaskOptions,
  { records: { border, meter, messages }, host, save, signal, over }: WorkParts,
): Promise<{ working: Promise<SupervisionEnd> }> {
  const { place, agent, session, workflow, leash } = ready
  const { host: kind, hubId, cwd, cliSession, flight, terminal } = session.state
  const warn = (words: string) => messages.warn(words)
  const lives = kind === 'tmux' && (await (await host()).find(terminal)) !== undefined
  const spec = supervisedSpec(io, ready)
  const conversation = await supervisedConversation(io, ready)
  let ticket: string | undefined
  const hubWork = { ...options, warn, ticket: () => ticket }
  const { taskSource, ask, status } = openHubWork(io, ready, hubWork)
  const working = superviseCli({
    open: cliOpener(io, ready, spec, host, lives),
    facts: screenFactsOf(spec),
    taskSource,
    workflow: fillWorkflow(workflow.text, { agent: agent.name, id: hubId, workspace: place.root }),
    ...(conversation ? { conversation } : {}),
    cwd,
    leash,
    ask: async (question, withdrawn) =>
      ask(await completeCard(io, projectRoot(cwd), cwd, question).catch(() => question), withdrawn),
    budget: noBudget,
    silenceMs: spec.silenceMs,
    clock: io.clock,
    signal,
    outlives: kind === 'tmux',
    kept: { spent: session.spent, ...(cliSession ? { session: cliSession } : {}), ...(flight ? { flight } : {}) },
    keep: async (kept: SupervisedState) =>
      session.keep({ cliSession: kept.session, flight: kept.flight, ...kept.spent }),
    tell(told: SupervisionEvent) {
      if (told.type === 'working') ticket = told.ticket
      messages.tell(told)
      status.see(told)
      if (told.type === 'asking') warn(`answer it with: ${answerCommand(hubId, ticket)}`)
      save().catch((error) => warn(messageOf(error)))
    },
    used(usage) {
      meter.spend(usage)
      status.used(usage)
    },
    mask: border.toward('vendor'),
  }).finally(() => over.abort())
  // This is not awaited, because the reports stop with the supervision.
  void status.keep(over.signal)
  return { working }
}

/** The command that answers a dialog of the agent from any shell. */
function answerCommand(hubId: string, ticket: string | undefined): string {
  const id = ticket === undefined ? hubId : shortId(taskIdOf(ticket))
  return `termaite task answer ${id} <number>`
}

/** Opens the terminal host. The error names the system's reason and the usual remedy. */
async function openHost<H>(host: () => Promise<H>, name: string): Promise<() => Promise<H>> {
  try {
    const found = await host()
    return async () => found
  } catch (error) {
    const system = `${process.platform} ${process.arch}, node ${process.version}`
    throw new UsageError(
      `no terminal could be opened for ${name}: ${messageOf(error)} (${system}). Check that you may open /dev/ptmx, or use --tmux.`,
      1,
    )
  }
}

/** Removes the worktree, unless it contains unsaved work of a task, or its CLI continues in a terminal that outlives this process. */
async function removeWorktreeIfFree(
  workspace: TaskWorkspace,
  { session, agent }: ReadyAgent,
  host: TerminalHost,
): Promise<string | undefined> {
  const { flight, worktree, terminal } = session.state
  if (flight) return undefined
  if (host.outlives && (await host.find(terminal)))
    return worktree && `its worktree ${worktree.path} is kept: ${agent.name} still runs in it`
  return workspace.clear().catch((error) => messageOf(error))
}

/** The command that continues this session with its original options. */
function resumeCommand(
  agent: string,
  workflow: string,
  { host, here }: SupervisedSessionState,
  clones: boolean,
): string {
  const flags = [
    `--start=${agent}`,
    `--as=${workflow}`,
    ...(host === 'tmux' ? ['--tmux'] : []),
    ...(here ? ['--here'] : []),
    ...(clones ? ['--clone'] : []),
  ]
  return `termaite agent ${flags.join(' ')} --resume`
}

type End = { end: SupervisionEnd; meter: TokenMeter; stays: string | undefined; interrupted: boolean }

function reportEnd(
  io: Io,
  { session, agent, workflow, clones }: ReadyAgent,
  { end, meter, stays, interrupted }: End,
): number {
  if (stays !== undefined) say(io, stays)
  const tokens = meter.words()
  if (tokens !== undefined) say(io, tokens)
  if (end.type !== 'evicted')
    say(io, `Resume with: ${resumeCommand(agent.name, workflow.name, session.state, clones !== undefined)}`)
  if (interrupted) return exit.interrupted
  return end.type === 'gave-up' ? 1 : 0
}
