import type { Io } from '../core/io.ts'
import type { Stats } from 'node:fs'
import { createReadStream, fstatSync } from 'node:fs'
import { getSystemErrorMessage } from 'node:util'
import { wordsOf } from '../base/words.ts'
import { realClock } from '../base/clock.ts'
import { StoreError } from '../core/talk/store.ts'
import { parse } from './args.ts'
import { commands } from './commands.ts'
import { helpText, overview } from './help.ts'
import { print, say, UsageError } from '../core/io.ts'
import { load } from './load.ts'
import { refuseSlip } from './meant.ts'
import { mainShape } from './main-flags.ts'
import { version } from '../app/version.ts'

/** This process as one run: its streams and signals in, its exit code out. */
export async function runProcess(): Promise<void> {
  const stop = new AbortController()
  const onSignal = (code: number) => () => {
    // The second one does not wait: whatever is left is ended by the watchdog when we are gone.
    if (stop.signal.aborted) process.exit(code)
    stop.abort(code)
  }
  process.on('SIGINT', onSignal(130))
  process.on('SIGTERM', onSignal(143))
  process.stdout.once('error', unwritten).on('error', () => {})
  // Whoever does not hear stderr cannot be told so.
  process.stderr.on('error', () => {})
  const stdin = statOf(0)
  let opened: Io['in'] | undefined
  const io: Io = {
    env: process.env,
    get cwd() {
      return workingFolder()
    },
    // Opened when it is first read: a turn without it need not pay for it.
    get in() {
      // To node a folder is an empty stdin; read as a file it says what it is.
      return (opened ??= stdin?.isDirectory() ? createReadStream('', { fd: 0 }) : process.stdin)
    },
    piped: stdin !== undefined && (stdin.isFIFO() || stdin.isFile() || stdin.isSocket()),
    out: process.stdout,
    err: process.stderr,
    clock: realClock,
    signal: stop.signal,
    hangup() {
      const dropped = new AbortController()
      process.on('SIGHUP', () => dropped.abort())
      // The terminal may be gone without a word.
      this.in.once('close', () => dropped.abort()).once('error', () => dropped.abort())
      return dropped.signal
    },
  }
  const code = await run(process.argv.slice(2), io)
  process.exitCode = stop.signal.aborted ? Number(stop.signal.reason) : code
  // An open stdin (a terminal, a pipe that nobody closes) must not keep a finished run alive.
  opened?.destroy()
}

export async function run(argv: readonly string[], io: Io): Promise<number> {
  try {
    // Words that every other program knows are not sent to an agent.
    if (argv[0] === 'help') return await run([...argv.slice(1, 2), '--help'], io)
    if (argv[0] === 'version' && argv.length === 1) return help(io, version)
    const command = commands.find(({ name }) => name === argv[0])
    const shape = command ?? mainShape
    const parsed = parse(shape, command ? argv.slice(1) : argv)
    if (command && parsed.words.includes(''))
      throw new UsageError(`${command.name}: an empty word was given; leave it out, or say which one is meant.`)
    if (parsed.values.help) return help(io, shape === mainShape ? helpText(shape, overview(commands)) : helpText(shape))
    if (parsed.values.version) return help(io, version)
    if (!command && parsed.values.prompt === undefined) refuseSlip(parsed.words)
    return await (await load(shape.name)).run(io, parsed, run)
  } catch (error) {
    return await failed(error, io)
  }
}

async function failed(error: unknown, io: Io): Promise<number> {
  if (error instanceof UsageError) {
    say(io, `termaite: ${error.message}`)
    return error.code
  }
  if (error instanceof StoreError) {
    say(io, `termaite: ${error.message}`)
    return 1
  }
  const [{ learningRedactor }, { keysInFile }, { homeOf }] = await Promise.all([
    import('../safety/redaction.ts'),
    import('../safety/keys.ts'),
    import('../app/place.ts'),
  ])
  const { mask } = learningRedactor(io.env, () => keysInFile(homeOf(io.env)))
  const debug = io.env.TERMAITE_DEBUG === '1' && error instanceof Error && error.stack
  say(
    io,
    `termaite: something broke that should not: ${mask(debug || wordsOf(error))}. Run it with TERMAITE_DEBUG=1 to see where.`,
  )
  return 1
}

function statOf(fd: number): Stats | undefined {
  try {
    return fstatSync(fd)
  } catch {
    return undefined
  }
}

/** Asked for only where it matters: a run that names its folder works in one that is gone. */
function workingFolder(): string {
  try {
    return process.cwd()
  } catch {
    throw new UsageError('the folder this was started in is gone; go to one that exists, or name one with --cwd.')
  }
}

function help(io: Io, text: string): number {
  print(io, text)
  return 0
}

/** A reader that went away (`| head`, a closed terminal) is no error; a full disk is one, whatever else went well. */
function unwritten(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE' || (error.code === 'EIO' && process.stdout.isTTY)) return
  const why = error.errno === undefined ? error.message : getSystemErrorMessage(error.errno)
  process.stderr.write(`termaite: the output could not be written: ${why}. Make room, or send it elsewhere.\n`)
  process.once('exit', () => (process.exitCode = 1))
}
