import { test } from 'node:test'
import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { opening, systemText } from '../../../src/native/loop/session-opening.ts'
import { contextChanges } from '../../../src/native/loop/context-changes.ts'
import type { ToldItem } from '../../../src/native/loop/context-changes.ts'
import { groundOf } from './ground.ts'
import { goldenOf } from '../../golden.ts'

const golden = goldenOf(import.meta.filename)

const files = {
  'home/TERMAITE.md': 'Be kind.',
  'home/agents/reviewer.md': '---\ndescription: Reviews.\n---\nYou review.',
  'home/skills/notes/SKILL.md': '---\nname: notes\ndescription: Takes notes.\n---\nWrite.',
  'repo/AGENTS.md': 'HOSTILE',
  'repo/sub/termaite.md': 'HOSTILE',
  'repo/.agents/skills/evil/SKILL.md': '---\nname: evil\ndescription: HOSTILE\n---\nHOSTILE',
}
const day = { mode: 'agent' as const, date: '2026-11-15', meta: 'Close well.' }

test('a session begins with the instructions, skills and subagents of its place, and with the same bytes every time', (t) => {
  const { at, ground } = groundOf(t, files)
  const first = opening(ground, day)
  assert.equal(opening(ground, day).system, first.system)
  assert.deepEqual(first.warnings, [])
  assert.deepEqual(
    first.tells.map(({ about }) => about),
    [
      at('home/TERMAITE.md'),
      at('repo/AGENTS.md'),
      at('repo/sub/termaite.md'),
      'skill evil',
      'skill notes',
      'subagent reviewer',
    ],
  )
  assert.deepEqual(
    first.skills.map(({ name }) => name),
    ['evil', 'notes'],
  )
  assert.deepEqual(
    first.subagents.map(({ name }) => name),
    ['reviewer'],
  )
  const order = ['## Answers', 'Close well.', '<subagents>', '<skills>', '<instructions path=', 'Project directory: ']
  const places = order.map((text) => first.system.indexOf(text))
  assert.deepEqual(
    places,
    places.toSorted((a, b) => a - b),
  )
  assert.ok(places[0]! > 0)
})

test('the opening contains nothing of an untrusted project', (t) => {
  const { ground } = groundOf(t, files)
  const untrusted = opening({ ...ground, trusted: false }, day)
  assert.equal(untrusted.system.includes('HOSTILE'), false)
  assert.deepEqual(
    untrusted.skills.map(({ name }) => name),
    ['notes'],
  )
  assert.deepEqual([untrusted.warnings.length, untrusted.untrusted?.startsWith('AGENTS.md')], [1, true])
})

test('a subagent is offered no subagents, and an empty place adds nothing to the prompt', (t) => {
  const { ground } = groundOf(t, files)
  assert.deepEqual(opening(ground, { ...day, mode: 'subagent' }).subagents, [])
  const bare = groundOf(t).ground
  assert.equal(opening(bare, day).system, systemText({ ...day, cwd: bare.cwd }))
})

test('a later change is told after the messages, once each time', (t) => {
  const { at, write, ground } = groundOf(t, files)
  let told: ToldItem[] = opening(ground, day).tells
  const said = (trusted = true) => {
    const found = contextChanges(told, opening({ ...ground, trusted }, day).tells)
    told = [...told, ...found]
    return found.map(({ text }) => text)
  }
  assert.deepEqual(said(), [])
  write('repo/AGENTS.md', 'new')
  write('home/skills/pdf/SKILL.md', '---\nname: pdf\ndescription: Reads.\n---\nx')
  rmSync(at('repo/sub/termaite.md'))
  golden(t, said(), { [ground.root]: '<ground>', [ground.home]: '<home>' })
  assert.deepEqual(said(), [])
  write('repo/AGENTS.md', 'HOSTILE')
  write('repo/sub/termaite.md', 'HOSTILE')
  golden(t, said(), { [ground.root]: '<ground>' })
  assert.deepEqual(said(false), [
    `No longer valid: ${at('repo/AGENTS.md')}`,
    `No longer valid: ${at('repo/sub/termaite.md')}`,
    'No longer valid: skill evil',
  ])
  assert.deepEqual(said(false), [])
})

test('an instruction file that only grew is told by its new lines alone', (t) => {
  const { write, ground } = groundOf(t, { 'repo/AGENTS.md': '# Rules\n\n- one\n' })
  const tells = () => opening(ground, { mode: 'agent', date: '2026-01-01' }).tells
  const before = tells()
  const known = new Map(before.map((item) => [item.about, item]))
  write('repo/AGENTS.md', '# Rules\n\n- one\n- two\n')
  const [grown] = contextChanges(before, tells(), known)
  golden(t, grown, { [ground.root]: '<ground>', [tells()[0]!.hash]: '<hash>' })
  write('repo/AGENTS.md', '# Rules\n\n- other\n- two\n')
  const [changed] = contextChanges(before, tells(), known)
  golden(t, changed!.text, { [ground.root]: '<ground>' })
  // A process that never saw the file as it was told has only its hash.
  write('repo/AGENTS.md', '# Rules\n\n- one\n- two\n')
  golden(t, contextChanges(before, tells())[0]!.text, { [ground.root]: '<ground>' })
})
