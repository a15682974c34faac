import type { Io } from '../core/io.ts'
import type { CliCommand } from './arguments/cli-command.ts'
import type { Stats } from 'node:fs'
import type { EarlyFailure, Format } from './output/print.ts'
import type { SettingsError } from '../settings/fault.ts'
import { createReadStream, fstatSync, readFileSync } from 'node:fs'
import { getSystemErrorMessage } from 'node:util'
import { messageOf } from '../base/error-message.ts'
import { mark } from '../base/mark.ts'
import { diskFullWords, isDiskFull, ProgramMissing, refusedPathWords } from '../base/files/system-error.ts'
import { absolutePath, rememberPlace } from '../base/process/program-path.ts'
import { realClock } from '../base/time/clock.ts'
import { StoreError } from '../core/talk/store.ts'
import { parse } from './arguments/args.ts'
import { chatCommand } from './chat-command.ts'
import { print, say, UsageError } from '../core/io.ts'
import { version } from '../base/version.ts'
import { exit } from '../core/exit-codes.ts'

/** Runs this process: passes on its streams and signals, and sets its exit code. */
export async function runProcess(): Promise<void> {
  mark('code')
  if (process.env.PATH !== undefined) process.env.PATH = absolutePath(process.env.PATH)
  // A bash whose input is a socket, as ours are, takes itself for a remote login and reads ~/.bashrc if no shell is above it.
  if (!(Number(process.env.SHLVL) > 0)) process.env.SHLVL = '1'
  const stop = new AbortController()
  const onSignal = (code: number) => () => {
    // A second signal does not wait: the watchdog stops the remaining processes once this one is gone.
    if (stop.signal.aborted) process.exit(code)
    stop.abort(code)
  }
  process.on('SIGINT', onSignal(exit.interrupted))
  process.on('SIGTERM', onSignal(exit.ended))
  process.stdout.once('error', reportWriteError).on('error', () => {})
  // A closed stderr cannot be reported anywhere.
  process.stderr.on('error', () => {})
  const stdin = statOf(0)
  let opened: Io['in'] | undefined
  const io: Io = {
    env: process.env,
    get cwd() {
      const cwd = workingFolder()
      rememberPlace(cwd)
      return cwd
    },
    // Opening stdin costs start-up time, so it is opened when it is first read.
    get in() {
      // Node treats a folder as an empty stdin. Read as a file, it gives an error that names the cause.
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
      // A terminal can close without a SIGHUP.
      this.in.once('close', () => dropped.abort()).once('error', () => dropped.abort())
      return dropped.signal
    },
  }
  const code = await run(process.argv.slice(2), io)
  process.exitCode = stop.signal.aborted ? Number(stop.signal.reason) : code
  // An open stdin (a terminal, a pipe that nobody closes) must not keep a finished run alive.
  opened?.destroy()
}

/** Runs one command line and returns its exit code. */
export async function run(argv: readonly string[], io: Io): Promise<number> {
  try {
    // Many programs have the command "version", so this word must not reach an agent as a prompt.
    if (argv[0] === 'version' && argv.length === 1) return printAndSucceed(io, version)
    const named = await commandNamed(argv[0])
    const command = named ?? chatCommand
    const parsed = parse(command, named ? argv.slice(1) : argv)
    if (named && parsed.words.includes(''))
      throw new UsageError(`${named.name}: one of the arguments is empty. Leave it out, or fill it in.`)
    if (parsed.values.help) {
      const { helpText, overview } = await import('./arguments/help.ts')
      return printAndSucceed(io, helpText(command, named ? '' : overview(await allCommands())))
    }
    if (parsed.values.version) return printAndSucceed(io, version)
    refuseFewFiles()
    if (!named && parsed.values.prompt === undefined) await refuseMistypedCommand(parsed.words)
    const code = await command.load()
    return await code.run(io, parsed, { chat: chatCommand, run, commands: allCommands })
  } catch (error) {
    return await reportFailure(error, io, argv)
  }
}

/** The table of commands, which is long and is not needed for the chat and for a turn. */
const allCommands = async (): Promise<readonly CliCommand[]> => (await import('./commands.ts')).commands

/** The command that the first word names. Most runs begin with a flag or have no word. */
async function commandNamed(word: string | undefined): Promise<CliCommand | undefined> {
  if (word === undefined || word.startsWith('-')) return undefined
  return (await allCommands()).find(({ name }) => name === word)
}

/** Prints what went wrong, with secrets masked, and returns the exit code. A program that asked for JSON gets it as JSON too. */
async function reportFailure(error: unknown, io: Io, argv: readonly string[]): Promise<number> {
  const { kind, message, code } = await failureOf(error, io)
  say(io, `termaite: ${message}`)
  if (await isOwnSettingsFault(error, io, argv)) say(io, 'To edit the settings: termaite config edit')
  const format = await formatAsked(argv)
  if (format === 'text') return code
  const { printFailure } = await import('./output/print.ts')
  await printFailure({ kind, message }, { format, out: io.out, clock: io.clock })
  return code
}

/** In an error about one of the files that `config edit` opens, the part after the path of the folder. */
const ownSettingsLine = /^\/(?:settings\.json|config\.yaml):\d/

/** Whether the person's own settings are broken, and were not just edited. Those of a project are not opened by `config edit`. */
async function isOwnSettingsFault(error: unknown, { env }: Io, argv: readonly string[]): Promise<boolean> {
  if (!(error instanceof UsageError) || error.name !== 'SettingsError') return false
  if (argv.slice(0, 2).join(' ') === 'config edit') return false
  const { homeOf } = await import('../home/place.ts')
  const home = homeOf(env)
  const { faults } = error as SettingsError
  return faults.some((fault) => fault.startsWith(home) && ownSettingsLine.test(fault.slice(home.length)))
}

/** The fewest files that a process of ours has to be able to open: one turn of one agent needs 36. */
const fewestFiles = 64

/**
 * Refuses to start if the system allows so few open files that the run would fail midway with a misleading cause: SQLite, for one,
 * reports a file that cannot be opened as one without permission. Systems without /proc are not checked.
 */
function refuseFewFiles(): void {
  const most = openFilesLimit()
  if (most !== undefined && most < fewestFiles) throw new StoreError(fewFilesWords(`only ${most}`))
}

function openFilesLimit(): number | undefined {
  if (process.platform !== 'linux') return undefined
  try {
    const most = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1]
    return most === undefined ? undefined : Number(most)
  } catch {
    return undefined
  }
}

const fewFilesWords = (most: string) =>
  `this shell lets a program open ${most} files at once, and termaite needs more. Raise the limit with \`ulimit -n 1024\`, and run the same command again.`

/** The codes of a limit on open files: of the process, and of the whole system. */
const tooManyOpen = new Set(['EMFILE', 'ENFILE'])

/** The system's code of an error, or of its cause. */
function codeOf(error: unknown): string {
  const { code, cause } = (error ?? {}) as { code?: unknown; cause?: unknown }
  return typeof code === 'string' && tooManyOpen.has(code) ? code : cause === undefined ? '' : codeOf(cause)
}

/** Describes an error for the person, as a message and an exit code. */
async function failureOf(error: unknown, io: Io): Promise<EarlyFailure & { code: number }> {
  if (error instanceof UsageError) {
    // Codes above 128 are those of the signal that interrupted the run.
    const kind = error.code > 128 ? 'aborted' : 'usage'
    return { kind, message: error.message, code: error.code }
  }
  if (error instanceof ProgramMissing) return { kind: 'usage', message: error.message, code: 1 }
  if (tooManyOpen.has(codeOf(error))) return { kind: 'store', message: fewFilesWords('too few'), code: 1 }
  if (error instanceof StoreError) return { kind: 'store', message: error.message, code: 1 }
  const refused = refusedPathWords(error) ?? (isDiskFull(error) ? diskFullWords : undefined)
  if (refused !== undefined && io.env.TERMAITE_DEBUG !== '1') return { kind: 'store', message: refused, code: 1 }
  const [{ borderOf }, { homeOf }] = await Promise.all([import('../border/border.ts'), import('../home/place.ts')])
  const mask = borderOf(io.env, homeOf(io.env)).toward('error')
  const debug = io.env.TERMAITE_DEBUG === '1' && error instanceof Error && error.stack
  if (debug) return { kind: 'internal', message: `internal error: ${mask(debug)}`, code: 1 }
  const next = 'Run the same command with TERMAITE_DEBUG=1 to see where it happened.'
  return { kind: 'internal', message: `internal error: ${mask(messageOf(error))}. ${next}`, code: 1 }
}

/** The output format that a command line asks for, even if the rest of it is wrong. */
async function formatAsked(argv: readonly string[]): Promise<Format> {
  if (await commandNamed(argv[0])) return 'text'
  const end = argv.indexOf('--')
  const flags = end < 0 ? argv : argv.slice(0, end)
  const named = flags.flatMap((arg, index) => {
    if (arg === '--output-format') return [flags[index + 1]]
    return arg.startsWith('--output-format=') ? [arg.slice('--output-format='.length)] : []
  })
  const last = named.at(-1)
  return last === 'json' || last === 'stream-json' ? last : 'text'
}

function statOf(fd: number): Stats | undefined {
  try {
    return fstatSync(fd)
  } catch {
    return undefined
  }
}

/** The working directory. It is asked for late, so that a run with --cwd works in a folder that was deleted. */
function workingFolder(): string {
  try {
    return process.cwd()
  } catch {
    throw new UsageError('the current folder was deleted. Go to another one, or name one with --cwd.')
  }
}

function printAndSucceed(io: Io, text: string): number {
  print(io, text)
  return 0
}

/** A reader that closed early (`| head`, a closed terminal) is not an error. A full disk is one, even if the turn succeeded. */
function reportWriteError(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE' || (error.code === 'EIO' && process.stdout.isTTY)) return
  const why = error.errno === undefined ? error.message : getSystemErrorMessage(error.errno)
  process.stderr.write(`termaite: the output could not be written: ${why}. Free some space, or write it elsewhere.\n`)
  process.once('exit', () => (process.exitCode = 1))
}

/** Commands have few words; a longer line is a prompt. */
const mostCommandWords = 3

/** Refuses a short prompt whose first word nearly is a command: more often a slip than a prompt, and a prompt costs money. */
async function refuseMistypedCommand(words: readonly string[]): Promise<void> {
  if (words.length === 0 || words.length > mostCommandWords) return
  const first = words[0]!.toLowerCase()
  const { slips } = await import('../base/text/nearest.ts')
  const near = (other: string) =>
    Math.abs(first.length - other.length) <= allowedSlips(other) && slips(first, other) <= allowedSlips(other)
  const name = (await allCommands()).map((command) => command.name).find(near)
  if (name === undefined) return
  throw new UsageError(
    first === name
      ? `the command "${name}" must come before its flags: termaite ${name} … To send it as a prompt, use -p.`
      : `there is no command "${first}". Did you mean "${name}"? To send it as a prompt, use -p.`,
  )
}

/** How many letters may differ. Short names have many near words, so they allow fewer. */
function allowedSlips(name: string): number {
  return name.length > 5 ? 2 : name.length > 2 ? 1 : 0
}
