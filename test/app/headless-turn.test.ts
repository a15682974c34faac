import type { TestContext } from 'node:test'
import type { Event } from '../../src/core/talk/entry.ts'
import type { Agent } from '../../src/core/work/agent.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { realClock } from '../../src/base/time/clock.ts'
import { noBudget } from '../../src/core/work/budget.ts'
import { connectPeer } from '../../src/wire/peer/peer-client.ts'
import { openApp } from '../../src/turn/app.ts'
import { socketsOf } from '../../src/wire/peer/peers.ts'
import { placeOf } from '../../src/home/place.ts'
import { runHeadless } from '../../src/app/headless-turn.ts'
import { readSettings } from '../../src/settings/settings.ts'
import { until } from '../until.ts'

/** A turn of one agent, and what it said to the person. */
async function reached(t: TestContext, turn: Agent['turn']) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'termaite-test-')))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const { signal } = new AbortController()
  const err = new PassThrough().setEncoding('utf8')
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    TERMAITE_KEYCHAIN: 'off',
    TERMAITE_HOME: join(folder, 'termaite'),
  }
  const io = {
    env,
    cwd: folder,
    piped: true,
    in: new PassThrough(),
    out: new PassThrough(),
    err,
    clock: realClock,
    signal,
  }
  const place = placeOf(io)
  const settings = await readSettings({ home: place.home }, { env })
  settings.agents = [{ name: 'listener', kind: 'pipe', command: 'true', contextWindowTokens: 1000 }]
  const app = await openApp(io, place, settings, { ephemeral: true, budget: noBudget })
  const traits = { window: 1000, memory: 'none' as const, talks: true, steers: true }
  const roster = { names: () => ['listener'], open: (name: string) => ({ name, traits, turn, close: async () => {} }) }
  return { home: place.home, err, events: runHeadless({ ...app, roster }, { prompt: 'listen', signal }) }
}

/** The process at that home, once it has a turn. */
function peerAt(home: string, t: TestContext) {
  return until(async () => {
    const [path] = await socketsOf(home)
    const peer = path === undefined ? undefined : await connectPeer(path, realClock)
    if (peer) t.after(() => peer.close())
    const [turn] = (await peer?.turns()) ?? []
    return peer && turn && { peer, turn: turn.turn }
  })
}

test('text from another process reaches the agent of a running turn, and is kept', { timeout: 20_000 }, async (t) => {
  const { home, err, events } = await reached(t, async function* (turn) {
    const texts = [...(await turn.steer(turn.signal)), ...(await turn.steer())]
    yield { type: 'reply', text: texts.join(' ') }
    yield { type: 'end', outcome: { ok: true, text: texts.join(' ') } }
  })
  const seen: Event[] = []
  const over = (async () => {
    for await (const event of events) seen.push(event)
  })()
  const { peer, turn } = await peerAt(home, t)
  assert.equal(await peer.steer(turn, 'to the left'), true)
  await over
  assert.deepEqual(
    seen.flatMap((event) => ('text' in event ? [[event.type, event.by, event.text]] : [])),
    [
      ['prompt', 'user', 'listen'],
      ['steer', 'user', 'to the left'],
      ['reply', 'listener', 'to the left'],
    ],
  )
  assert.equal(err.read(), null)
  assert.deepEqual(await socketsOf(home), [])
})
