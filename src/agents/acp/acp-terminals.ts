import type { CreateTerminalRequest, TerminalExitStatus, TerminalOutputResponse } from '@agentclientprotocol/sdk'
import type { Clock } from '../../base/time/clock.ts'
import type { Exit, Run } from '../../base/process/run.ts'
import type { Rules } from './acp-rules.ts'
import type { Argv, Enclose, EnclosedSeat } from '../enclosure.ts'
import { defined } from '../../base/defined.ts'
import { newId } from '../../base/id.ts'
import { start } from '../../base/process/run.ts'
import { shellWord } from '../../base/text/shell-word.ts'
import { enclosed } from '../enclosure.ts'
import { realPathInside, Refusal, forbid, mustAgree } from './acp-rules.ts'

type Terminal = { run: Run; printed: TerminalOutput; exit?: TerminalExitStatus; exited: Promise<TerminalExitStatus> }

type TerminalParts = {
  rules: Rules
  clock: Clock
  env: Record<string, string | undefined>
  /** Runs the commands inside the same sandbox as the agent. */
  enclose?: Enclose
}

/** The commands that we run for an agent, each in its own process group; none outlives the turn. */
export class Terminals {
  #parts: TerminalParts
  #terminals = new Map<string, Terminal>()
  #kept = new Map<string, TerminalOutput>()
  /** One promise for each start and each end of a command: the turn waits until all sandboxes are removed. */
  #unsettled = new Set<Promise<unknown>>()
  /** Sentences about files that were removed after commands, because no command may leave them behind. */
  readonly settled: string[] = []

  constructor(parts: TerminalParts) {
    this.#parts = parts
  }

  get running(): boolean {
    return [...this.#terminals.values()].some(({ exit }) => !exit)
  }

  async create(request: CreateTerminalRequest, signal: AbortSignal): Promise<string> {
    const { rules } = this.#parts
    const { command, args = [], env = [], cwd } = request
    // A variable can change the effect of a command, so it is shown as part of it.
    const set = env.map(({ name, value }) => `${shellWord(name)}=${shellWord(value)}`)
    const line = [...set, command, ...args.map(shellWord)].join(' ')
    const place = await realPathInside([rules.root, ...rules.added], cwd ?? rules.cwd)
    const what = `running ${line}`
    if (place === undefined) forbid(rules, what, `${cwd} is not in ${rules.root}`)
    if (rules.leash === 'read') forbid(rules, what, 'this agent may only read')
    const agreed = (cwd ?? rules.cwd) === rules.cwd && rules.allowed.takeCommand(line)
    if (rules.leash !== 'all' && !agreed) {
      const shows = [{ type: 'command' as const, command: line, cwd: place }]
      await mustAgree(rules, what, { text: 'Run a command', shows }, signal)
    }
    const own = Object.fromEntries(env.map(({ name, value }) => [name, value]))
    const argv: Argv = args.length > 0 ? [command, ...args] : ['bash', '-c', command]
    const seat = { leash: rules.leash, cwd: place, env: { ...this.#parts.env, ...own }, command: true as const }
    const starting = this.#start(argv, seat, request.outputByteLimit ?? undefined)
    this.#unsettled.add(starting.catch(() => {}))
    return starting
  }

  async #start(argv: Argv, seat: EnclosedSeat, limit: number | undefined): Promise<string> {
    const { rules, clock } = this.#parts
    const walled = await enclosed(this.#parts.enclose, argv, seat)
    if ('refused' in walled) throw new Refusal(walled.refused.message)
    const settle = async () => this.settled.push(...(await walled.settle()))
    const run = await start({ argv: walled.argv, cwd: seat.cwd, env: walled.env, clock }).catch(async (error) => {
      await settle()
      throw error
    })
    run.stdin.end()
    if (rules.over.aborted) {
      await run.end()
      await settle()
      throw new Refusal('The turn is over.')
    }
    const id = newId(clock.now())
    const printed = new TerminalOutput(limit)
    const terminal: Terminal = {
      run,
      printed,
      exited: this.#listen(run, printed).then(async (exit) => {
        await settle()
        return (terminal.exit = exit)
      }),
    }
    this.#unsettled.add(terminal.exited.catch(() => {}))
    this.#terminals.set(id, terminal)
    this.#kept.set(id, printed)
    return id
  }

  output(id: string): TerminalOutputResponse {
    const { printed, exit } = this.#find(id)
    return defined({ ...printed.output, exitStatus: exit })
  }

  async wait(id: string): Promise<TerminalExitStatus> {
    return this.#find(id).exited
  }

  async kill(id: string): Promise<void> {
    await this.#find(id).run.end()
  }

  async release(id: string): Promise<void> {
    const { run } = this.#find(id)
    this.#terminals.delete(id)
    await run.end()
  }

  /** The output of a terminal, even after its release: its call still shows the output. */
  printed(id: string): string {
    return this.#kept.get(id)?.output.output ?? ''
  }

  /** Ends every command, removes its sandbox, and returns the pids that could not be killed. */
  async end(): Promise<number[]> {
    const left = (await Promise.all([...this.#terminals.values()].map(({ run }) => run.end()))).flat()
    // A process that cannot be killed never exits, so the end of its sandbox is not awaited.
    if (left.length === 0) await Promise.all(this.#unsettled)
    return left
  }

  #find(id: string): Terminal {
    const terminal = this.#terminals.get(id)
    if (!terminal) throw new Refusal(`There is no terminal ${id}.`)
    return terminal
  }

  async #listen(run: Run, printed: TerminalOutput): Promise<TerminalExitStatus> {
    const take = async (chunks: AsyncIterable<Uint8Array>) => {
      for await (const chunk of chunks) printed.add(chunk)
    }
    const [exit] = await Promise.all([run.exited, take(run.stdout), take(run.stderr)])
    return statusOf(exit)
  }
}

const statusOf = ({ code, signal }: Exit): TerminalExitStatus => ({
  exitCode: code ?? null,
  signal: signal ?? null,
})

const mostBytes = 1 << 20

/** The last bytes that a terminal printed, cut at a character boundary. */
class TerminalOutput {
  #bytes = Buffer.alloc(0)
  #limit: number
  #cut = false

  constructor(limit = mostBytes) {
    this.#limit = Math.min(limit, mostBytes)
  }

  add(chunk: Uint8Array): void {
    this.#bytes = Buffer.concat([this.#bytes, chunk])
    if (this.#bytes.length <= this.#limit) return
    this.#cut = true
    let from = this.#bytes.length - this.#limit
    while (from < this.#bytes.length && isInside(this.#bytes[from]!)) from++
    this.#bytes = Buffer.from(this.#bytes.subarray(from))
  }

  get output(): { output: string; truncated: boolean } {
    return { output: this.#bytes.toString('utf8'), truncated: this.#cut }
  }
}

/** Whether a byte continues the character before it. */
const isInside = (byte: number) => (byte & 0b1100_0000) === 0b1000_0000
