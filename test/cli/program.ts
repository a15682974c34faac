import type { ChildProcess } from 'node:child_process'
import type { TestContext } from 'node:test'
import { pathOf } from '../system-path.ts'
import type { Entry } from '../../src/core/talk/entry.ts'
import { spawn } from 'node:child_process'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { handedPackage, handedStart } from '../../scripts/installed-package.ts'
import { realClock } from '../../src/base/time/clock.ts'
import { run as runCommandLine } from '../../src/cli/run.ts'
import { noonZone } from '../noon.ts'

/** Our code, compiled once for all machines of the tests. */
export const codeCache = join(tmpdir(), 'termaite-test-code')

/** The words that start the program under test: the installed package, the single file, or the package on another Node. */
export const start = handedStart()

/** The folder of the installed package. */
export const packageFolder = handedPackage()

/** The tarball from which the package was installed. */
export const packageTarball = join(packageFolder, '..', '..', 'termaite.tgz')

export type Ran = { code: number | null; signal: NodeJS.Signals | null; out: string; err: string }

export type RunOptions = {
  input?: string
  env?: Record<string, string>
  cwd?: string
  /** The user that runs it. */ uid?: number
}

/** What was printed, without the times that turns took. */
export const untimed = (printed: string) => printed.replaceAll(/^(— [^·\n]+ · )[\d.]+ (?:ms|s|min)\b/gm, '$1<time>')

/** A person's machine of their own: a home, a project, and the built program. */
export class Machine {
  readonly folder: string
  readonly home: string
  readonly project: string
  #children: ChildProcess[] = []

  /** `home` is one that the test made, and takes away itself. */
  constructor(context: TestContext, home?: string) {
    this.folder = realpathSync(mkdtempSync(join(tmpdir(), 'termaite-test-')))
    this.home = home ?? join(this.folder, 'termaite')
    this.project = join(this.folder, 'project')
    mkdirSync(join(this.folder, 'home'))
    mkdirSync(this.project)
    context.after(() => {
      for (const child of this.#children) child.kill('SIGKILL')
      // A process that was just killed may still finish a write.
      rmSync(this.folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
    })
  }

  /** Ends with the test, whatever became of it: a test that fails leaves nothing that its process would wait for. */
  own<C extends ChildProcess>(child: C): C {
    this.#children.push(child)
    return child
  }

  /** Plain commands as agents, in their order. */
  agents(commands: Record<string, string>, more: Record<string, unknown> = {}): void {
    const agents = Object.entries(commands).map(([name, command]) => ({ name, command, contextWindowTokens: 100_000 }))
    this.settings({ ...more, agents })
  }

  settings(settings: unknown): void {
    mkdirSync(this.home, { recursive: true })
    writeFileSync(join(this.home, 'settings.json'), typeof settings === 'string' ? settings : JSON.stringify(settings))
  }

  /** Programs of that name on a path of their own: each answers its version, and a turn in plain words. */
  install(names: readonly string[]): { PATH: string } {
    const bin = join(this.folder, 'bin')
    mkdirSync(bin)
    for (const name of names)
      writeFileSync(
        join(bin, name),
        `#!/bin/sh\n[ "$1" = --version ] && echo "${name} 1.2.3" && exit\ncat >/dev/null\necho OK\n`,
        { mode: 0o755 },
      )
    return { PATH: pathOf(bin) }
  }

  start(args: readonly string[], options: RunOptions = {}): ChildProcess {
    const [command, ...first] = start
    const child = spawn(command, [...first, ...args], {
      cwd: options.cwd ?? this.project,
      env: this.#environment(options),
      ...(options.uid === undefined ? {} : { uid: options.uid, gid: options.uid }),
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    return this.own(child)
  }

  async run(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
    const child = this.start(args, options)
    child.stdin!.on('error', () => {}).end(options.input ?? '')
    return ended(child)
  }

  /**
   * Runs a command line in this process, from our sources: for all that a start of the program does not show better. The streams of
   * a process, its signals, its end and its terminal are shown by `run` alone.
   */
  async call(args: readonly string[], options: Omit<RunOptions, 'uid'> = {}): Promise<Ran> {
    // A run that starts termaite again starts the installed package, as everywhere.
    process.argv[1] = join(packageFolder, '..', '.bin', 'termaite')
    const [out, err] = [new Printed(), new Printed()]
    const code = await runCommandLine(args, {
      env: this.#environment(options),
      cwd: options.cwd ?? this.project,
      in: Readable.from([options.input ?? '']),
      piped: true,
      out,
      err,
      clock: realClock,
      signal: new AbortController().signal,
      hangup: () => new AbortController().signal,
    })
    return { code, signal: null, out: out.text, err: err.text }
  }

  #environment({ env }: RunOptions): Record<string, string> {
    return {
      PATH: process.env.PATH!,
      HOME: join(this.folder, 'home'),
      TERMAITE_HOME: this.home,
      TERMAITE_KEYCHAIN: 'off',
      NODE_COMPILE_CACHE: codeCache,
      TZ: noonZone,
      ...env,
    }
  }

  /** The folder that our home keeps for the only project. */
  get slug(): string {
    const [slug] = readdirSync(join(this.home, 'projects'))
    return slug!
  }

  /** A file of the only project, in our home. */
  file(name: string): string {
    return join(this.home, 'projects', this.slug, name)
  }

  /** A prompt without an end, as the process with this mark would have left it. */
  leavePrompt(text: string, owner: string): void {
    const entry = { ...this.history()[0], id: text, turn: text, at: Date.now(), text, owner }
    appendFileSync(this.file('history.jsonl'), `${JSON.stringify(entry)}\n`)
  }

  /** The conversation as it lies on disk. */
  history(): Entry[] {
    const lines = readFileSync(this.file('history.jsonl'), 'utf8').split('\n')
    return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Entry)
  }

  /** The kept entries, as short as they can be asserted: type, author, and words. */
  kept(): [string, string, string][] {
    return this.history()
      .filter(({ type }) => type !== 'usage')
      .map((entry) => [entry.type, entry.by, words(entry)])
  }

  health(): unknown {
    return JSON.parse(readFileSync(join(this.home, 'health.json'), 'utf8'))
  }
}

/** A stream that keeps what was written to it. */
class Printed extends Writable {
  text = ''

  override _write(chunk: Buffer | string, _encoding: BufferEncoding, done: () => void): void {
    this.text += String(chunk)
    done()
  }
}

/**
 * What agents have shown in turns that have not ended, a text for each side log. Only the folders of side logs are read:
 * others of a home change while a program works, and a look at all of them would meet a folder that has just gone.
 */
export function shownTexts(home: string): string[] {
  const there = (folder: string) => (existsSync(folder) ? readdirSync(folder) : [])
  return there(join(home, 'projects'))
    .map((slug) => join(home, 'projects', slug, 'shown'))
    .flatMap((folder) => there(folder).map((name) => join(folder, name)))
    .filter((path) => path.endsWith('.jsonl'))
    .map((path) => readFileSync(path, 'utf8'))
}

function words(entry: Entry): string {
  if (entry.type === 'attempt') return entry.failure.kind
  if (entry.type === 'end') return entry.outcome.ok ? 'ok' : entry.outcome.failure.kind
  return 'text' in entry ? entry.text : ''
}

export async function ended(child: ChildProcess): Promise<Ran> {
  let out = ''
  let err = ''
  child.stdout!.setEncoding('utf8').on('data', (chunk: string) => (out += chunk))
  child.stderr!.setEncoding('utf8').on('data', (chunk: string) => (err += chunk))
  const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve) =>
    child.on('close', (...how) => resolve(how)),
  )
  return { code, signal, out, err }
}

/** The settings of our own agent on a model of the test. */
export const nativeOn = (server: { url: string }) => ({
  name: 'one',
  kind: 'native',
  model: 'anthropic/claude-sonnet-4-5',
  baseURL: `${server.url}/v1`,
  contextWindowTokens: 200_000,
})
