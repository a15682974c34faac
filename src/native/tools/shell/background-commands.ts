import type { Exit, Run } from '../../../base/process/run.ts'
import type { ToolCall } from '../../../core/work/tool.ts'
import type { ShellParts, ShellRun } from './shell-command.ts'
import { appendFile, mkdir, open, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { exitText, listen, settledText, startShell } from './shell-command.ts'
import { AnsiStripper } from '../../../base/text/ansi.ts'
import { randomName } from '../../../base/id.ts'
import { realOrSame } from '../../../base/files/real-path.ts'

/** A command that keeps running after its call has returned, or has exited since. */
type BackgroundCommand = {
  job: number
  command: string
  run: Run
  log: string
  started: number
  over: Promise<void>
  /** How the command ended; undefined while it runs. */
  end?: string
  /** How many bytes of the log the model has seen. */
  shown: number
  /** Whether the model knows that the command has exited. */
  isTold: boolean
}

type EndedCommand = Pick<BackgroundCommand, 'job' | 'command' | 'log' | 'end'>

type Added = Pick<BackgroundCommand, 'command' | 'run' | 'log'> & { over(background: BackgroundCommand): Promise<void> }

/** A new command is watched for this long, to report an immediate failure. */
const firstLookMs = 300

/** A command whose log grows beyond this is stopped before it fills the disk. */
const longestLog = 256 * 1024 * 1024

/** The most bytes of a log that are shown at once: its end, because errors come last. */
const longestLook = 16 * 1024

/** How much of the end of a log is part of the news that a command ended. */
const lastWords = 2000

/** A server behind the wall has its own network, which lasts for the turn. */
const behindWall =
  'A server in the sandbox lasts for this turn: your commands reach it at 127.0.0.1, the user does not.'

/** A command that a call waits for. `move` sends it to the background, and the call returns; false if it has just exited. */
export type CommandInFront = { since: number; move(): boolean }

/** A command that was started in the foreground, with its output so far and the promise of its end. */
type StartedInFront = Omit<ShellRun, 'walled'> & { command: string; printed: string; exit: Promise<Exit> }

/** The background commands of one agent or of the person, which end with their owner. */
export class BackgroundCommands {
  #parts: ShellParts
  /** The folder of the logs, created with the first command; only its owner can open it. */
  readonly folder: string
  /** All commands by their number. The pid of an exited command means nothing, because the system may give it to another process. */
  #all: BackgroundCommand[] = []
  #front = new Set<CommandInFront>()
  #logs = 0
  #ended: ((command: EndedCommand) => void) | undefined

  /** `ended` is called when a command has exited. */
  constructor(parts: ShellParts, ended?: (command: EndedCommand) => void) {
    this.#parts = parts
    this.#ended = ended
    // The folder for temporary files is often a link, and the policy judges real paths.
    this.folder = join(realOrSame(parts.env.TMPDIR || tmpdir()), `termaite-background-${randomName()}`)
  }

  async start(command: string, call: ToolCall): Promise<string> {
    const { clock } = this.#parts
    const log = await this.#newLog()
    const { run, walled, settle } = await startShell(command, call, this.#parts)
    const writer = this.#writer(log, run)
    const exit = listen(run, (chunk) => writer.write(chunk))
    const background = this.#add({ command, run, log, over: (job) => writer.finish(exit, settle, job) })
    const looked = new AbortController()
    await Promise.race([background.over, clock.sleep(firstLookMs, looked.signal)])
    looked.abort()
    const { job } = background
    if (background.end !== undefined) return `Job ${job} has already exited.\n${await this.#look(background)}`
    return `Job ${job} runs in the background with pid ${run.pid}; its output goes to ${log}. Use jobs to read it or to end it.${walled ? ` ${behindWall}` : ''}`
  }

  /** Registers a command that a call waits for, until the returned function is called. */
  inFront(move: () => boolean): () => void {
    const one = { since: this.#parts.clock.elapsed(), move }
    this.#front.add(one)
    return () => this.#front.delete(one)
  }

  /** The newest command that a call waits for. */
  get front(): CommandInFront | undefined {
    return [...this.#front].at(-1)
  }

  /** Continues a command that was started in the foreground; `take` must get the chunks that the command prints from now on. */
  async adopt({ command, run, settle, printed, exit }: StartedInFront): Promise<{
    job: number
    log: string
    take(chunk: Uint8Array): Promise<void>
  }> {
    const log = await this.#newLog()
    await writeFile(log, printed)
    const writer = this.#writer(log, run)
    const background = this.#add({ command, run, log, over: (job) => writer.finish(exit, settle, job) })
    // The returning call shows the output so far.
    background.shown = Buffer.byteLength(printed)
    return { job: background.job, log, take: (chunk) => writer.write(chunk) }
  }

  async #newLog(): Promise<string> {
    // The folder is not made recursively, so that a folder placed there by somebody else is refused.
    if (this.#logs === 0) await mkdir(this.folder, 0o700)
    const log = join(this.folder, `${++this.#logs}.log`)
    await writeFile(log, '')
    return log
  }

  #add({ command, run, log, over }: Added): BackgroundCommand {
    const job = this.#all.length + 1
    const background: BackgroundCommand = {
      job,
      command,
      run,
      log,
      started: this.#parts.clock.elapsed(),
      over: Promise.resolve(),
      shown: 0,
      isTold: false,
    }
    this.#all.push(background)
    background.over = over(background)
    return background
  }

  /** Whether any of the background commands still runs. */
  get running(): boolean {
    return this.runningCommands.length > 0
  }

  get any(): boolean {
    return this.#all.length > 0
  }

  /** The command lines that still run. */
  get runningCommands(): string[] {
    return this.#all.flatMap(({ end, command }) => (end === undefined ? [command] : []))
  }

  /** One line for each command. */
  list(): string {
    return this.listed.map(({ line }) => line).join('\n')
  }

  /** Each command on one line, and whether it still runs. */
  get listed(): { job: number; line: string; runs: boolean }[] {
    const { clock } = this.#parts
    const state = ({ end, run, started }: BackgroundCommand) =>
      end === undefined
        ? `runs for ${Math.round((clock.elapsed() - started) / 1000)} s, pid ${run.pid}`
        : `ended: ${end.replaceAll('\n', ' ')}`
    return this.#all.map((one) => ({
      job: one.job,
      line: `${one.job} (${state(one)}): ${one.command}`,
      runs: one.end === undefined,
    }))
  }

  /** The output of a command since it was last shown, and how the command ended. */
  async look(job: number): Promise<string> {
    return this.#look(this.#numbered(job))
  }

  async end(job: number): Promise<string> {
    return this.#end(this.#numbered(job))
  }

  /** Reports the commands that exited since the last report to the model; undefined if none did. */
  async news(): Promise<string | undefined> {
    const ended = this.#all.filter(({ end, isTold }) => end !== undefined && !isTold)
    const parts = await Promise.all(
      ended.map(
        async (one) => `Background job ${one.job} (${one.command}) has exited.\n${await this.#look(one, lastWords)}`,
      ),
    )
    return parts.length === 0 ? undefined : parts.join('\n\n')
  }

  /** Whether a command line only ends one of these background commands. */
  ends(command: string): boolean {
    return this.#named(command) !== undefined
  }

  /** Ends the background command that a `kill` command line names; undefined if the line means something else. */
  async kill(command: string): Promise<string | undefined> {
    const background = this.#named(command)
    return background && this.#end(background)
  }

  async #end(background: BackgroundCommand): Promise<string> {
    const { job, run, over, log, end } = background
    if (end !== undefined) return `Job ${job} has already exited.\n${await this.#look(background)}`
    // A command that is stopped on request causes no further news.
    background.isTold = true
    const left = await run.end()
    await over
    if (left.length > 0) return `These processes of job ${job} did not end: ${left.join(', ')}.`
    return `Job ${job} (${background.command}) was stopped. All its output is in ${log}.`
  }

  async #look(background: BackgroundCommand, most = longestLook): Promise<string> {
    const { log, end, shown } = background
    const { text, to, left } = await textFrom(log, shown, most)
    background.shown = to
    if (end !== undefined) background.isTold = true
    const cut = left > 0 ? [`[${left} bytes before this are in ${log}]`] : []
    return [...cut, text.trimEnd() || '[no new output]', ...(end === undefined ? ['[it still runs]'] : [])].join('\n')
  }

  #numbered(job: number): BackgroundCommand {
    const found = this.#all[job - 1]
    if (found) return found
    throw new Error(
      this.any ? `there is no job ${job}. The jobs are:\n${this.list()}` : 'no command was started in the background.',
    )
  }

  #named(command: string): BackgroundCommand | undefined {
    const pid = /^\s*kill\s+(?:-\w+\s+)?(?:--\s+)?-?(\d+)\s*$/.exec(command)?.[1]
    return pid === undefined
      ? undefined
      : this.#all.find(({ run, end }) => end === undefined && run.pid === Number(pid))
  }

  async close(): Promise<void> {
    await Promise.all(this.#all.map(({ run, over, end }) => (end === undefined ? run.end().then(() => over) : over)))
    if (this.#logs > 0) await rm(this.folder, { recursive: true, force: true })
    this.#all = []
    this.#logs = 0
  }

  /** Writes the output of a command to its log. `finish` waits for the end of the command and records how it ended. */
  #writer(log: string, run: Run) {
    const { mask = (text: string) => text } = this.#parts
    const stripper = new AnsiStripper()
    let bytes = 0
    let isLineOpen = false
    const add = async (text: string) => {
      bytes += text.length
      if (bytes > longestLog) {
        // This is not awaited, because `finish` waits for the end of the run.
        void run.end()
        return
      }
      if (text === '') return
      isLineOpen = !text.endsWith('\n')
      await appendFile(log, mask(text)).catch(() => {
        void run.end()
      })
    }
    return {
      write: (chunk: Uint8Array) => add(stripper.push(chunk)),
      finish: async (exited: Promise<Exit>, settle: ShellRun['settle'], background: BackgroundCommand) => {
        const exit = await exited
        const more = bytes > longestLog ? '[stopped: the command printed too much]' : ''
        const end = [more, exitText(exit) || '[exit code 0]', settledText(await settle())].filter((part) => part !== '')
        await add(stripper.end())
        await appendFile(log, `${isLineOpen ? '\n' : ''}${end.join('\n')}\n`).catch(() => {})
        background.end = end.join('\n')
        if (!background.isTold) this.#ended?.(background)
      },
    }
  }
}

/** The end of a file after `from`, at most `most` bytes of it, and how many bytes before it were left out. */
async function textFrom(path: string, from: number, most: number): Promise<{ text: string; to: number; left: number }> {
  const file = await open(path, 'r')
  try {
    const { size } = await file.stat()
    const start = Math.max(from, size - most)
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size - start), 0, size - start, start)
    return { text: buffer.subarray(0, bytesRead).toString(), to: start + bytesRead, left: start - from }
  } finally {
    await file.close()
  }
}
