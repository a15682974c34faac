import { test } from 'node:test'
import assert from 'node:assert/strict'
import { shellWord } from '../../src/base/shell-word.ts'
import { sized } from '../full.ts'
import type { ProgramTable } from '../../src/safety/shell/reading/program-table.ts'
import type { ShellClass } from '../../src/safety/shell/shell-judgement.ts'
import { rowOf } from '../../src/safety/shell/reading/program-table.ts'
import { tables } from '../../src/safety/shell/reading/reading-programs.ts'
import { editingTables } from '../../src/safety/shell/reading/editing-tables.ts'
import { gitTables } from '../../src/safety/shell/reading/git-tables.ts'
import { findWords } from '../../src/safety/shell/reading/find.ts'
import { awkTable } from '../../src/safety/shell/reading/awk.ts'
import { sedTable } from '../../src/safety/shell/reading/sed.ts'
import { jqFlags } from '../../src/safety/shell/reading/jq.ts'
import { wrapperTables } from '../../src/safety/shell/reading/small-programs.ts'
import { judge } from '../../src/safety/shell/shell-judge.ts'
import { layProject } from './shell/project.ts'

const project = layProject()

/** A value of each kind, and one that is none. */
const samples: Readonly<Record<string, readonly [good: string, bad: string | undefined]>> = {
  N: ['3', '3x'],
  '±N': ['+3', 'a'],
  SIZE: ['4', 'four'],
  SECONDS: ['1s', 'soon'],
  RANGE: ['1-3', 'a'],
  KEY: ['2,2n', '1o'],
  NAME: ['x', '$(x)'],
  MODE: ['644', 'u+s'],
  FORMAT: ['+%s', '010203'],
  REVISION: ['HEAD', 'a b'],
  LINES: ['1,3:src/a.ts', '1,3'],
  PRETTY: ['%h', '%G?'],
  SETTING: ['user.name', 'http.extraheader'],
  FIELDS: ['pid', 'environ'],
  SHOWN: ['HOME', 'ANTHROPIC_API_KEY'],
  PRINTF: ['%s', '%n'],
  SUFFIX: ['.bak', '../x'],
  TEXT: ['x y', undefined],
  ARCHIVE: ['src/a.ts', 'host:x'],
  FILE: ['src/a.ts', '../away'],
  WRITE: ['src/new.ts', '../away'],
  REMOVE: ['src/a.ts', '../away'],
}

const good = (kind: string) => samples[kind]?.[0] ?? kind.split('|')[0]!
const bad = (kind: string) => (samples[kind] ? samples[kind][1] : 'frob')

type Way = {
  table: Omit<ProgramTable, 'names'>
  start: readonly string[]
  end?: readonly string[]
  changes?: true
  /** The value of a TEXT in this place. */ text?: string
}

/** Every table with the words before its flags and the operands that it wants. */
const ways: Way[] = [
  ...tables.map((table) => ({
    table,
    start: table.names[0]!.split(' '),
    ...(editingTables.includes(table) ? { changes: true as const } : {}),
  })),
  ...Object.entries(gitTables).map(([name, table]) => ({ table, start: ['git', ...name.split(' ')] })),
  { table: sedTable, start: ['sed'], end: ['-e', '1p', 'src/a.ts'], changes: true as const, text: '1p' },
  { table: awkTable, start: ['awk'], end: ['{print $1}', 'src/a.ts'], text: 'x=1' },
  { table: wrapperTables.timeout, start: ['timeout'], end: ['5', 'ls'] },
  { table: wrapperTables.nice, start: ['nice'], end: ['ls'] },
]

function operandsOf(table: Way['table'], given: string): string[] {
  const { first = [], rest, least = 0 } = table.operands ?? {}
  const wanted = [...first.slice(0, Math.max(least, rest === 'FILE' ? first.length : 0))]
  while (rest !== undefined && wanted.length < Math.max(least, rest === 'FILE' ? first.length + 1 : 0))
    wanted.push(rest)
  const skipped = (table.instead ?? []).includes(given) ? 1 : 0
  return wanted.slice(skipped).map((kind) => (table.recursive && kind === 'FILE' ? 'src' : good(kind)))
}

const understood: ReadonlySet<ShellClass> = new Set(['reads', 'edits', 'removes'])

async function classOf(words: readonly string[]): Promise<{ line: string; found: ShellClass }> {
  const line = words.map(shellWord).join(' ')
  const { worst } = await judge(line, project)
  return { line, found: worst.class }
}

/** A letter that is no flag of a table. */
function strange(table: Way['table']): string {
  const used = (table.letters ?? '') + (table.rows ?? []).map((row) => row.slice(1, 2)).join('')
  return [...'JYQKDXVyjk'].find((letter) => !used.includes(letter)) ?? '#'
}

/** The setting of a value that makes a flag of `git config` alone complete. */
const alone = (start: readonly string[]) => (start.join(' ') === 'git config' ? ['--get', 'user.name'] : [])

test('each row of each table is understood as it is written', async () => {
  const wrong: unknown[] = []
  let rows = 0
  for (const { table, start, end, changes, text } of ways) {
    if (table.free) continue
    const forms = [...[...(table.letters ?? '')].map((letter) => `-${letter}`), ...(table.rows ?? [])].map((row) => ({
      ...rowOf(row),
      row,
    }))
    for (const { flag, joint, kind, row } of forms) {
      const value = kind === undefined ? undefined : kind === 'TEXT' ? (text ?? good(kind)) : good(kind)
      const words = value === undefined ? [flag] : joint === ' ' ? [flag, value] : [`${flag}${joint}${value}`]
      const { line, found } = await classOf([...start, ...words, ...alone(start), ...(end ?? operandsOf(table, flag))])
      rows++
      if (found !== 'reads' && !(changes && understood.has(found))) wrong.push({ row, line, found })
    }
    const { line, found } = await classOf([...start, ...alone(start), ...(end ?? operandsOf(table, ''))])
    if (found !== 'reads' && !(changes && understood.has(found))) wrong.push({ line, found })
  }
  assert.deepEqual(wrong, [])
  assert.ok(rows > 900, `${rows} rows`)
})

test('a row that is changed by one sign is not understood', async () => {
  const wrong: unknown[] = []
  let count = 0
  const refused = async (row: string, words: readonly string[]) => {
    count++
    const { line, found } = await classOf(words)
    if (understood.has(found)) wrong.push({ row, line, found })
  }
  for (const { table, start, end } of ways) {
    if (table.free) continue
    const all = new Set((table.rows ?? []).map((row) => rowOf(row).flag))
    const letters = table.letters ?? ''
    const odd = strange(table)
    const rest = (flag: string) => [...alone(start), ...(end ?? operandsOf(table, flag))]
    await refused('a flag that is no row', [...start, '--frobnicate', ...rest('')])
    await refused('a letter that is no row', [...start, `-${odd}`, ...rest('')])
    for (const letter of letters) {
      await refused(`-${letter}`, [...start, `-${letter}${odd}`, ...rest('')])
      await refused(`-${letter}`, [...start, `-${odd}${letter}`, ...rest('')])
      if (table.apart) await refused(`-${letter}`, [...start, `-${letter}${letters[0]!}`, ...rest('')])
    }
    for (const text of table.rows ?? []) {
      const { flag, joint, kind } = rowOf(text)
      const wrongValue = kind === undefined ? undefined : bad(kind)
      if (wrongValue !== undefined) {
        const words = joint === ' ' ? [flag, wrongValue] : [`${flag}${joint}${wrongValue}`]
        await refused(text, [...start, ...words, ...rest(flag)])
      }
      if (!flag.startsWith('--')) continue
      // Abbreviated, as getopt would still take it.
      for (let length = 4; length < flag.length; length += sized(4, 1)) {
        const short = flag.slice(0, length)
        if (all.has(short)) continue
        const value = kind === undefined ? [] : joint === ' ' ? [good(kind)] : []
        const attached = kind !== undefined && joint === '=' ? `=${good(kind)}` : ''
        await refused(text, [...start, `${short}${attached}`, ...value, ...rest(flag)])
      }
      const hasEquals = (table.rows ?? []).some((row) => row.startsWith(`${flag}=`))
      if (kind === undefined && !hasEquals) await refused(text, [...start, `${flag}=x`, ...rest(flag)])
      if (joint === ' ' && !(table.rows ?? []).includes(flag)) await refused(text, [...start, ...rest(flag), flag])
      await refused(text, [...start, `${flag}x`, ...rest(flag)])
    }
  }
  assert.deepEqual(wrong, [])
  assert.ok(count > sized(2000, 4000), `${count} changes`)
})

test('each test of find is understood, and no other', async () => {
  const values: Record<string, string> = {
    '-type': 'f',
    '-size': '+1k',
    '-perm': '644',
    '-user': 'me',
    '-group': 'me',
    '-regextype': 'posix-extended',
  }
  const wrong: unknown[] = []
  for (const [word, wanted] of Object.entries(findWords)) {
    const value = wanted === undefined ? [] : [values[word] ?? (wanted === 'FILE' ? 'src/a.ts' : '3')]
    const { line, found } = await classOf(['find', 'src', word, ...value])
    if (found !== 'reads') wrong.push({ line, found })
    if (!word.startsWith('-')) continue
    const changed = await classOf(['find', 'src', `${word}x`, ...value])
    if (understood.has(changed.found)) wrong.push(changed)
    if (value.length === 0) continue
    const missing = await classOf(['find', 'src', word])
    if (understood.has(missing.found)) wrong.push(missing)
  }
  for (const word of [
    '-exec',
    '-execdir',
    '-ok',
    '-okdir',
    '-fprint',
    '-fprint0',
    '-fprintf',
    '-fls',
    '-files0-from',
    '-L',
    '-newerXY',
    '-context',
  ])
    for (const more of [[], ['x'], ['x', 'y'], ['ls', ';']]) {
      const { line, found } = await classOf(['find', 'src', word, ...more])
      if (found === 'reads') wrong.push({ line, found })
    }
  assert.deepEqual(wrong, [])
})

test('each flag of jq is understood, and no other', async () => {
  const wrong: unknown[] = []
  for (const flag of [...[...jqFlags.letters].map((letter) => `-${letter}`), ...jqFlags.whole]) {
    const { line, found } = await classOf(['jq', flag, '.', 'data.json'])
    if (found !== 'reads') wrong.push({ line, found })
    const changed = await classOf(['jq', `${flag}x`, '.', 'data.json'])
    if (understood.has(changed.found)) wrong.push(changed)
  }
  for (const flag of ['-f', '--from-file', '-L', '--slurpfile', '--rawfile', '--args', '--jsonargs', '--argfile'])
    if (understood.has((await classOf(['jq', flag, 'x', 'data.json'])).found)) wrong.push(flag)
  assert.deepEqual(wrong, [])
})
