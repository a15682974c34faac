import { test } from 'node:test'
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { realClock } from '../../src/base/time/clock.ts'
import type { Store } from '../../src/core/talk/store.ts'
import type { AuditEntry } from '../../src/safety/audit-entry.ts'
import { beginning, withHash } from '../../src/safety/audit-entry.ts'
import { Audit } from '../../src/safety/audit-log.ts'
import { openBorder } from '../../src/safety/border.ts'
import { fileStore } from '../../src/store/files/file-store.ts'
import { memoryStore } from '../../src/store/memory-store.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const border = openBorder({ env: { MY_TOKEN: 'hunter2hunter2' } })
const open = (store: Store) => new Audit(store, { clock: realClock, mask: border.toward('audit') })
const done = (what: string) => ({ type: 'execution', tool: 'bash', what, ok: true, verdict: 'yes' }) as const

async function all(audit: Audit): Promise<AuditEntry[]> {
  const entries: AuditEntry[] = []
  for await (const entry of audit.export()) entries.push(entry)
  return entries
}

/** Runs a script with an audit of the home in a process of its own; returns its exit code, or undefined when it was killed. */
async function inProcess(home: string, body: string): Promise<number | undefined> {
  const source = (name: string) => JSON.stringify(join(import.meta.dirname, '..', '..', 'src', name))
  const script = `
    const { Audit } = await import(${source('safety/audit-log.ts')})
    const { fileStore } = await import(${source('store/files/file-store.ts')})
    const { realClock } = await import(${source('base/time/clock.ts')})
    const audit = new Audit(fileStore(${JSON.stringify(home)}), { clock: realClock, mask: (text) => text })
    ${body}`
  const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', script]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] })
  return ((await once(child, 'exit'))[0] as number | null) ?? undefined
}

async function inHome(body: (home: string, path: string) => Promise<void>) {
  const home = mkdtempSync(join(tmpdir(), 'termaite-audit-'))
  try {
    await body(home, join(home, 'audit.jsonl'))
  } finally {
    rmSync(home, { recursive: true })
  }
}

const act = (what: string) => ({ tool: 'bash', what, verdict: 'yes' })
const whole = (entries: number) => ({ state: 'whole', entries, faults: [], unclosed: [], mended: 0 })

test('an act is recorded before it is done, and closed after it', async () => {
  const audit = open(memoryStore())
  const begun = await audit.begin({ ...act('make'), turn: 't' })
  const kinds = async () => (await all(audit)).map(({ seq, type }) => [seq, type])
  assert.deepEqual(await kinds(), [[1, 'begin']])
  await begun.end(false)
  assert.deepEqual(await kinds(), [
    [1, 'begin'],
    [2, 'execution'],
  ])
  const [, closed] = await all(audit)
  const { at: _at, hash: _hash, before: _before, owner: _owner, ...rest } = closed!
  assert.deepEqual(rest, { seq: 2, type: 'execution', ...act('make'), turn: 't', ok: false, begin: 1 })
  assert.deepEqual(await audit.verify(), whole(2))
})

test('an act of a process that is gone is named as one without an end, and one of a living process is not', () =>
  inHome(async (home) => {
    await inProcess(
      home,
      `await audit.begin({ tool: 'bash', what: 'rm -r build', verdict: 'yes' }); process.kill(process.pid, 'SIGKILL')`,
    )
    const audit = open(fileStore(home))
    await audit.begin(act('sleep 60'))
    const { state, entries, faults, unclosed } = await audit.verify()
    assert.deepEqual([state, entries, faults], ['whole', 2, []])
    assert.deepEqual(
      unclosed.map(({ seq, what }) => [seq, what]),
      [[1, 'rm -r build']],
    )
  }))

test('two deaths in a row leave a whole chain', () =>
  inHome(async (home) => {
    const die = `await audit.begin({ tool: 'bash', what: 'make', verdict: 'yes' }); process.kill(process.pid, 'SIGKILL')`
    await inProcess(home, die)
    await inProcess(home, die)
    const { state, entries, unclosed } = await open(fileStore(home)).verify()
    assert.deepEqual([state, entries, unclosed.length], ['whole', 2, 2])
  }))

test('recorded acts are a chain, and come out in their order', async () => {
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
    entries.map(({ at: _at, owner: _owner, hash, before, ...rest }) => ({
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
  assert.deepEqual(await audit.verify(), whole(2))
})

test('the audit keeps no secret', async () => {
  const audit = open(memoryStore())
  await audit.record(done('curl -H "x: hunter2hunter2" --token ghp_abcdefghij0123456789abcdefghij'))
  const text = JSON.stringify(await all(audit))
  assert.ok(!/hunter2|abcdefghij0123/.test(text), text)
})

/** Writes four entries, changes the file, and returns what a check says of it. */
async function tampered(change: (lines: string[]) => string[] | string): Promise<unknown> {
  let found: unknown
  await inHome(async (home, path) => {
    const audit = open(fileStore(home))
    for (const n of [1, 2, 3, 4]) await audit.record(done(`ls ${n}`))
    await audit.settle()
    const next = change(readFileSync(path, 'utf8').trimEnd().split('\n'))
    writeFileSync(path, typeof next === 'string' ? next : next.map((line) => `${line}\n`).join(''))
    const { state, faults, mended } = await open(fileStore(home)).verify()
    found = mended > 0 ? [state, faults, `${mended} mended`] : [state, faults]
    // The next entry hides nothing of it.
    const again = open(fileStore(home))
    await again.record(done('ls 5'))
    await again.settle()
    const later = await open(fileStore(home)).verify()
    assert.equal(later.state, state)
    assert.equal(later.faults.length, faults.length)
  })
  return found
}

const without = (lines: string[], ...gone: number[]) => lines.filter((_, index) => !gone.includes(index + 1))

test('a changed, moved or added line is told as a change of the record', async (t) => {
  assert.deepEqual(await tampered((lines) => lines), ['whole', []])
  golden(t, await tampered((lines) => lines.map((line) => line.replace('ls 2', 'ls 9'))))
  golden(t, await tampered((lines) => lines.map((line) => line.replace('ls 4', 'ls 9'))))
  golden(t, await tampered(([one, two, ...rest]) => [two!, one!, ...rest]))
  golden(t, await tampered((lines) => [...lines, lines[2]!]))
  let second = 0
  const unreadable = ([one, two, ...rest]: string[]) => {
    second = Buffer.byteLength(one!) + 1
    return [one!, two!.replace('{', '('), ...rest]
  }
  golden(t, await tampered(unreadable), { [second]: '<second>' })
  // An entry that was written anew, with a hash of its own.
  const forged = (line: string) => {
    const { hash: _hash, ...entry } = JSON.parse(line.replace('ls 2', 'ls 9')) as AuditEntry
    return JSON.stringify(withHash(entry))
  }
  golden(t, await tampered(([one, two, ...rest]) => [one!, forged(two!), ...rest]))
  golden(t, await tampered(([one, two, three, four]) => [one!, two!, three!, forged(four!.replace('ls 4', 'ls 2'))]))
})

test('missing entries are told as a hole, and what is left as unchanged', async () => {
  assert.deepEqual(await tampered((lines) => without(lines, 2)), ['incomplete', ['entry 2 is missing']])
  assert.deepEqual(await tampered((lines) => without(lines, 1, 2)), ['incomplete', ['entries 1 to 2 are missing']])
  assert.deepEqual(await tampered((lines) => without(lines, 4)), ['incomplete', ['entry 4 is missing, at the end']])
  assert.deepEqual(await tampered(() => ''), ['incomplete', ['entries 1 to 4 are missing, at the end']])
})

test('a torn end is mended by the next process that opens the log, and told apart from a removed one', async () => {
  // A process that was killed inside its fifth entry, which was never known to be written.
  assert.deepEqual(await tampered((lines) => `${lines.join('\n')}\n${lines[3]!.slice(0, 40)}`), [
    'whole',
    [],
    '1 mended',
  ])
  // The fourth entry was whole once, so that it is missed.
  assert.deepEqual(await tampered((lines) => lines.join('\n').slice(0, -40)), [
    'incomplete',
    ['entry 4 is missing'],
    '1 mended',
  ])
})

test('a torn end is mended before the next entry, in words that say so', (t) =>
  inHome(async (home, path) => {
    await open(fileStore(home)).record(done('ls 1'))
    appendFileSync(path, '{"seq":2,"at":1')
    await open(fileStore(home)).record(done('ls 2'))
    const entries = await all(open(fileStore(home)))
    golden(
      t,
      entries.map(({ seq, type, what }) => [seq, type, what]),
    )
    assert.deepEqual(await open(fileStore(home)).verify(), { ...whole(3), mended: 1 })
  }))

test('many processes make one chain', () =>
  inHome(async (home) => {
    const loop = `for (let i = 0; i < 10; i++) await (await audit.begin({ tool: 'bash', what: 'ls', verdict: 'yes' })).end(true)
      await audit.settle()`
    assert.deepEqual(await Promise.all([1, 2, 3].map(() => inProcess(home, loop))), [0, 0, 0])
    assert.deepEqual(await open(fileStore(home)).verify(), whole(60))
  }))

test('entries of earlier versions are checked too: no process, no begin, any order', () =>
  inHome(async (home, path) => {
    let before = beginning
    const lines = [1, 2, 3].map((seq) => {
      const entry = withHash({ seq, at: 1, ...done(`ls ${seq}`), before })
      before = entry.hash
      return JSON.stringify(entry)
    })
    const last = JSON.parse(lines[2]!) as AuditEntry
    writeFileSync(join(home, 'audit-head.json'), JSON.stringify({ seq: 3, hash: before, last: [last] }))
    writeFileSync(path, `${lines[1]}\n${lines[0]}\n${lines[2]}\n${lines[2]}\n`)
    await open(fileStore(home)).record(done('ls 4'))
    assert.deepEqual(await open(fileStore(home)).verify(), whole(4))
  }))
