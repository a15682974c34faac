import type { PlacedEntry } from '../../../../src/core/turns/conversations.ts'
import type { Entry } from '../../../../src/core/talk/entry.ts'
import type { SessionPlace } from '../../../../src/core/talk/session-lines.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { KeptEntries } from '../../../../src/hub/server/dashboard/kept-entries.ts'
import { memoryStore } from '../../../../src/store/memory-store.ts'

const mask = (text: string) => text.replaceAll('tmk_secret', '***')

/** A log with prompts of two sessions in turn, and things that no reader is shown. */
async function talk(count: number) {
  const log = memoryStore().log<Entry>('history')
  const keep = (over: Partial<Entry> & { type: Entry['type'] }) =>
    log.append({ id: `e${over.at}`, by: 'user', session: 's1', turn: 't', ...over } as Entry)
  for (let at = 0; at < count; at++) {
    await keep({ type: 'prompt', text: `prompt ${at}`, at, session: at % 2 === 0 ? 's1' : 's2' })
    await keep({ type: 'thread', key: 'own', at: 10_000 + at })
  }
  return { log, keep, entries: (place: SessionPlace = { id: 's1' }) => new KeptEntries(log, place, mask) }
}

const names = (entries: readonly PlacedEntry[]) => entries.map(({ entry }) => entry.id)

test('a long session is read in pages from its end, and from a place in it in both directions', async () => {
  const { entries } = await talk(1_000)
  const kept = entries()
  const last = await kept.page({})
  assert.deepEqual(
    [last.entries.length, last.older, last.newer, names(last.entries).at(-1)],
    [200, true, false, 'e998'],
  )
  const all = [...last.entries]
  for (let page = last; page.older;) {
    page = await kept.page({ before: page.entries[0]!.at })
    all.unshift(...page.entries)
  }
  const wanted = Array.from({ length: 500 }, (_, at) => `e${at * 2}`)
  assert.deepEqual(names(all), wanted)
  const around = await kept.page({ around: 'e400' })
  assert.ok(names(around.entries).includes('e400'))
  assert.deepEqual([around.older, around.newer], [true, true])
  const on = [...around.entries]
  for (let page = around; page.newer;) {
    page = await kept.page({ after: page.entries.at(-1)!.at })
    on.push(...page.entries)
  }
  assert.deepEqual(names(on), wanted.slice(wanted.indexOf(names(around.entries)[0]!)))
  assert.deepEqual(names((await kept.page({ around: 'gone' })).entries), names(last.entries))
})

test('a page of large entries ends before it is too large, and secrets are masked', async () => {
  const { keep, entries } = await talk(0)
  for (let at = 0; at < 30; at++)
    await keep({
      type: 'reply',
      text: `tmk_secret ${'x'.repeat(60_000)}`,
      at,
      by: 'amber',
      opaque: { thought: 'mine' },
    })
  const { entries: page, older } = await entries().page({})
  assert.deepEqual([page.length, older], [8, true])
  assert.deepEqual(
    page.map(({ entry }) => [entry.type === 'reply' && entry.text.slice(0, 4), 'opaque' in entry]),
    page.map(() => ['*** ', false]),
  )
})

test('a fork is read with the turns that it takes over, in every direction', async () => {
  const { log, keep, entries } = await talk(4)
  const until = await log.end()
  await keep({ type: 'note', text: 'later in the old session', at: 50 })
  await keep({ type: 'prompt', text: 'in the fork', at: 60, session: 'fork' })
  const fork = entries({ id: 'fork', from: until, origin: { id: 's1', until } })
  const { entries: page } = await fork.page({})
  assert.deepEqual(names(page), ['e60'])
  const ended = await talk(0)
  await ended.keep({ type: 'prompt', text: 'x', at: 1 })
  await ended.keep({ type: 'end', outcome: { ok: true, text: '' }, at: 2 })
  const from = await ended.log.end()
  await ended.keep({ type: 'prompt', text: 'y', at: 3, turn: 't2' })
  await ended.keep({ type: 'prompt', text: 'z', at: 4, session: 'fork', turn: 't3' })
  const second = ended.entries({ id: 'fork', from, origin: { id: 's1', until: from } })
  const whole = await second.page({})
  assert.deepEqual(names(whole.entries), ['e1', 'e2', 'e4'])
  assert.deepEqual(names((await second.page({ after: whole.entries[0]!.at })).entries), ['e2', 'e4'])
})

test('a follower gets each entry once, also after it comes back, and is told when the log is another one', async () => {
  const { log, keep, entries } = await talk(3)
  const kept = entries()
  const read = async (after: number, most: number) => {
    const over = new AbortController()
    const found: (string | undefined)[] = []
    let last = after
    for await (const placed of kept.follow(after, over.signal)) {
      found.push(placed?.entry.id)
      last = placed?.at ?? last
      if (found.length === most || !placed) break
    }
    over.abort()
    return { found, last }
  }
  const { entries: page } = await kept.page({})
  const first = page[0]!.at
  const one = await read(first, 1)
  assert.deepEqual(one.found, ['e2'])
  await keep({ type: 'reply', text: 'tmk_secret', at: 7, by: 'amber' })
  await keep({ type: 'reply', text: 'of another session', at: 8, session: 's2', by: 'amber' })
  await keep({ type: 'reply', text: 'the next', at: 9, by: 'amber' })
  assert.deepEqual((await read(one.last, 2)).found, ['e7', 'e9'])
  await log.clear()
  assert.deepEqual((await read(one.last, 1)).found, [undefined])
})
