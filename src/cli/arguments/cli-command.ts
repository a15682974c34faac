import type { Io } from '../../core/io.ts'

/**
 * One flag. `value` names its argument in the help; a flag without one is a switch. `many`: it may be repeated, and all values count;
 * `once`: it may not. For any other flag the last value counts.
 */
export type Flag = {
  short?: string
  value?: string
  choices?: readonly string[]
  many?: true
  once?: true
  help: string
}

export type Flags = Record<string, Flag>

/** One row of the table of commands. Help, completion and parsing use only this row, so that they need not load the command's code. */
export type CliCommand = {
  name: string
  summary: string
  /** The words after the name, as the help shows them. A space or `…` in them means any number of words; if missing, no words. */
  words?: string
  flags?: Flags
  examples: readonly string[]
  load(): Promise<CommandCode>
}

/** The module of one command. */
export type CommandCode = { run(io: Io, parsed: Parsed, program: Program): Promise<number> }

/** A command line after parsing: flags by their long names, and the other words. */
export type Parsed = { values: Record<string, string | boolean | string[] | undefined>; words: string[] }

/** The whole program, for commands that run or list other commands. */
export type Program = {
  /** `termaite` without a command: the chat, or one turn with -p. */
  chat: CliCommand
  commands(): Promise<readonly CliCommand[]>
  run(argv: readonly string[], io: Io): Promise<number>
}

/** The words that call a command. */
export function usage({ name }: CliCommand): string {
  return name === 'termaite' ? 'termaite' : `termaite ${name}`
}

/** Flags that many commands have. */
export const json = { json: { help: 'print JSON' } }
export const yes = { yes: { short: 'y', help: 'answer yes instead of asking' } }
