import { test } from 'node:test'
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { realClock } from '../../src/base/clock.ts'
import { HandClock, settled } from '../../src/base/hand-clock.ts'
import type { Store } from '../../src/core/talk/store.ts'
import type { AuditEntry } from '../../src/safety/audit-log.ts'
import { Audit } from '../../src/safety/audit-log.ts'
import { openBorder } from '../../src/safety/border.ts'
import { fileStore } from '../../src/store/files/file-store.ts'
import { memoryStore } from '../../src/store/memory-store.ts'

const border = openBorder({ env: { MY_TOKEN: 'hunter2hunter2' } })
const open = (store: Store) => new Audit(store, { clock: realClock, mask: border.toward('audit') })
const done = (what: string) => ({ type: 'execution', tool: 'bash', what, ok: true, verdict: 'yes' }) as const

async function all(audit: Audit): Promise<AuditEntry[]> {
  const entries: AuditEntry[] = []
  for await (const entry of audit.export()) entries.push(entry)
  return entries
}

async function inHome(body: (home: string, path: string) => Promise<void>) {
  const home = mkdtempSync(join(tmpdir(), 'termaite-audit-'))
  try {
    await body(home, join(home, 'audit.jsonl'))
  } finally {
    rmSync(home, { recursive: true })
  }
}

test('what is done already waits a moment for more, until somebody settles, or for what cannot wait', async () => {
  const clock = new HandClock()
  const store = memoryStore()
  const audit = new Audit(store, { clock, mask: (text) => text })
  const written = async () => {
    await settled()
    return (await all(audit)).map((entry) => entry.what)
  }
  const notes = [audit.note(done('one')), audit.note(done('two'))]
  assert.deepEqual([await written(), clock.asleep], [[], 1])
  await clock.turn(100)
  await Promise.all(notes)
  assert.deepEqual(await written(), ['one', 'two'])
  const third = audit.note(done('three'))
  audit.settle()
  await third
  assert.deepEqual([await written(), clock.asleep], [['one', 'two', 'three'], 0])
  void audit.note(done('four'))
  await audit.record(done('five'))
  assert.deepEqual(await written(), ['one', 'two', 'three', 'four', 'five'])
  assert.equal((await audit.verify()).ok, true)
})

test('what was recorded is a chain, and comes out in its order', async () => {
  const audit = open(memoryStore())
  await audit.record({
    type: 'approval',
    tool: 'bash',
    what: 'curl x',
    answer: 'always',
    rule: 'bash(curl x)',
    turn: 't',
  })
  await audit.record(done('curl x'))
  const entries = await all(audit)
  assert.deepEqual(
    entries.map(({ at: _at, hash, before, ...rest }) => ({
      ...rest,
      linked: before === '0'.repeat(64) || before === entries[0]!.hash,
      sealed: hash.length,
    })),
    [
      {
        seq: 1,
        type: 'approval',
        tool: 'bash',
        what: 'curl x',
        answer: 'always',
        rule: 'bash(curl x)',
        turn: 't',
        linked: true,
        sealed: 64,
      },
      { seq: 2, type: 'execution', tool: 'bash', what: 'curl x', ok: true, verdict: 'yes', linked: true, sealed: 64 },
    ],
  )
  assert.deepEqual(await audit.verify(), { ok: true, entries: 2, faults: [] })
})

test('no secret is kept', async () => {
  const audit = open(memoryStore())
  await audit.record(done('curl -H "x: hunter2hunter2" --token ghp_abcdefghij0123456789abcdefghij'))
  const text = JSON.stringify(await all(audit))
  assert.ok(!/hunter2|abcdefghij0123/.test(text), text)
})

test('whoever changes, removes or adds a line is found out', () =>
  inHome(async (home, path) => {
    const audit = open(fileStore(home))
    await Promise.all([1, 2, 3, 4].map((n) => audit.record(done(`ls ${n}`))))
    const whole = readFileSync(path, 'utf8')
    const lines = whole.trimEnd().split('\n')
    const faults = async (next: string[]) => {
      writeFileSync(path, next.map((line) => `${line}\n`).join(''))
      return (await open(fileStore(home)).verify()).faults
    }
    assert.deepEqual(await faults(lines), [])
    assert.deepEqual(await faults(lines.map((line) => line.replace('ls 2', 'ls 9'))), [
      'entry 2 was changed after it was written',
    ])
    assert.deepEqual(await faults([lines[1]!, lines[0]!, lines[2]!, lines[3]!]), [])
    assert.deepEqual(await faults([...lines, lines[2]!]), [])
    assert.deepEqual(await faults([...lines, '{"seq":']), [`a line at byte ${whole.length} cannot be read`])
  }))

test('a line that is gone is missed, the last one too', () =>
  inHome(async (home, path) => {
    const audit = open(fileStore(home))
    for (const n of [1, 2, 3]) await audit.record(done(`ls ${n}`))
    const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
    writeFileSync(path, `${lines[0]}\n${lines[2]}\n`)
    assert.deepEqual((await open(fileStore(home)).verify()).faults, ['entry 2 is missing'])
    writeFileSync(path, '')
    const after = await open(fileStore(home)).verify()
    assert.deepEqual(after.faults, ['entry 1 is missing', 'entry 2 is missing'])
  }))

test('what a dead process sealed and did not write is written by the next', () =>
  inHome(async (home, path) => {
    await open(fileStore(home)).record(done('ls 1'))
    const whole = readFileSync(path, 'utf8')
    writeFileSync(path, '')
    await open(fileStore(home)).record(done('ls 2'))
    assert.deepEqual(readFileSync(path, 'utf8').split('\n').slice(0, 1), whole.split('\n').slice(0, 1))
    assert.deepEqual(await open(fileStore(home)).verify(), { ok: true, entries: 2, faults: [] })
  }))

test('many processes make one chain', () =>
  inHome(async (home) => {
    const source = (name: string) => join(import.meta.dirname, '..', '..', 'src', name)
    const script = `
      const { Audit } = await import(${JSON.stringify(source('safety/audit-log.ts'))})
      const { fileStore } = await import(${JSON.stringify(source('store/files/file-store.ts'))})
      const { realClock } = await import(${JSON.stringify(source('base/clock.ts'))})
      const audit = new Audit(fileStore(${JSON.stringify(home)}), { clock: realClock, mask: (text) => text })
      for (let i = 0; i < 10; i++) await audit.record({ type: 'execution', tool: 'bash', what: 'ls', ok: true, verdict: 'yes' })`
    const children = [1, 2, 3].map(() =>
      spawn(process.execPath, ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', script], {
        stdio: ['ignore', 'ignore', 'inherit'],
      }),
    )
    const codes = await Promise.all(children.map(async (child) => (await once(child, 'exit'))[0] as number))
    assert.deepEqual(codes, [0, 0, 0])
    assert.deepEqual(await open(fileStore(home)).verify(), { ok: true, entries: 30, faults: [] })
  }))
