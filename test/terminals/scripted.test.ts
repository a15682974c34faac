import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { Program } from './scripted-terminals.ts'
import { keyBytes } from '../../src/terminals/program/terminal-keys.ts'
import { scriptedTerminals } from './scripted-terminals.ts'
import { terminalContract } from '../contract/terminal.ts'
import { scripted } from './programs.ts'

const { host, commands } = scripted

terminalContract('a scripted terminal', () => ({
  host: host(),
  cwd: '/somewhere/project',
  commands,
}))

test('the screen folds long lines, shows the last rows, and can be wiped', async () => {
  const draws: Program = async (tty) => {
    tty.print('gone\n')
    tty.clear()
    tty.print('abcdef\n\n123')
    await tty.read()
    return 0
  }
  const terminal = await scriptedTerminals(() => draws).open('draws', { cwd: '/' })
  await terminal.resize(4, 5)
  assert.deepEqual(await terminal.screen(), {
    rows: ['abcd', 'ef', '', '123', ''],
    cols: 4,
    cursor: { row: 3, col: 3 },
  })
  await terminal.resize(4, 2)
  assert.deepEqual((await terminal.screen()).rows, ['', '123'])
  await terminal.close()
  assert.deepEqual(await terminal.exited, { signal: 1 })
})

test('a program that throws exits with 1 and shows its error; a person’s keys are noticed', async () => {
  const terminals = host()
  const terminal = await terminals.open('breaks', { cwd: '/' })
  assert.deepEqual(await terminal.exited, { code: 1 })
  assert.equal((await terminal.screen()).rows[0], 'Error: no such program')
  ;(await terminals.find(terminal.id))!.touch(42)
  assert.equal(await terminal.touched(), 42)
})

test('keys as a terminal sends them', () => {
  assert.deepEqual(
    ['Enter', 'Escape', 'Tab', 'Up', 'Down', 'Left', 'Right', 'Ctrl+C', 'Ctrl+D', 'y'].map((key) => keyBytes(key)),
    ['\r', '\u001b', '\t', '\u001b[A', '\u001b[B', '\u001b[D', '\u001b[C', '\u0003', '\u0004', 'y'],
  )
})
