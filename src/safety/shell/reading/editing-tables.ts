import type { Word } from '../simple-command.ts'
import type { ProgramTable, ReadingProgram } from './program-table.ts'
import { basename } from 'node:path'
import { only } from '../simple-command.ts'
import { not, take } from './program-table.ts'

/** Programs that change files of the project, and nothing else. None of them can make a link. */
export const editingTables: readonly ProgramTable[] = [
  {
    names: ['mkdir'],
    letters: 'pv',
    rows: ['-m <MODE>', '--mode=<MODE>', '--parents', '--verbose'],
    operands: { rest: 'WRITE', least: 1 },
  },
  {
    names: ['touch'],
    letters: 'acm',
    rows: ['-t <N>', '-d <TEXT>', '--date=<TEXT>', '--no-create'],
    operands: { rest: 'WRITE', least: 1 },
  },
  { names: ['tee'], letters: 'a', rows: ['--append'], operands: { rest: 'WRITE' } },
  {
    names: ['chmod'],
    letters: 'Rvcf',
    rows: ['--recursive', '--verbose'],
    operands: { first: ['MODE'], rest: 'WRITE', least: 2 },
  },
  {
    names: ['rm'],
    letters: 'dfirRv',
    rows: ['--force', '--recursive', '--verbose', '--dir'],
    operands: { rest: 'REMOVE', least: 1 },
  },
  {
    names: ['rmdir'],
    letters: 'pv',
    rows: ['--parents', '--verbose', '--ignore-fail-on-non-empty'],
    operands: { rest: 'REMOVE', least: 1 },
  },
  { names: ['unlink'], operands: { first: ['REMOVE'], least: 1 } },
  { names: ['truncate'], letters: 'c', rows: ['-s <SIZE>', '--size=<SIZE>'], operands: { rest: 'REMOVE', least: 1 } },
]

const copyTable = {
  names: ['cp', 'mv'],
  letters: 'finuvp',
  rows: ['--force', '--no-clobber', '--update', '--verbose', '--preserve'],
} as const

/** `cp` and `mv` of plain files. A link that is moved may lead elsewhere from its new place, and a folder may hold links. */
export const copies =
  (moves: boolean): ReadingProgram =>
  (args, around) => {
    const taken = take(copyTable, args, around)
    if ('not' in taken) return taken
    if (moves && taken.given.has('-p')) return not('its flag -p is not understood')
    const target = taken.operands.at(-1)
    const sources = taken.operands.slice(0, -1)
    const into = only(target)
    if (sources.length === 0 || into === undefined) return not('termaite does not know where it writes')
    const names = sources.flatMap((word) => (word.glob ? around.matches(word) : (word.values ?? [])))
    if (names.length === 0 || names.some((name) => !around.isPlainFile(name)))
      return not('it takes more than plain files')
    // In a folder the file keeps its name, and a link of that name would be followed.
    const inside: Word[] = names.map((name) => ({ text: name, values: [`${into}/${basename(name)}`] }))
    if (around.mayBeFolder(into) && !around.isFolder(into)) return not('termaite does not know where it writes')
    const writes = around.isFolder(into) ? inside : [target!]
    return moves ? { files: [], trees: [], writes: [...writes, ...sources] } : { files: sources, trees: [], writes }
  }
