import type { Clock } from '../../base/time/clock.ts'
import type { Profile, ScreenFacts } from '../../core/profile/profile.ts'
import type { Reader } from '../../core/screen/reading.ts'
import type { TerminalHost } from '../../core/screen/terminal.ts'
import type { Failure } from '../../core/talk/outcome.ts'
import type { Leash, RosterSeat } from '../../core/work/agent.ts'
import type { Effort } from '../../core/profile/effort.ts'
import type { Seat } from '../seat.ts'
import type { Lend } from '../lent-server.ts'
import type { Enclose } from '../enclosure.ts'
import { quotedWord } from '../../base/text/shell-word.ts'
import { leashFailure } from '../process-failure.ts'

/**
 * An agent of the settings that runs in a terminal. A `command` runs exactly as written, with `args` as an argv; without it the profile
 * composes the interactive command from the leash. The patterns override those of the profile.
 */
export type ScreenSpec = {
  name: string
  command?: string
  args?: readonly string[]
  env?: Record<string, string>
  /** Environment variables that are hidden from the program: keys of other vendors. */
  withheld?: readonly string[]
  window: number
  timeoutMs: number
  silenceMs: number
  profile?: Profile
  model?: string
  /** How hard the CLI's model should think. */
  effort?: Effort
  idlePattern?: RegExp
  busyPattern?: RegExp
  readyPattern?: RegExp
  /** Whether the agent is asked to put its answer between marks. */
  fence?: boolean
  /** The text that is added after every prompt of a person. */
  metaInstruction?: string
  /** Folders that the person added to the project. */
  folders?: readonly string[]
}

export type ScreenSeat = Pick<RosterSeat, 'cwd' | 'leash' | 'resume' | 'terminal' | 'model'> & Pick<Seat, 'began'>

export type ScreenParts = {
  /** Called when the first terminal is needed. */
  host(): Promise<TerminalHost>
  clock: Clock
  /** The folder of the CLI's journals. */
  home: string
  env: Readonly<Record<string, string | undefined>>
  /** Puts the CLI into a sandbox if it needs one. */
  enclose?: Enclose
  lend?: Lend
  /** A folder for prompts that are too long to be pasted. */
  temp: string
  /** Whether a file below the folder changed since that time: some work has no other visible sign. */
  changed?(cwd: string, since: number): Promise<boolean>
}

/** The facts of a program without a profile. Ctrl+C interrupts it, because in a shell Escape would begin another key. */
const unknownProgram: ScreenFacts = { command: () => '', leashes: {}, reader: {}, interrupt: ['Ctrl+C'], quit: [] }

export function screenFactsOf(spec: ScreenSpec): ScreenFacts {
  const known = spec.profile?.screen ?? unknownProgram
  const own = ownCommand(spec)
  return { ...known, reader: readerOf(spec, known.reader), command: own === undefined ? known.command : () => own }
}

/** Whether the profile composes the command: then the leash is enforced, and the thread can be resumed. */
export const composes = (spec: ScreenSpec) => spec.command === undefined && spec.profile?.screen !== undefined

/** The reason not to start an agent at all. */
export function screenStartFailure(spec: ScreenSpec, leash: Leash): Failure | undefined {
  if (composes(spec)) return leashFailure(spec.name, leash, spec.profile?.screen)
  if (spec.command !== undefined) return undefined
  const message = `${spec.name} cannot be run in a terminal: give it an interactive "command" in the settings`
  return { kind: 'missing', message }
}

function readerOf({ idlePattern, busyPattern, readyPattern }: ScreenSpec, known: Reader): Reader {
  return {
    ...known,
    idle: idlePattern ?? known.idle,
    busy: busyPattern ?? known.busy,
    ready: readyPattern ?? known.ready,
  }
}

function ownCommand({ command, args }: ScreenSpec): string | undefined {
  return command === undefined || !args ? command : [command, ...args].map(quotedWord).join(' ')
}
