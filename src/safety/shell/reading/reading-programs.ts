import type { ProgramTable, ReadingProgram } from './program-table.ts'
import { awk, awkTable } from './awk.ts'
import { copies, editingTables } from './editing-tables.ts'
import { fileTables } from './file-tables.ts'
import { find } from './find.ts'
import { git } from './git-tables.ts'
import { jq } from './jq.ts'
import { program } from './program-table.ts'
import { searchTables } from './search-tables.ts'
import { sed, sedTable } from './sed.ts'
import { cd, shell, testing, wrapper } from './small-programs.ts'
import { systemTables } from './system-tables.ts'
import { textTables } from './text-tables.ts'

/** All tables whose rows say everything about a program. */
export const tables: readonly ProgramTable[] = [
  ...textTables,
  ...fileTables,
  ...systemTables,
  ...searchTables,
  ...editingTables,
]

const own: readonly (readonly [string, ReadingProgram])[] = [
  ['find', find],
  ['cp', copies(false)],
  ['mv', copies(true)],
  ['git', git],
  ['jq', jq],
  ['test', testing(false)],
  ['[', testing(true)],
  ['cd', cd],
  ['timeout', wrapper('timeout')],
  ['nice', wrapper('nice')],
  ['time', wrapper('time')],
  ...['bash', 'sh', 'dash'].map((name) => [name, shell] as const),
  ...sedTable.names.map((name) => [name, sed] as const),
  ...awkTable.names.map((name) => [name, awk] as const),
]

/** Programs that are known to only read, by name; a name of two words is a program with its first argument. */
export const readingPrograms: ReadonlyMap<string, ReadingProgram> = new Map([
  ...own,
  ...tables.flatMap((table) => table.names.map((name) => [name, program(table)] as const)),
])

/** Commands of the shell itself, which no file can replace. */
export const builtins: ReadonlySet<string> = new Set([
  'echo',
  'printf',
  'true',
  'false',
  ':',
  'test',
  '[',
  'cd',
  'pwd',
  'type',
  'command',
])
