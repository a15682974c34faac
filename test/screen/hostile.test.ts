import type { TestContext } from 'node:test'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Machine } from '../cli/program.ts'
import { ProgramWindow, keys } from './program-window.ts'
import { lastWords, recordedClaude } from './machine.ts'

const options = { timeout: 120_000 }

/**
 * Sequences that would change something outside the transcript if they reached the terminal; `owned` is the text that they would leave
 * there.
 */
const attacks = [
  ...['\x1b]0;owned\x07', '\x1b]2;owned\x1b\\', '\x9d0;owned\x9c', '\x1b]52;c;b3duZWQ=\x07', '\x1b]1337;SetMark\x07'],
  ...['\x1b[?1049l', '\x1b[?47l', '\x1b[?1000l', '\x1b[?2026h', '\x1b[?25h', '\x1b[2J', '\x1b[3J', '\x1bc', '\x9b2J'],
  ...['\x1b[1;1Howned', '\x1b[30Aowned', '\x1b[2;4r', '\x1b[6n', '\x1b[c', '\x1b[?u', '\x1b7', '\x1b#8', '\x1b(0'],
  ...['\x1bPowned\x1b\\', '\x1b_owned\x1b\\', '\x1b^owned\x1b\\', '\x1b]8;;https://evil.example\x07here\x1b]8;;\x07'],
  ...['\x07', '\x00', '\x0e', '\x0c', '\x0b', '\b\b\b\b', '\x7f', '\u202egnp.exe\u202c', '\u2066', '\u2028', '\u200b'],
]

/** All of it between words, and after that what only looks odd. */
const wild = Buffer.concat([
  Buffer.from(attacks.map((attack, at) => `word${at} ${attack} after${at}\n`).join('')),
  Buffer.from('once \roverwritten\n'),
  Buffer.from('wide 你好你好 👨‍👩‍👧 🇩🇪, combined e\u0301 Z\u0351\u036b\u0343, from the right עברית العربية\n'),
  Buffer.from([0x62, 0x61, 0x64, 0x20, 0xff, 0xc3, 0x28, 0xf0, 0x9f, 0x20, 0xed, 0xa0, 0x80, 0x0a]),
  Buffer.from('the last word \x1b]0;owned and never ended'),
])

/** The sequences of the program itself beside colours and positions: it takes the terminal, asks it, and gives it back. */
const own = [
  ...['?1049h', '?7l', '?1000h', '?1002h', '?1003h', '?1004h', '?1006h', '2J', '?25l', '?2004h', '>7u', '?u', 'c'],
  ...['?2026h', '2K', '?2026l', '?2031h', '?2031l', '?1006l', '?1004l', '?1003l', '?1002l', '?1000l', '?7h', '?25h'],
  ...['?2004l', '<u', '?1049l', '>4;2m', '>4;0m'],
].map((sequence) => `\x1b[${sequence}`)

const sequence = /\x1b(?:\[[<-?]*[\d;:]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[PX^_][^\x1b]*\x1b\\|[^])/g

/** The sequences of an output that are none of ours, and the control characters between them. */
function foreign(raw: string): string[] {
  const ours = /^\x1b(?:\[[\d;]*[mH]|\]8;;(?:\x07|\x1b\\)|\]11;\?(?:\x07|\x1b\\))$/
  const others = [...raw.matchAll(sequence)].map(([found]) => found).filter((found) => !ours.test(found))
  const rest = raw.replaceAll(sequence, '').replaceAll(/[^\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]|\r*\n/g, '')
  return [...others.filter((found) => !own.includes(found)), ...rest]
}

/** Watches the state that a terminal keeps beside its screen. */
function watched(t: TestContext, machine: Machine, env: Record<string, string> = {}) {
  const window = new ProgramWindow(machine, { env })
  t.after(() => window.end())
  const touched: string[] = []
  window.emulator.onTitleChange((title) => touched.push(`title ${title}`))
  window.emulator.onBell(() => touched.push('bell'))
  window.emulator.parser.registerOscHandler(52, (data) => touched.push(`clipboard ${data}`) > 0)
  return { window, touched }
}

/**
 * The title is above everything, below the last rule is nothing but the input or a card, whose rows have an inset, and the last row says
 * how things stand. Between them only the scroll bar is in the last column.
 */
function assertWhole(window: ProgramWindow): void {
  const rows = window.rows()
  const { cols } = window.emulator
  const last = rows.findLastIndex((row) => row.startsWith('──'))
  const isRule = (row: string) => row.length === cols && /^──(?: .+ )?─+$/.test(row)
  assert.match(rows[0]!, /^── termaite · .+ ─+$/, window.text())
  assert.deepEqual([isRule(rows[0]!), isRule(rows[last]!), last > 0], [true, true, true], window.text())
  const wide = rows.slice(1, last).filter((row) => row.length >= cols && !isRule(row) && !/[│┃]$/.test(row))
  const loose = rows.slice(last + 1).filter((row) => row !== '' && !row.startsWith(' '))
  assert.deepEqual([wide, loose], [[], []], window.text())
  assert.match(rows.at(-1)!, /^ chat · /)
}

test('output of an agent is shown as text, whatever it is', options, async (t) => {
  const machine = new Machine(t)
  const file = join(machine.folder, 'wild')
  writeFileSync(file, wild)
  machine.agents({
    wild: `case ${lastWords} in
      'fail please') cat ${file} >&2; exit 3;;
      'go on') head -c 1000000 /dev/zero | tr '\\0' x;;
      *) cat ${file};;
      esac`,
  })
  const { window, touched } = watched(t, machine)
  await window.shows(/next wild/)
  window.type('show it\r')
  await window.shows(/─ wild · /)
  assertWhole(window)
  await window.shows('the last word')
  await window.shows('wide 你好你好')
  window.type(keys.pageUp)
  await window.shows(/word3\d +after3\d/)
  assertWhole(window)
  window.type('go on\r')
  await window.shows(/x{70}[^]*─ wild · .*~250k tokens/)
  assertWhole(window)
  window.type('fail please\r')
  await window.shows(/✗/)
  assertWhole(window)
  window.type('/exit\r')
  await window.exited
  assert.deepEqual([foreign(window.raw), touched], [[], []])
  assert.match(window.scrollback(), /Continue with: /)
})

test('names of tools and files are shown as text, also those in the project', options, async (t) => {
  const evil = 'x\x1b]0;owned\x07\x1b[1;1Howned\n\x9b2J\u202ey'
  const { machine, env } = recordedClaude(t, [
    ['"Edit"', JSON.stringify(evil)],
    ['a.txt', JSON.stringify(evil).slice(1, -1)],
  ])
  for (const name of [`file${evil}.md`, 'file\u202egnp.md', 'fileline\nbreak.md'])
    writeFileSync(join(machine.project, name), '')
  const { window, touched } = watched(t, machine, env)
  await window.shows(/next claude/)
  window.type('see @file')
  await window.shows(/› file⟨U\+202E⟩gnp\.md/)
  assert.doesNotMatch(window.text(), /break\.md|owned/)
  window.type(keys.escape)
  await window.shows((screen) => !screen.includes('›'))
  window.type('\x15play change\r')
  await window.shows(/claude asks[^]*Yes, once[^]*Enter answers/)
  assertWhole(window)
  window.type(keys.enter)
  await window.shows(/─ claude · /)
  window.type(keys.ctrlO)
  await window.shows('⎯⎯')
  assertWhole(window)
  assert.deepEqual([foreign(window.raw), touched], [[], []])
})

test('the chat in lines prints nothing but text either', options, async (t) => {
  const machine = new Machine(t)
  const file = join(machine.folder, 'wild')
  writeFileSync(file, wild)
  machine.agents({ wild: `cat >/dev/null; cat ${file}` })
  const { window, touched } = watched(t, machine, { TERM: 'dumb' })
  await window.shows(/^>/m)
  window.type('show it\r')
  await window.shows('the last word')
  window.type('/exit\r')
  await window.exited
  // The cursor goes back to where the line that is typed begins.
  assert.deepEqual([foreign(window.raw.replaceAll('\r', '')), touched], [[], []])
})
