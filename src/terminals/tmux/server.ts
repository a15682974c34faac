import { spawn } from 'node:child_process'

/** Where a tmux server is reached, as its own options say it. */
export type ServerPlace = readonly ['-L' | '-S', string]

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
  #env: Readonly<Record<string, string | undefined>>

  /** `options` are for a server that has yet to be started. */
  constructor(
    program: string,
    place: ServerPlace,
    env: Readonly<Record<string, string | undefined>>,
    options: string[] = [],
  ) {
    this.program = program
    this.place = place
    this.#options = options
    this.#env = serverEnv(env)
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
}

/** A word that ends in a semicolon would end its command. */
export const unended = (word: string) => word.replace(/;$/, '\\;')

/** A server keeps the environment of whoever started it for ever: it is given what it needs, and no secrets and no marks of ours. */
function serverEnv(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
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
