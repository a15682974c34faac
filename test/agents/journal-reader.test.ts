import type { Journal } from '../../src/core/profile/profile.ts'
import type { TestContext } from 'node:test'
import type { Kind } from './screen-rig.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { appendFileSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { JournalReader } from '../../src/agents/screen/journal-reader.ts'
import { drawn } from '../contract/terminal.ts'
import { lacks, stageOf } from './screen-rig.ts'

const line = (value: object) => `${JSON.stringify(value)}\n`

const prompt = { text: 'look at it' }

/** Journals of two sessions that are given the same prompt. */
function twoSessions(t: TestContext) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'termaite-journals-')))
  t.after(() => rmSync(folder, { recursive: true }))
  const journal: Journal = {
    folder: () => folder,
    file: /\.jsonl$/,
    prompt: ({ prompt }) => (typeof prompt === 'string' ? prompt : undefined),
    turn: (lines) => ({ answer: String(lines.at(-1)!.answer), over: true }),
  }
  const paths = ['a', 'b'].map((name) => join(folder, `${name}.jsonl`)) as [string, string]
  for (const path of paths) writeFileSync(path, '')
  return {
    paths,
    reader: (opened?: string[]) => new JournalReader(journal, { home: '', cwd: '', env: {} }, async () => opened),
    answer: (path: string, answer: string) => appendFileSync(path, line({ prompt: prompt.text }) + line({ answer })),
  }
}

test('of two sessions that are given the same prompt, the one that our CLI has open is read', async (t) => {
  const { paths, reader, answer } = twoSessions(t)
  const readers = paths.map((path) => reader([path]))
  for (const one of readers) await one.open()
  answer(paths[1], 'of b')
  assert.deepEqual(await Promise.all(readers.map((one) => one.look(prompt, undefined))), [
    undefined,
    { answer: 'of b', over: true },
  ])
  answer(paths[0], 'of a')
  assert.deepEqual(await readers[0]!.look(prompt, undefined), { answer: 'of a', over: true })
})

test(
  'a session that only another program has open is not read',
  { skip: process.platform !== 'linux' && 'only Linux tells which files a process has open' },
  async (t) => {
    const { paths, reader, answer } = twoSessions(t)
    const [one, other] = [reader(), reader()]
    for (const each of [one, other]) await each.open()
    const held = await open(paths[1])
    answer(paths[1], 'of b')
    assert.equal(await one.look(prompt, undefined), undefined)
    await held.close()
    assert.deepEqual(await other.look(prompt, undefined), { answer: 'of b', over: true })
  },
)

for (const kind of ['tmux', 'pty'] satisfies Kind[])
  test(
    `${kind}: a terminal knows which files its program has open`,
    { skip: process.platform === 'linux' ? lacks(kind) : 'only Linux tells which files a process has open' },
    async () => {
      const stage = stageOf(kind)
      const [own, other] = ['own', 'other'].map((name) => join(stage.cwd, name)) as [string, string]
      writeFileSync(other, '')
      const terminal = await stage.host.open(`exec 3>own; echo ready; exec cat`, { cwd: stage.cwd })
      await drawn(terminal, 'ready')
      assert.deepEqual(await terminal.opened!([own, other]), [own])
      await terminal.close()
      assert.equal(await terminal.opened!([own, other]), undefined)
      await stage.close()
    },
  )
