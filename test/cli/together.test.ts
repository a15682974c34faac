import { test } from 'node:test'
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { Machine, ended } from './program.ts'
import { sized } from '../full.ts'

const turns = sized(30, 500)
const talker = join(import.meta.dirname, 'talker.ts')
const cached = join(import.meta.dirname, '..', 'fixtures', 'cached.cjs')

test(`two processes, ${turns} turns each, one project: every pair is there, none lost or torn`, async (t) => {
  const machine = new Machine(t)
  const huge = 1_000_000_000
  machine.settings({
    metaInstruction: false,
    agents: [{ name: 'last', command: 'grep -A1 "from=.user." | tail -n 1', contextWindowTokens: huge }],
  })
  const talk = (word: string) =>
    ended(
      spawn(
        process.execPath,
        ['--disable-warning=ExperimentalWarning', '--require', cached, talker, String(turns), word],
        {
          cwd: machine.project,
          env: { PATH: process.env.PATH!, HOME: machine.folder, TERMAITE_KEYCHAIN: 'off', TERMAITE_HOME: machine.home },
          stdio: ['ignore', 'pipe', 'pipe'],
        },
      ),
    )
  const ran = await Promise.all([talk('left'), talk('right')])
  assert.deepEqual(
    ran,
    [0, 1].map(() => ({ code: 0, signal: null, out: '', err: '' })),
  )

  const entries = machine.history()
  assert.equal(new Set(entries.map(({ session }) => session)).size, 1, 'they share one session')
  const expected = ['left', 'right'].flatMap((word) => Array.from({ length: turns }, (_, i) => `${word} ${i}`)).sort()
  const prompts = entries.filter((entry) => entry.type === 'prompt')
  assert.deepEqual(prompts.map(({ text }) => text).sort(), expected)
  const replies = new Map(
    entries.flatMap((entry) => (entry.type === 'reply' ? [[entry.turn, entry.text] as const] : [])),
  )
  assert.equal(replies.size, 2 * turns)
  assert.deepEqual(
    prompts.filter(({ turn, text }) => replies.get(turn) !== text),
    [],
  )
})

const lanes = 4
const prompts = sized(5, 100)

test(`four processes, ${prompts} turns each with -p, one project: every turn is recorded as it was`, async (t) => {
  const machine = new Machine(t)
  // Every fifth turn fails, so that an end of each kind is kept.
  const fails = (turn: number) => turn % 5 === 4
  machine.settings({
    metaInstruction: false,
    cooldown: { failures: 1_000 },
    agents: [
      {
        name: 'last',
        command: 'grep -A1 "from=.user." | tail -n 1 | grep -v "[49]$"',
        contextWindowTokens: 1_000_000,
      },
    ],
  })
  const lane = async (word: string) => {
    for (let turn = 0; turn < prompts; turn++)
      assert.equal((await machine.run(['-p', `${word} ${turn}`])).code, fails(turn) ? 1 : 0)
  }
  const words = Array.from({ length: lanes }, (_, lane) => `lane${lane}`)
  await Promise.all(words.map(lane))

  const entries = machine.history()
  const said = new Map(entries.flatMap((one) => (one.type === 'prompt' ? [[one.turn, one.text] as const] : [])))
  const ends = entries.flatMap((one) => {
    if (one.type !== 'end') return []
    const { outcome } = one
    return [`${said.get(one.turn)}: ${outcome.ok ? 'answered' : outcome.failure.kind}`]
  })
  const expected = words.flatMap((word) =>
    Array.from({ length: prompts }, (_, turn) => `${word} ${turn}: ${fails(turn) ? 'crash' : 'answered'}`),
  )
  assert.deepEqual(ends.sort(), expected.sort())
})
