import { spawn } from 'node:child_process'
import { ControlClient } from './control.ts'

/** Where a tmux server is reached, as its own options say it. */
export type ServerPlace = readonly ['-L' | '-S', string]

type Env = Readonly<Record<string, string | undefined>>

type ServerWays = { options?: readonly string[]; session?: string }

/** What tmux said went wrong. */
export class TmuxError extends Error {
  override name = 'TmuxError'
}

/** Whether it says that there is no such server, or none any more. */
export function isAbsent(error: unknown): boolean {
  return (
    error instanceof TmuxError && /no server running|error connecting|server exited|lost server/.test(error.message)
  )
}

/** One tmux server, spoken to by its own commands. */
export class TmuxServer {
  readonly place: ServerPlace
  readonly program: string
  #options: readonly string[]
  #env: Record<string, string>
  #session: string | undefined
  #client: ControlClient | undefined
  #closed = false

  /** `options` are for a server that has yet to be started; `session` is one of our own, by which it may be asked often. */
  constructor(program: string, place: ServerPlace, env: Env, { options = [], session }: ServerWays = {}) {
    this.program = program
    this.place = place
    this.#options = options
    this.#session = session
    this.#env = serverEnv(env)
  }

  /** The same for what is wanted often, by a client that stays where there may be one. */
  async ask(commands: readonly (readonly string[])[]): Promise<string> {
    const answer = await this.#staying()?.ask(commands)
    if (answer === undefined) return this.run(commands)
    if ('error' in answer) throw new TmuxError(`tmux: ${answer.error}`)
    return answer.text
  }

  /** Lets go of it; it goes on. */
  close(): void {
    this.#closed = true
    this.#client?.close()
  }

  /** Commands that run one after the other, until one fails; gives what they print. */
  async run(commands: readonly (readonly string[])[], input?: string): Promise<string> {
    const words = commands.flatMap((command, index) => [...(index > 0 ? [';'] : []), ...command.map(unended)])
    const child = spawn(this.program, ['-u', ...this.#options, ...this.place, ...words], {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: this.#env,
      cwd: '/',
    })
    const out: Buffer[] = []
    const err: Buffer[] = []
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk))
    child.stderr.on('data', (chunk: Buffer) => err.push(chunk))
    child.stdin.on('error', () => {})
    child.stdin.end(input ?? '')
    return new Promise((resolve, reject) => {
      child.once('error', (error) => reject(new TmuxError(`tmux could not be run: ${error.message}`)))
      child.once('close', (code) => {
        if (code === 0) resolve(Buffer.concat(out).toString())
        else reject(new TmuxError(`tmux: ${Buffer.concat(err).toString().trim() || `it ended with code ${code}`}`))
      })
    })
  }

  #staying(): ControlClient | undefined {
    if (this.#session === undefined || this.#closed) return undefined
    if (!this.#client?.open) this.#client = new ControlClient(this.program, this.place, this.#env, this.#session)
    return this.#client
  }
}

/** A word that ends in a semicolon would end its command. */
export const unended = (word: string) => word.replace(/;$/, '\\;')

/** A server keeps the environment of whoever started it for ever: it is given what it needs, and no secrets and no marks of ours. */
function serverEnv(env: Env): Record<string, string> {
  const needed = [
    'PATH',
    'HOME',
    'USER',
    'LOGNAME',
    'SHELL',
    'LANG',
    'LC_ALL',
    'LC_CTYPE',
    'TMUX_TMPDIR',
    'TMPDIR',
    'TERM',
  ]
  return Object.fromEntries(needed.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])))
}
