import { test } from 'node:test'
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, lstatSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { memoryFile, noteText, unreadWords, withNote, writeMemory } from '../../src/app/memory/memory-file.ts'
import { addNote, ChangedMeanwhile } from '../../src/app/memory/memory-turn.ts'
import { claude } from '../../src/profiles/claude/claude.ts'
import { codex } from '../../src/profiles/codex/codex.ts'
import { realClock } from '../../src/base/time/clock.ts'
import { isNote } from '../../src/core/talk/command.ts'
import { groundOf } from '../native/loop/ground.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

test('a note is an item of the list that the file ends with, or begins one', () => {
  const file = (text?: string) => ({ name: 'AGENTS.md', path: '/x', ...(text === undefined ? {} : { text }) })
  const cases: [string | undefined, string, string][] = [
    [undefined, 'use pnpm', '# AGENTS.md\n\n- use pnpm\n'],
    ['', 'use pnpm', '# AGENTS.md\n\n- use pnpm\n'],
    ['# Rules\n\nText', 'use pnpm', '# Rules\n\nText\n\n- use pnpm\n'],
    ['# Rules\n\n- one\n\n\n', 'two', '# Rules\n\n- one\n- two\n'],
    ['- one\n  more\n', 'two\nlines', '- one\n  more\n- two\n  lines\n'],
    ['# R\r\n\r\n- one\r\n', 'two', '# R\r\n\r\n- one\r\n- two\r\n'],
    ['x\n', '- mine', 'x\n\n- mine\n'],
  ]
  for (const [text, note, after] of cases) assert.equal(withNote(file(text), note), after)
  assert.equal(noteText('  a\u001b[31mb \r\n c  '), 'ab\n c')
})

test('a line with one # is a note; headings, shebangs and longer texts are prompts', () => {
  const notes = ['#use pnpm', '# use pnpm', '#12 is broken'].map(isNote)
  const prompts = ['#', '# ', '## Title', '#!/bin/sh', '# Title\n\ntext', 'a #b', ''].map(isNote)
  assert.deepEqual([notes, prompts], [notes.map(() => true), prompts.map(() => false)])
})

test('the file of a project: AGENTS.md, or what stands for it, through links that stay inside', (t) => {
  const { at, write, ground } = groundOf(t, { 'outside/AGENTS.md': 'x' })
  const found = () => memoryFile('project', ground)
  assert.deepEqual(found(), { name: 'AGENTS.md', path: at('repo/AGENTS.md') })
  write('repo/GEMINI.md', 'g')
  assert.deepEqual(found(), { name: 'GEMINI.md', path: at('repo/GEMINI.md'), text: 'g' })
  write('repo/CLAUDE.md', 'c')
  assert.deepEqual(found(), { name: 'CLAUDE.md', path: at('repo/CLAUDE.md'), text: 'c' })
  symlinkSync('CLAUDE.md', at('repo/AGENTS.md'))
  assert.deepEqual(found(), { name: 'AGENTS.md', path: at('repo/CLAUDE.md'), text: 'c' })
  writeMemory(found(), 'new', 0)
  assert.deepEqual(
    [readFileSync(at('repo/CLAUDE.md'), 'utf8'), lstatSync(at('repo/AGENTS.md')).isSymbolicLink()],
    ['new', true],
  )
  const fails = (make: () => void) => {
    rmSync(at('repo/AGENTS.md'))
    make()
    golden.throws(t, found, { [at('outside')]: '<outside>' })
  }
  fails(() => symlinkSync(at('outside/AGENTS.md'), at('repo/AGENTS.md')))
  fails(() => symlinkSync('nowhere', at('repo/AGENTS.md')))
  fails(() => execFileSync('mkfifo', [at('repo/AGENTS.md')]))
  fails(() => write('repo/AGENTS.md', 'x'.repeat(2 ** 21)))
  assert.deepEqual(memoryFile('own', ground), { name: 'your own TERMAITE.md', path: at('home/TERMAITE.md') })
})

test('a note is written in one step with the file’s rights, and not over what changed meanwhile', (t) => {
  const { at, write, ground } = groundOf(t, { 'repo/AGENTS.md': '- one\n' })
  chmodSync(at('repo/AGENTS.md'), 0o640)
  const app = { place: ground, io: { clock: realClock } } as never
  const shown = memoryFile('project', ground)
  write('repo/AGENTS.md', '- one\n- other\n')
  assert.throws(() => addNote(app, { owner: 'project', shown, note: 'two' }), ChangedMeanwhile)
  assert.equal(readFileSync(at('repo/AGENTS.md'), 'utf8'), '- one\n- other\n')
  addNote(app, { owner: 'project', shown: memoryFile('project', ground), note: 'two' })
  assert.deepEqual(
    [readFileSync(at('repo/AGENTS.md'), 'utf8'), statSync(at('repo/AGENTS.md')).mode & 0o777],
    ['- one\n- other\n- two\n', 0o640],
  )
})

test('agents that do not read the file are named, unless their own file leads to it', (t) => {
  const { write, ground } = groundOf(t, { 'repo/AGENTS.md': 'x' })
  const readers = [{ name: 'cl', profile: claude }, { name: 'co', profile: codex }, { name: 'own' }]
  const said = () => unreadWords(memoryFile('project', ground), ground.root, readers)
  golden(t, said())
  write('repo/CLAUDE.md', '# Claude\n@AGENTS.md\n')
  assert.deepEqual(said(), [])
})
