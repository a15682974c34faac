import type { Parsed } from './args.ts'
import type { Io } from '../core/io.ts'

/** The whole program, for a command that runs others. */
export type Program = (argv: readonly string[], io: Io) => Promise<number>

export type CommandCode = { run(io: Io, parsed: Parsed, program: Program): Promise<number> }
