import type { Clock } from '../../base/clock.ts'
import type { Profile, ScreenFacts } from '../../core/work/profile.ts'
import type { Reader } from '../../core/screen/reading.ts'
import type { TerminalHost } from '../../core/screen/terminal.ts'
import type { Failure } from '../../core/talk/outcome.ts'
import type { Leash, RosterSeat } from '../../core/work/agent.ts'
import { leashFailure } from '../process-failure.ts'

/**
 * A `command` runs in the terminal exactly as written, with `args` as an argv; left out, the profile composes the
 * interactive one from the leash. The patterns are looked for on the screen, before what the profile knows.
 */
export type ScreenSpec = {
  name: string
  command?: string
  args?: readonly string[]
  env?: Record<string, string>
  window: number
  timeoutMs: number
  silenceMs: number
  profile?: Profile
  model?: string
  idlePattern?: RegExp
  readyPattern?: RegExp
  /** Whether it is told to put its answer between marks. */
  fence?: boolean
}

export type ScreenSeat = Pick<RosterSeat, 'cwd' | 'leash' | 'resume' | 'terminal' | 'model'>

export type ScreenParts = {
  /** Called when a terminal is needed, and not before. */
  host(): Promise<TerminalHost>
  clock: Clock
  /** Where the CLI keeps its journals. */
  home: string
  env: Readonly<Record<string, string | undefined>>
  /** A folder for prompts that are too long to be pasted. */
  temp: string
  /** Whether files below changed since then: work that makes no sound. */
  changed?(cwd: string, since: number): Promise<boolean>
}

/** What is known of a program that nobody knows; to a shell Escape would be the beginning of another key. */
const stranger: ScreenFacts = { command: () => '', leashes: {}, reader: {}, interrupt: ['Ctrl+C'], quit: [] }

export function screenFactsOf(spec: ScreenSpec): ScreenFacts {
  const known = spec.profile?.screen ?? stranger
  const own = ownCommand(spec)
  return { ...known, reader: readerOf(spec, known.reader), ...(own === undefined ? {} : { command: () => own }) }
}

/** Whether the profile composes the command: then the leash holds, and a thread can be resumed. */
export const composes = (spec: ScreenSpec) => spec.command === undefined && spec.profile?.screen !== undefined

/** Why it is not started at all. */
export function screenStartFailure(spec: ScreenSpec, leash: Leash): Failure | undefined {
  if (composes(spec)) return leashFailure(spec.name, leash, spec.profile?.screen)
  if (spec.command !== undefined) return undefined
  const message = `${spec.name} cannot be run in a terminal: give it a command of its own in the settings`
  return { kind: 'missing', message }
}

function readerOf({ idlePattern, readyPattern }: ScreenSpec, known: Reader): Reader {
  return { ...known, ...(idlePattern ? { idle: idlePattern } : {}), ...(readyPattern ? { ready: readyPattern } : {}) }
}

function ownCommand({ command, args }: ScreenSpec): string | undefined {
  return command === undefined || !args ? command : [command, ...args].map(quote).join(' ')
}

const quote = (word: string) => `'${word.replaceAll("'", `'\\''`)}'`
