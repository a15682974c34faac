import type { Event } from '../core/talk/entry.ts'
import type { Agent, Turn } from '../core/work/agent.ts'
import type { AppPlace, AppRecords } from '../turn/app.ts'
import type { TurnPeers } from './turn.ts'
import { Channel } from '../base/channel.ts'
import { messageOf } from '../base/error-message.ts'
import { newId } from '../base/id.ts'
import { start } from '../base/process/run.ts'
import { personTool } from '../core/talk/entry.ts'
import { oneLine } from '../base/text/table.ts'
import { BackgroundCommands } from '../native/tools/shell/background-commands.ts'
import { CommandOutput, FrontOutput, tooMuch } from '../native/tools/shell/command-output.ts'
import { exitText, listen } from '../native/tools/shell/shell-command.ts'
import { runOpened } from './turn.ts'

/** A command that a person typed after "!". `jobs`: where it continues when the person sends it to the background. */
type PersonCommand = { command: string; signal: AbortSignal; peers?: TurnPeers; jobs?: BackgroundCommands }

/**
 * The person's commands in the background. They run until they exit, or until the person leaves the desk; `ended` gets a message when one
 * exits.
 */
export function personJobs({ io, blobs, border }: AppRecords, ended: (words: string) => void): BackgroundCommands {
  return new BackgroundCommands(
    { env: io.env, clock: io.clock, blobs, mask: border.toward('work') },
    ({ command, log, end = '' }) =>
      ended(
        `Your command in the background has ended: ${oneLine(command, 60)} ${oneLine(end, 100)}. All its output is in ${log}`,
      ),
  )
}

/**
 * Runs a command of the person in their own shell and project folder, with their own rights and environment. It is a turn of the
 * conversation, taken by the person instead of an agent: it is stored before it runs, its output is stored as the result of a call, and
 * the agents of later turns see both, as with any other turn. There is no snapshot, because only the person acted.
 */
export function runPersonCommand(
  app: AppRecords,
  { command, signal, peers, jobs }: PersonCommand,
): AsyncGenerator<Event> {
  const { place, leash } = app
  const request = { prompt: `!${command}`, ...(peers ? { peers } : {}) }
  return runOpened(app, request, async () => ({
    agent: personShell(app, command, jobs),
    world: { cwd: place.cwd, leash, signal },
  }))
}

function personShell(app: AppRecords, command: string, jobs: BackgroundCommands | undefined): Agent {
  return {
    name: 'user',
    traits: { window: Infinity, memory: 'none', talks: false, steers: false },
    turn: (turn) => shellEvents(app, command, turn, jobs),
    async close() {},
  }
}

async function* shellEvents(
  app: AppRecords,
  command: string,
  { signal, clock }: Turn,
  jobs: BackgroundCommands | undefined,
): AsyncGenerator<Event> {
  const call = newId(clock.now())
  yield { type: 'call', call, tool: personTool, input: { command } }
  const output = new CommandOutput({ blobs: app.blobs, mask: app.border.toward('work') })
  const shown = new Channel<string>(256)
  const work = ran(app, command, output, signal, (text) => shown.push(text), jobs).finally(() => shown.close())
  for await (const delta of shown) yield { type: 'progress', call, delta }
  const { ok, exit, note, said = (await output.done()).trimEnd() } = await work
  const text = [said, note].filter((part) => part !== '').join('\n')
  yield { type: 'result', call, ok, text, ...(exit === undefined ? {} : { data: { exit } }) }
  yield { type: 'end', outcome: { ok: true, text: '' } }
}

/** `said`: the output of the command, if it was already read. */
type Ran = { ok: boolean; exit?: number | string; note: string; said?: string }

/** Runs the command until it exits or is cancelled; never rejects. */
async function ran(
  { io, place }: AppPlace,
  command: string,
  output: CommandOutput,
  signal: AbortSignal,
  show: (text: string) => Promise<void>,
  jobs: BackgroundCommands | undefined,
): Promise<Ran> {
  const shell = io.env.SHELL || '/bin/sh'
  // Both outputs share one pipe, so that they stay in order. The command has its own session, without a terminal.
  const argv = ['/bin/sh', '-c', 'exec "$@" 2>&1', 'sh', shell, '-c', command] as const
  try {
    const run = await start({ argv, cwd: place.cwd, env: io.env, clock: io.clock })
    run.stdin.end()
    let why = ''
    const end = (reason: string) => {
      why ||= reason
      // The code below waits until the run has stopped.
      void run.end()
    }
    const cancel = () => end('[cancelled]')
    signal.addEventListener('abort', cancel, { once: true })
    if (signal.aborted) cancel()
    const fresh: string[] = []
    const collect = output.collector({ progress: (text) => fresh.push(text) }, () => end(tooMuch))
    const front = new FrontOutput(async (chunk) => {
      await collect(chunk)
      // A screen that cannot keep up slows the command down, so that its output does not pile up here.
      for (const text of fresh.splice(0)) await show(text)
    })
    const leave = jobs?.inFront(() => why === '' && front.move())
    const listening = listen(run, (chunk) => front.take(chunk))
    const exit = await Promise.race([listening, front.moved])
    leave?.()
    signal.removeEventListener('abort', cancel)
    if (exit === 'moved') {
      const said = (await output.done()).trimEnd()
      const started = { command, run, settle: async () => [], printed: said === '' ? '' : `${said}\n`, exit: listening }
      const { job, log, take } = await jobs!.adopt(started)
      front.goOn(take)
      return { ok: true, said, note: `[went on in the background as job ${job}; its output goes to ${log}]` }
    }
    if (why !== '') return { ok: false, note: why }
    return {
      ok: true,
      exit: exit.code ?? exit.signal ?? 1,
      note: [exitText(exit), terminalHint(exit.code, output.tail)].filter(Boolean).join('\n'),
    }
  } catch (error) {
    return { ok: false, note: `[${shell} could not be started: ${messageOf(error)}]` }
  }
}

/** Messages of programs that need a terminal and have none. */
const wantsTerminal =
  /not a (?:tty|terminal)|a terminal is required|no tty present|\/dev\/tty|not from a terminal|TERM environment variable not set/i

function terminalHint(code: number | undefined, tail: string): string {
  if (code === 0 || !wantsTerminal.test(tail)) return ''
  return '[this program needs a terminal: press Ctrl+Z, run it in your shell, and come back with fg]'
}
