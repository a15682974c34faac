import { test } from 'node:test'
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Framework } from '../../src/core/talk/framework.ts'
import type { App } from '../../src/turn/app.ts'
import type { Seat } from '../app/seat.ts'
import { recordJudgement } from '../../src/turn/judgements.ts'
import { drawAgain, readMeasured } from '../../src/turn/measured-rotation.ts'
import { runTurn } from '../../src/app/turn.ts'
import { DeskStatus } from '../../src/desk/desk-status.ts'
import { healthDoc } from '../../src/turn/rotation/health.ts'
import { plain, seated } from '../app/seat.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const names = ['amber', 'blue', 'coral']
const settings = {
  ...plain(Object.fromEntries(names.map((name) => [name, `cat >/dev/null; echo ${name}`]))),
  rotationStrategy: 'measured',
  thinking: 'off',
}

/** Keeps judged results of an agent in the project: `good` of its `many` turns were good. */
async function past({ app, clock }: Seat, agent: string, good: number, many: number, kind?: Framework) {
  for (let one = 0; one < many; one++) {
    await clock.turn(1)
    const judgement = { source: 'race', agent, good: one < good, kind } as const
    await recordJudgement(app.conversation, `${agent}-${kind}-${one}`, judgement)
  }
}

/** The status of a chat: what its line says of the next agent. */
async function nextIn(app: App, typed?: string): Promise<string | undefined> {
  const status = new DeskStatus({
    app: () => app,
    aimed: () => undefined,
    stays: () => false,
    waiting: () => undefined,
    told: async () => {},
  })
  try {
    status.open(await app.conversation.view())
    await status.stand()
    return typed === undefined ? status.now.next : (status.nextFor(typed) ?? status.now.next)
  } finally {
    status.close()
  }
}

async function taken({ app, clock, stop }: Seat, prompt: string): Promise<{ by: string; notes: string[] }> {
  let by = ''
  const notes: string[] = []
  await clock.turn(1)
  for await (const event of runTurn(app, { prompt, signal: stop.signal })) {
    if (event.type === 'reply') by = event.by ?? ''
    if (event.type === 'note') notes.push(event.text)
  }
  return { by, notes }
}

const drawIn = ({ home, app }: Seat) =>
  JSON.parse(readFileSync(join(home, 'projects', app.project.slug, 'draw.json'), 'utf8')) as {
    seed: number
    at: number
  }

test('the agent that is shown as the next one takes the turn, in every process and after a restart; the next draw is new', async (t) => {
  const seat = await seated(t, settings)
  // With nothing known the configured order holds, and nothing is said.
  assert.deepEqual([await nextIn(seat.app), await taken(seat, 'one')], ['amber', { by: 'amber', notes: [] }])
  await past(seat, 'amber', 3, 6)
  await past(seat, 'blue', 4, 6)
  await past(seat, 'coral', 3, 6)
  const seen = new Set<string>()
  for (let turn = 0; turn < 3; turn++) {
    const before = drawIn(seat)
    const shown = await nextIn(seat.app)
    const here = seat.app
    await seat.open()
    assert.deepEqual([await nextIn(seat.app), await nextIn(here), drawIn(seat)], [shown, shown, before])
    const { by, notes } = await taken(seat, 'qwx zzt')
    assert.deepEqual([by, notes.length], [shown, 1])
    assert.match(notes[0]!, new RegExp(`^${by} goes first`))
    assert.notEqual(drawIn(seat).seed, before.seed)
    seen.add(before.seed.toString())
  }
  assert.equal(seen.size, 3)
})

test('an agent that the person named takes the turn and leaves the draw; a parked agent is passed over', async (t) => {
  const seat = await seated(t, settings)
  await past(seat, 'coral', 15, 15)
  await past(seat, 'blue', 9, 15)
  await past(seat, 'amber', 0, 15)
  assert.equal(await nextIn(seat.app), 'coral')
  const before = drawIn(seat)
  for await (const event of runTurn(seat.app, { prompt: 'x', agent: 'amber', signal: seat.stop.signal }))
    if (event.type === 'reply') assert.equal(event.by, 'amber')
  assert.deepEqual(drawIn(seat), before)
  const parked = { failures: 0, parked: { until: seat.clock.now() + 9e9, why: 'limit' } }
  await healthDoc(seat.app.store).update((health) => ({ ...health, agents: { coral: parked } }))
  assert.equal(await nextIn(seat.app), 'blue')
  assert.equal((await taken(seat, 'x')).by, 'blue')
})

test('the kind of a request counts where its words say it, on the screen while it is typed and in the turn', async (t) => {
  const seat = await seated(t, settings)
  await past(seat, 'amber', 12, 12, 'sequential')
  await past(seat, 'amber', 0, 25, 'direct')
  await past(seat, 'blue', 0, 12, 'sequential')
  await past(seat, 'blue', 60, 25, 'direct')
  await past(seat, 'coral', 0, 25, 'direct')
  await past(seat, 'coral', 0, 12, 'sequential')
  const debug = 'find out why the build fails'
  assert.deepEqual([await nextIn(seat.app), await nextIn(seat.app, debug)], ['blue', 'amber'])
  golden(t, await taken(seat, debug))
})

test('a word of the person changes who is next, with the same draw; a draw of another process stays', async (t) => {
  const seat = await seated(t, settings)
  await past(seat, 'amber', 3, 3)
  await past(seat, 'blue', 2, 3)
  await past(seat, 'coral', 2, 3)
  const low = () => 0.5
  const { seed } = await readMeasured(seat.app, low)
  assert.deepEqual([seed, drawIn(seat).seed], [2 ** 31, 2 ** 31])
  await drawAgain(seat.app, seed + 1, () => 0.1)
  assert.equal(drawIn(seat).seed, 2 ** 31)
  const first = (await readMeasured(seat.app)).order(names).line[0]!
  for (let one = 0; one < 12; one++)
    await recordJudgement(seat.app.conversation, `more-${one}`, { source: 'person', agent: first, good: false })
  assert.notEqual((await readMeasured(seat.app)).order(names).line[0], first)
  await drawAgain(seat.app, seed, () => 0.1)
  assert.equal(drawIn(seat).seed, Math.floor(0.1 * 2 ** 32))
})

test('when the results cannot be read, the agents are asked in the configured order and the turn says why', async (t) => {
  const seat = await seated(t, settings)
  seat.app = { ...seat.app, place: { ...seat.app.place, home: join(seat.home, 'settings.json') } }
  const { by, notes } = await taken(seat, 'x')
  assert.equal(by, 'amber')
  golden(t, notes[0]!, { [seat.folder]: '<seat>' })
})
