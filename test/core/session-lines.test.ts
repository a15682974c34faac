import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { Entry } from '../../src/core/talk/entry.ts'
import type { SessionPlace } from '../../src/core/talk/session-lines.ts'
import { sessionLines } from '../../src/core/talk/session-lines.ts'
import { readTail } from '../../src/core/work/conversation.ts'
import { missedEntries, view } from '../../src/core/talk/view.ts'
import { HistoryPages } from '../../src/desk/history-pages.ts'
import { memoryStore } from '../../src/store/memory-store.ts'
import { answeredTurn, entryMaker } from './made.ts'

/** A log of three turns of the session `s`, the position before each of them, and a way to add entries of other sessions. */
async function threeTurns() {
  const log = memoryStore().log<Entry>('history')
  const make = entryMaker('s')
  const starts: number[] = []
  for (const turn of ['one', 'two', 'three']) {
    starts.push(await log.end())
    for (const entry of answeredTurn(make, turn, `ask ${turn}`, 'claude', `answer ${turn}`)) await log.append(entry)
    await log.append(make(turn, 'claude', { type: 'thread', key: `thread ${turn}` }))
  }
  const add = async (session: string, turn: string) => {
    for (const entry of answeredTurn(entryMaker(session), turn, `ask ${turn}`, 'codex', `answer ${turn}`))
      await log.append({ ...entry, id: `${session} ${entry.id}` })
  }
  return { log, make, starts, add }
}

async function textsOf(log: Awaited<ReturnType<typeof threeTurns>>['log'], place: SessionPlace): Promise<string[]> {
  const texts: string[] = []
  for await (const { item } of sessionLines(log, place)) if (item?.type === 'prompt') texts.unshift(item.text)
  return texts
}

test('a fork begins with the turns of its origin before a position, and neither sees what the other adds', async () => {
  const { log, starts, add } = await threeTurns()
  const fork = { id: 'fork', from: await log.end(), origin: { id: 's', until: starts[2]! } }
  await add('fork', 'other three')
  await add('s', 'four')
  assert.deepEqual(await textsOf(log, fork), ['ask one', 'ask two', 'ask other three'])
  assert.deepEqual(await textsOf(log, { id: 's' }), ['ask one', 'ask two', 'ask three', 'ask four'])
})

test('a fork of a fork may begin before the first fork did', async () => {
  const { log, starts, add } = await threeTurns()
  const first = { id: 'first', from: await log.end(), origin: { id: 's', until: starts[2]! } }
  await add('first', 'other three')
  const second = { id: 'second', from: await log.end(), origin: { ...first, until: starts[1]! } }
  await add('second', 'other two')
  assert.deepEqual(await textsOf(log, second), ['ask one', 'ask other two'])
  const third = { id: 'third', from: await log.end(), origin: { ...second, until: await log.end() } }
  assert.deepEqual(await textsOf(log, third), ['ask one', 'ask other two'])
})

test('in a fork a CLI has no thread, so that it is told everything; its origin keeps the thread', async () => {
  const { log, starts } = await threeTurns()
  const fork = { id: 'fork', from: await log.end(), origin: { id: 's', until: starts[2]! } }
  const inFork = view((await readTail(log, fork)).entries)
  assert.deepEqual(missedEntries(inFork, 'claude'), { entries: inFork })
  assert.equal(missedEntries(view((await readTail(log, { id: 's' })).entries), 'claude').key, 'thread three')
})

test('a turn that had not ended when the fork was made is no part of it', async () => {
  const { log, make, add } = await threeTurns()
  await log.append(make('open', 'user', { type: 'prompt', text: 'still at work', owner: 'somebody' }))
  const fork = { id: 'fork', from: await log.end(), origin: { id: 's', until: await log.end() } }
  await log.append(make('open', 'claude', { type: 'end', outcome: { ok: true, text: 'late' } }))
  await add('fork', 'four')
  assert.deepEqual(await textsOf(log, fork), ['ask one', 'ask two', 'ask three', 'ask four'])
})

test('a summary that its origin made later hides nothing from a fork', async () => {
  const { log, make, starts } = await threeTurns()
  const end = (await readTail(log, { id: 's' })).entries.findLast(({ type }) => type === 'end')!
  const fork = { id: 'fork', from: await log.end(), origin: { id: 's', until: starts[2]! } }
  await log.append(make('', 'termaite', { type: 'summary', text: 'all of it', through: end.id }))
  const texts = view((await readTail(log, fork)).entries).flatMap((entry) => ('text' in entry ? [entry.text] : []))
  assert.deepEqual(texts, ['ask one', 'answer one', 'ask two', 'answer two'])
})

test('a fork is paged back into its origin, and lists the prompts of both', async () => {
  const { log, starts, add } = await threeTurns()
  const fork = { id: 'fork', from: await log.end(), origin: { id: 's', until: starts[2]! } }
  await add('fork', 'other three')
  const pages = new HistoryPages(log, fork)
  const shown: string[] = []
  let page = await pages.newest(2)
  for (;;) {
    shown.unshift(...page.entries.map(({ id }) => id))
    if (!page.more) break
    page = await pages.earlier(page.entries[0]!.id, 2)
  }
  assert.deepEqual(shown, ['e1', 'e2', 'e3', 'e5', 'e6', 'e7', 'fork e1', 'fork e2', 'fork e3'])
  const prompts = await pages.prompts(2)
  assert.deepEqual(
    prompts.map(({ entry, place }) => [entry.text, place]),
    [
      ['ask other three', fork.from],
      ['ask two', starts[1]],
    ],
  )
  assert.equal(await pages.lastAnswer(), 'answer other three')
})
