import type { Io } from './io.ts'
import { fstatSync } from 'node:fs'
import { realClock } from '../base/clock.ts'
import { StoreError } from '../core/talk/store.ts'
import { helpText, parse } from './args.ts'
import { commands } from './commands.ts'
import { print, say, UsageError } from './io.ts'
import { load } from './load.ts'
import { mainShape } from './shape.ts'
import { version } from './version.ts'

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
  // A reader that went away (`| head`) is no error.
  process.stdout.on('error', ignoreBrokenPipe)
  process.stderr.on('error', ignoreBrokenPipe)
  let opened = false
  const io: Io = {
    env: process.env,
    cwd: process.cwd(),
    // Opened when it is first read: a turn without it need not pay for it.
    get in() {
      opened = true
      return process.stdin
    },
    piped: isPiped(0),
    out: process.stdout,
    err: process.stderr,
    clock: realClock,
    signal: stop.signal,
  }
  const code = await run(process.argv.slice(2), io)
  process.exitCode = stop.signal.aborted ? Number(stop.signal.reason) : code
  // An open stdin (a terminal, a pipe that nobody closes) must not keep a finished run alive.
  if (opened) process.stdin.destroy()
}

export async function run(argv: readonly string[], io: Io): Promise<number> {
  try {
    const command = commands.find(({ name }) => name === argv[0])
    const shape = command ?? mainShape
    const parsed = parse(shape, command ? argv.slice(1) : argv)
    if (parsed.values.help) return help(io, shape === mainShape ? helpText(shape, overview()) : helpText(shape))
    if (parsed.values.version) return help(io, version)
    return await (await load(shape.name)).run(io, parsed, run)
  } catch (error) {
    return failed(error, io)
  }
}

function failed(error: unknown, io: Io): number {
  if (error instanceof UsageError) {
    say(io, `termaite: ${error.message}`)
    return error.code
  }
  if (error instanceof StoreError) {
    say(io, `termaite: ${error.message}`)
    return 1
  }
  const debug = io.env.TERMAITE_DEBUG === '1' && error instanceof Error && error.stack
  say(
    io,
    `termaite: something broke that should not: ${debug || (error instanceof Error ? error.message : String(error))}. Run it with TERMAITE_DEBUG=1 to see where.`,
  )
  return 1
}

function isPiped(fd: number): boolean {
  try {
    const stat = fstatSync(fd)
    return stat.isFIFO() || stat.isFile() || stat.isSocket()
  } catch {
    return false
  }
}

function help(io: Io, text: string): number {
  print(io, text)
  return 0
}

function overview(): string {
  const width = Math.max(...commands.map(({ name }) => name.length))
  return ['Commands:', ...commands.map(({ name, summary }) => `  termaite ${name.padEnd(width)}  ${summary}`)].join(
    '\n',
  )
}

function ignoreBrokenPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error
}
