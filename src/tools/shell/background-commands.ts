import type { Run } from '../../base/process/run.ts'
import type { ToolCall } from '../../core/work/tool.ts'
import type { ShellParts, ShellRun } from './shell-command.ts'
import { realpathSync } from 'node:fs'
import { appendFile, mkdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { exitText, listen, settledText, startShell } from './shell-command.ts'
import { AnsiStripper } from '../../base/ansi.ts'
import { randomName } from '../../base/id.ts'

/** A command that keeps running after its call has returned. */
type BackgroundCommand = { command: string; run: Run; log: string; over: Promise<void> }

/** A new command is watched this long, to report one that fails at once. */
const firstLookMs = 300

/** A command whose log grows beyond this is ended, before it fills the disk. */
const longestLog = 256 * 1024 * 1024

/** The background commands of one agent, which end with its tools. */
export class BackgroundCommands {
  #parts: ShellParts
  /** The folder of the logs, created with the first command; only its owner can open it. */
  readonly folder: string
  #started = 0
  /** The running commands by pid. Ended ones are removed, because the system may give their pid to another process. */
  #all = new Map<number, BackgroundCommand>()

  constructor(parts: ShellParts) {
    this.#parts = parts
    this.folder = join(realOf(parts.env.TMPDIR || tmpdir()), `termaite-background-${randomName()}`)
  }

  async start(command: string, call: ToolCall): Promise<string> {
    const { clock } = this.#parts
    // Not recursive, so that a folder which somebody else placed there is refused.
    if (this.#started === 0) await mkdir(this.folder, 0o700)
    const log = join(this.folder, `${++this.#started}.log`)
    await writeFile(log, '')
    const started = await startShell(command, call, this.#parts)
    const { run } = started
    const over = this.#keep(started, log).finally(() => this.#all.delete(run.pid))
    this.#all.set(run.pid, { command, run, log, over })
    const looked = new AbortController()
    const ended = await Promise.race([over.then(() => true), clock.sleep(firstLookMs, looked.signal).then(() => false)])
    looked.abort()
    const where = `Its output is in ${log}: read it with file_reader.`
    if (ended) return `The command has already ended. ${where}`
    return `Running in the background with pid ${run.pid}. ${where} End it with bash: kill ${run.pid}`
  }

  /** Whether any of them still runs. */
  get running(): boolean {
    return this.#all.size > 0
  }

  /** Whether a command line only ends one of these background commands. */
  ends(command: string): boolean {
    return this.#named(command) !== undefined
  }

  /** Ends the background command that a `kill` command line names; undefined when the line means something else. */
  async kill(command: string): Promise<string | undefined> {
    const behind = this.#named(command)
    if (!behind) return undefined
    const left = await behind.run.end()
    await behind.over
    if (left.length > 0) return `These of its processes did not end: ${left.join(', ')}.`
    return `${behind.run.pid} (${behind.command}) was ended. All its output is in ${behind.log}.`
  }

  #named(command: string): BackgroundCommand | undefined {
    const pid = /^\s*kill\s+(?:-\w+\s+)?(?:--\s+)?-?(\d+)\s*$/.exec(command)?.[1]
    return pid === undefined ? undefined : this.#all.get(Number(pid))
  }

  async close(): Promise<void> {
    await Promise.all([...this.#all.values()].map(({ run, over }) => run.end().then(() => over)))
    if (this.#started > 0) await rm(this.folder, { recursive: true, force: true })
    this.#started = 0
  }

  async #keep({ run, settle }: ShellRun, log: string): Promise<void> {
    const { mask = (text: string) => text } = this.#parts
    const stripper = new AnsiStripper()
    let bytes = 0
    const write = async (text: string) => {
      bytes += text.length
      if (bytes > longestLog) {
        // `listen` below waits for the end.
        void run.end()
        return
      }
      if (text !== '')
        await appendFile(log, mask(text)).catch(() => {
          void run.end()
        })
    }
    const exit = await listen(run, async (chunk) => write(stripper.push(chunk)))
    const more = bytes > longestLog ? '\n[stopped: it printed too much]' : ''
    const words = [exitText(exit) || '[exit code 0]', settledText(await settle())].filter((part) => part !== '')
    await appendFile(log, `${mask(stripper.end())}${more}\n${words.join('\n')}\n`).catch(() => {})
  }
}

/** The real path of a temporary folder, which is often a link: the policy judges real paths. */
function realOf(folder: string): string {
  try {
    return realpathSync(folder)
  } catch {
    return folder
  }
}
