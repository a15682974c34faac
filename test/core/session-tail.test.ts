import { test } from 'node:test'
import assert from 'node:assert/strict'
import fc from '../cases.ts'
import type { Entry } from '../../src/core/talk/entry.ts'
import type { Line, Log } from '../../src/core/talk/store.ts'
import { readTail } from '../../src/core/work/conversation.ts'
import { endedTurns, view } from '../../src/core/talk/view.ts'
import { memoryStore } from '../../src/store/memory-store.ts'
import { answeredTurn, entryMaker, idsOf } from './made.ts'

/** A log that counts what is read of it. */
async function counted(entries: readonly Entry[]) {
  const log = memoryStore().log<Entry>('history')
  for (const entry of entries) await log.append(entry)
  const count = { read: 0 }
  async function* back(): AsyncGenerator<Line<Entry>> {
    for await (const line of log.back()) {
      count.read++
      yield line
    }
  }
  return { log: { back } as Partial<Log<Entry>> as Log<Entry>, count }
}

test('the tail of a session is read back to the entries that the newest summary stands for, and no further', async () => {
  const make = entryMaker()
  const old = Array.from({ length: 50 }, (_, i) => answeredTurn(make, `old${i}`, 'q', 'claude', 'a')).flat()
  const summary = make('', 'termaite', { type: 'summary', text: 'old', through: old.at(-1)!.id })
  const young = answeredTurn(make, 'young', 'q', 'claude', 'a')
  const { log, count } = await counted([...old, summary, ...young])
  const tail = await readTail(log, { id: 's' })
  assert.deepEqual(tail, { entries: [old.at(-1)!, summary, ...young], broken: [] })
  assert.deepEqual(view(tail.entries), [summary, ...young])
  assert.equal(count.read, 5)
})

test('a turn that began before the summary and ended after it is read whole', async () => {
  const make = entryMaker()
  const prompt = make('long', 'user', { type: 'prompt', text: 'long' })
  const old = answeredTurn(make, 'old', 'q', 'claude', 'a')
  const summary = make('', 'termaite', { type: 'summary', text: 'old', through: old.at(-1)!.id })
  const end = make('long', 'codex', { type: 'end', outcome: { ok: true, text: 'done' } })
  const { log } = await counted([...answeredTurn(make, 'first', 'q', 'claude', 'a'), prompt, ...old, summary, end])
  const { entries } = await readTail(log, { id: 's' })
  assert.deepEqual(idsOf(entries), ['e1', 'e2', 'e3', 'e4', 'e5', 'e6'])
  assert.deepEqual(view(entries), [summary, prompt, end])
})

test('a turn under way is found by its entries after the summary, so that a dead one can be settled', async () => {
  const make = entryMaker()
  const prompt = make('long', 'user', { type: 'prompt', text: 'long', owner: 'dead' })
  const old = answeredTurn(make, 'old', 'q', 'claude', 'a')
  const summary = make('', 'termaite', { type: 'summary', text: 'old', through: old.at(-1)!.id })
  const call = make('long', 'codex', { type: 'call', call: 'c', tool: 'bash', input: 'ls' })
  const { log } = await counted([prompt, ...old, summary, call])
  assert.deepEqual((await readTail(log, { id: 's' })).entries, [prompt, ...old, summary, call])
})

test('other sessions are left out, and nothing before the session began is read', async () => {
  const make = entryMaker('old')
  const before = answeredTurn(make, '1', 'q', 'claude', 'a')
  const mine = answeredTurn(entryMaker('s'), '2', 'q', 'claude', 'a')
  const other = answeredTurn(entryMaker('other'), '3', 'q', 'claude', 'a')
  const { log, count } = await counted([...before, ...mine, ...other])
  assert.deepEqual(await readTail(log, { id: 's', from: 3 }), { entries: mine, broken: [] })
  assert.equal(count.read, 7, 'six of the session and after, one to see that it is before')
})

test('a line that is no entry is reported as broken, and the rest is read', async () => {
  const entries = answeredTurn(entryMaker(), '1', 'q', 'claude', 'a')
  const { log } = await counted([entries[0]!, { odd: true } as unknown as Entry, ...entries.slice(1)])
  assert.deepEqual(await readTail(log, { id: 's' }), { entries, broken: ['{"odd":true}'] })
})

test('property: the view of the tail is the view of the whole', async () => {
  const step = fc.tuple(
    fc.constantFrom('a', 'b', 'c', 'd', 'e'),
    fc.constantFrom('say', 'say', 'end', 'sum'),
    fc.nat(9),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const make = entryMaker()
      const entries: Entry[] = []
      const begun = new Set<string>()
      for (const [turn, what, pick] of steps) {
        const ends = endedTurns(entries).map((turn) => turn.end)
        if (what === 'sum') {
          const through = ends[pick % (ends.length || 1)]?.id
          if (through) entries.push(make('', 'termaite', { type: 'summary', text: 's', through }))
        } else if (!begun.has(turn)) {
          begun.add(turn)
          entries.push(make(turn, 'user', { type: 'prompt', text: turn }))
        } else if (what === 'say') entries.push(make(turn, 'x', { type: 'reply', text: 'r' }))
        else entries.push(make(turn, 'x', { type: 'end', outcome: { ok: true, text: '' } }))
      }
      const { log } = await counted(entries)
      assert.deepEqual(view((await readTail(log, { id: 's' })).entries), view(entries))
    }),
    { numRuns: 300 },
  )
})
