import type { TestContext } from 'node:test'
import type { Reach } from '../../src/core/turns/running-turns.ts'
import type { Event } from '../../src/core/talk/entry.ts'
import type { Peer } from '../../src/core/turns/peer.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { RunningTurns } from '../../src/core/turns/running-turns.ts'
import { scriptedTerminals } from '../terminals/scripted-terminals.ts'

/** The turns of one process as another one meets them; called once for each who comes. */
export type PeerMaker = (turns: RunningTurns, t: TestContext) => Promise<Peer>

export const about = { turn: 't1', session: 's1', prompt: 'why?', since: 7 }
export const text = (delta: string): Event => ({ type: 'text', delta, by: 'claude' })
export const note = (text: string): Event => ({ type: 'note', text, by: 'termaite' })
export const end: Event = { type: 'end', outcome: { ok: true, text: 'because' }, by: 'claude' }

/** Takes down what it is asked for; nothing waits for an answer but `open`. */
export function recorder(open: string[] = []): Reach & { wishes: unknown[] } {
  const wishes: unknown[] = []
  return {
    wishes,
    cancel: () => void wishes.push(['cancel']),
    steer: (words) => wishes.push(['steer', words]) > 0,
    answer(ask, picks) {
      const at = open.indexOf(ask)
      if (at < 0) return false
      open.splice(at, 1)
      return wishes.push(['answer', ask, picks]) > 0
    },
  }
}

const never = () => new AbortController().signal

/** Follows a turn from its first event on; `seen` resolves when this many events have come. */
export function following(peer: Peer, turn: string, signal = never()) {
  const events: Event[] = []
  let wake = () => {}
  const over = (async () => {
    for await (const event of peer.follow(turn, signal)) {
      events.push(event)
      wake()
    }
    return events
  })()
  const seen = async (holds: (events: Event[]) => boolean) => {
    while (!holds(events)) await new Promise<void>((resolve) => (wake = resolve))
    return events
  }
  return { over, seen }
}

/** As they are shown: deltas of one kind in a row are one text, however they were cut, and words that say what is waited for go. */
export function shown(events: readonly Event[]): Event[] {
  return events.reduce<Event[]>((all, event) => {
    if (event.type === 'waiting') return all
    const last = all.at(-1)
    if (last?.type === 'text' && event.type === 'text')
      return [...all.slice(0, -1), { ...event, delta: last.delta + event.delta }]
    return [...all, event]
  }, [])
}

/** The contract of every Peer, in its own process and over a wire. */
export function peerContract(name: string, make: PeerMaker): void {
  test(`${name}: says which turns are at work, and who speaks`, async (t) => {
    const turns = new RunningTurns()
    const peer = await make(turns, t)
    assert.deepEqual(await peer.turns(), [])
    const turn = turns.begin(about, recorder())
    turns.begin({ ...about, turn: 't2', prompt: 'x'.repeat(10_000) }, recorder())
    turn.see(text('be'))
    assert.deepEqual(await peer.turns(), [
      { ...about, by: 'claude' },
      { ...about, turn: 't2', prompt: 'x'.repeat(4096) },
    ])
    turn.see({ type: 'attempt', by: 'claude', failure: { kind: 'quota', message: 'spent' }, ms: 1 })
    assert.deepEqual((await peer.turns())[0], about)
    turn.end()
    assert.deepEqual(
      (await peer.turns()).map(({ turn }) => turn),
      ['t2'],
    )
  })

  test(`${name}: a late follower sees the earlier events, then the new ones, and the end`, async (t) => {
    const turns = new RunningTurns()
    const [early, late] = [await make(turns, t), await make(turns, t)]
    const turn = turns.begin(about, recorder())
    const first = following(early, 't1')
    for (const event of [note('one'), text('be'), text('cau')]) turn.see(event)
    await first.seen((events) => shown(events).length === 2)
    const second = following(late, 't1')
    await second.seen((events) => shown(events).length === 2)
    for (const event of [text('se'), end]) turn.see(event)
    turn.end()
    const all = [note('one'), text('because'), end]
    assert.deepEqual(shown(await first.over), all)
    assert.deepEqual(shown(await second.over), all)
  })

  test(`${name}: a turn that is not there is followed to its end at once, and takes nothing`, async (t) => {
    const turns = new RunningTurns()
    const peer = await make(turns, t)
    const turn = turns.begin(about, recorder())
    turn.see(end)
    turn.end()
    assert.deepEqual(await following(peer, 't1').over, [])
    assert.deepEqual(
      [await peer.answer('t1', 'a', ['yes']), await peer.steer('t1', 'left'), await peer.cancel('t1')],
      [false, false, false],
    )
  })

  test(`${name}: a wish reaches the turn it is for; the first answer wins`, async (t) => {
    const turns = new RunningTurns()
    const [one, two] = [await make(turns, t), await make(turns, t)]
    const reach = recorder(['a1', 'a2'])
    turns.begin(about, reach)
    turns.begin({ ...about, turn: 't2' }, recorder())
    assert.deepEqual(
      [
        await one.answer('t1', 'a1', ['yes']),
        await two.answer('t1', 'a1', ['no']),
        await two.answer('t1', 'a2'),
        await one.steer('t1', 'to the left\n😀'),
        await two.cancel('t1'),
      ],
      [true, false, true, true, true],
    )
    assert.deepEqual(reach.wishes, [
      ['answer', 'a1', ['yes']],
      ['answer', 'a2', undefined],
      ['steer', 'to the left\n😀'],
      ['cancel'],
    ])
  })

  test(`${name}: a turn that breaks when it is reached has not taken the wish`, async (t) => {
    const turns = new RunningTurns()
    const peer = await make(turns, t)
    const broken = () => {
      throw new Error('broken')
    }
    turns.begin(about, { cancel: broken, steer: broken, answer: broken })
    assert.deepEqual(
      [await peer.answer('t1', 'a'), await peer.steer('t1', 'x'), await peer.cancel('t1')],
      [false, false, false],
    )
  })

  test(`${name}: a follower that leaves is given nothing more, and the others are`, async (t) => {
    const turns = new RunningTurns()
    const [one, two] = [await make(turns, t), await make(turns, t)]
    const turn = turns.begin(about, recorder())
    turn.see(note('one'))
    const stop = new AbortController()
    const left = following(one, 't1', stop.signal)
    const stays = following(two, 't1')
    await Promise.all([left.seen(({ length }) => length === 1), stays.seen(({ length }) => length === 1)])
    stop.abort()
    assert.deepEqual(await left.over, [note('one')])
    for await (const event of one.follow('t1', never())) {
      assert.deepEqual(event, note('one'))
      break
    }
    assert.deepEqual(await following(one, 't1', AbortSignal.abort()).over, [])
    turn.see(end)
    turn.end()
    assert.deepEqual(await stays.over, [note('one'), end])
  })

  test(`${name}: a follower that does not read gets every word of a burst later, and slows nobody`, async (t) => {
    const turns = new RunningTurns()
    const [slow, quick] = [await make(turns, t), await make(turns, t)]
    const turn = turns.begin(about, recorder())
    const words = Array.from({ length: 1000 }, (_, i) => `${i} `)
    turn.see(note('one'))
    const reader = slow.follow('t1', never())[Symbol.asyncIterator]()
    assert.deepEqual(await reader.next(), { value: note('one'), done: false })
    const other = following(quick, 't1')
    await other.seen(({ length }) => length === 1)
    for (const word of words) turn.see(text(word))
    turn.see(end)
    turn.end()
    const all = [note('one'), text(words.join('')), end]
    assert.deepEqual(shown(await other.over), all)
    const rest: Event[] = [note('one')]
    for (let next = await reader.next(); !next.done; next = await reader.next()) rest.push(next.value)
    assert.deepEqual(shown(rest), all)
  })

  test(`${name}: closing a peer ends everything that is followed, twice as well`, async (t) => {
    const turns = new RunningTurns()
    const peer = await make(turns, t)
    turns.begin(about, recorder()).see(note('one'))
    const seen = following(peer, 't1')
    await seen.seen(({ length }) => length === 1)
    await peer.close()
    await peer.close()
    assert.deepEqual(await seen.over, [note('one')])
    assert.deepEqual([await peer.turns(), await peer.cancel('t1')], [[], false])
  })

  test(`${name}: a terminal of the process can be seen and typed into, until it is closed`, async (t) => {
    const turns = new RunningTurns()
    const [one, two] = [await make(turns, t), await make(turns, t)]
    const host = scriptedTerminals(() => async (tty) => {
      for (;;) {
        const typed = await tty.read()
        if (typed === undefined) return 0
        tty.print(typed)
      }
    })
    const { id } = await host.open('any', { cwd: '/' })
    assert.equal(await one.terminal(id), undefined)
    turns.lend((wanted) => host.find(wanted))
    const [first, second] = [(await one.terminal(id))!, (await two.terminal(id))!]
    assert.deepEqual([first.id, second.id, await one.terminal('another')], [id, id, undefined])
    await first.write('seen by both', true)
    for await (const { bytes } of second.output()) {
      assert.equal(new TextDecoder().decode(bytes), 'seen by both')
      break
    }
    assert.equal((await second.screen()).rows[0], 'seen by both')
    assert.ok((await second.touched()) > 0)
    const ends = [first.exited, second.exited]
    // Both are waited for there once each has been answered something else.
    await Promise.all([first.screen(), second.screen()])
    await first.close()
    assert.deepEqual(await Promise.all(ends), [{ signal: 1 }, { signal: 1 }])
    assert.equal(await two.terminal(id), undefined)
  })
}
