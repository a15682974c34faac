import type { Event } from '../../src/core/talk/entry.ts'
import type { Agent, Turn } from '../../src/core/work/agent.ts'
import type { FrameworkDefinition } from '../../src/think/framework-agent.ts'
import type { AdviceAsk, ThinkingParts } from '../../src/think/thinking-parts.ts'
import type { Rigged } from './rig.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { settled } from '../hand-clock.ts'
import { assign } from '../../src/think/resources.ts'
import { LabelPause } from '../../src/think/label-pause.ts'
import { think } from '../../src/think/think.ts'
import { hangs, thinkingRig, person, callBudget, says } from './rig.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

/** A framework whose advice are the answers of its roles. */
const advising = (...roles: string[]): FrameworkDefinition => ({
  asks: () => [],
  rounds: 0,
  agent: ({ actor }) => actor,
  advice: {
    asks: (among) => assign(roles, among),
    async *advise(thinking) {
      const heard: string[] = []
      for (const seat of assign(roles, thinking.resources)) {
        const { outcome } = yield* thinking.ask(seat, `${seat.role}: ${thinking.turn.prompt}`)
        if (!outcome.ok) return outcome
        heard.push(outcome.text)
      }
      return { ok: true, text: heard.join(', ') }
    },
  },
})

/** An actor that calls for thought and answers with what it heard. */
function rigged(
  calls: (ask: AdviceAsk, turn: Turn) => Promise<string[]>,
  { roles = ['critic'], ...parts }: Partial<ThinkingParts> & { roles?: string[] } = {},
  more: Rigged = {},
) {
  const rig = thinkingRig({ actor: [says('unused')], ...more })
  let ask: AdviceAsk | undefined
  const actor: Agent = {
    name: 'actor',
    traits: rig.resources.actor.traits,
    async *turn(turn): AsyncGenerator<Event> {
      const text = ask ? (await calls(ask, turn)).join('\n') : 'no tool'
      yield { type: 'reply', text }
      yield { type: 'end', outcome: { ok: true, text } }
    },
    close: async () => {},
  }
  const agent = think(actor, {
    how: 'auto',
    machine: async () => '',
    openLabeller: async () => undefined,
    labelPause: new LabelPause(),
    resources: async () => rig.resources,
    load: async () => advising(...roles),
    offerAdvice(given) {
      ask = given
      return () => (ask = undefined)
    },
    agreed: false,
    freeCalls: 2,
    agree: async () => {},
    ...parts,
  })
  const run = (over: Partial<Turn> = {}) => rig.run(agent, { prompt: 'mach das schöner', ...over })
  return { rig, run, offered: () => ask !== undefined }
}

const reflect = (question: string) => ({ framework: 'reflect' as const, question })
const heard = (answer: Promise<string>) => answer.catch((error: Error) => `refused: ${error.message}`)
const notes = (events: readonly Event[]) => events.flatMap((event) => (event.type === 'note' ? [event.text] : []))

test('the agent that acts gets advice in words: others are asked, which may only read, and the turn pays', async () => {
  const { rig, run, offered } = rigged(
    async (ask) => [await ask(reflect('Is it safe?'))],
    {},
    {
      agents: { claude: [says('no')] },
    },
  )
  const { events, result } = await run({ leash: 'all' })
  assert.deepEqual(result, { ok: true, text: 'no' })
  assert.deepEqual(rig.told('claude'), ['critic: Is it safe?'])
  assert.equal(rig.asked[0]!.turns[0]!.leash, 'read')
  assert.deepEqual(notes(events), ['thinking: the agent asked for reflect: Is it safe?; 1 extra call (claude: critic)'])
  const [verdict] = events.filter(({ type }) => type === 'verdict')
  assert.deepEqual(verdict, {
    type: 'verdict',
    framework: 'direct',
    why: 'left to the agent',
    calls: 1,
    ms: 0,
    by: 'actor',
  })
  assert.ok(events.some((event) => event.type === 'inner' && event.event.type === 'usage'))
  assert.equal(offered(), false)
})

test('the same call again waits for the one that runs, and is answered from the one that ended', async () => {
  const { rig, run } = rigged(async (ask) => {
    const both = [ask(reflect('Is it safe?')), ask(reflect(' Is it safe? '))]
    return [...(await Promise.all(both)), await ask(reflect('Is it safe?'))]
  })
  assert.deepEqual((await run()).result, { ok: true, text: 'fine\nfine\nfine' })
  assert.deepEqual(rig.names(), ['claude'])
})

test('a caller that stops waiting ends nothing: the next call gets the answer', async () => {
  const { rig, run } = rigged(async (ask) => {
    const gone = new AbortController()
    const first = heard(ask(reflect('Is it safe?'), gone.signal))
    gone.abort()
    return [await first, await ask(reflect('Is it safe?'))]
  })
  const { result } = await run()
  assert.deepEqual(result, { ok: true, text: 'refused: This operation was aborted\nfine' })
  assert.deepEqual(rig.names(), ['claude'])
})

test('without a person the third extra call is refused with words that say how to go on; more can be allowed before', async (t) => {
  const three = async (ask: AdviceAsk) => {
    const said = []
    for (const question of ['one?', 'two?', 'three?']) said.push(await heard(ask(reflect(question))))
    return said
  }
  const { events, result } = await rigged(three).run()
  golden(t, result)
  golden(t, notes(events).at(-1))
  assert.deepEqual((await rigged(three, { freeCalls: 3 }).run()).result, { ok: true, text: 'fine\nfine\nfine' })
  assert.deepEqual((await rigged(three, { agreed: true }).run()).result, { ok: true, text: 'fine\nfine\nfine' })
  const council = rigged(async (ask) => [await heard(ask(reflect('all?')))], { roles: ['a', 'b', 'c'] })
  assert.match(JSON.stringify((await council.run()).result), /reflect takes 3 extra calls, 0 calls were made/)
  assert.deepEqual(council.rig.names(), [])
})

test('a person is shown the question and its cost; a no is told to the agent, and a yes counts for the turn', async (t) => {
  const twice = async (ask: AdviceAsk) => [await heard(ask(reflect('all?'))), await heard(ask(reflect('more?')))]
  const no = person(['direct'], ['direct'])
  const declined = await rigged(twice, { roles: ['a', 'b', 'c'] }).run({ ask: no.ask, attended: true })
  golden(t, JSON.stringify(declined.result))
  golden(t, no.asked[0]!.text)
  assert.deepEqual(no.asked[0]!.shows, [{ type: 'text', text: 'all?\n\nclaude: a, c\ngemini: b' }])
  const yes = person(['go'])
  const { result } = await rigged(twice, { roles: ['a', 'b', 'c'] }).run({ ask: yes.ask, attended: true })
  assert.deepEqual([result, yes.asked.length], [{ ok: true, text: 'fine, fine, fine\nfine, fine, fine' }, 1])
})

test('an empty budget refuses advice as it refuses every other call', async () => {
  const { run } = rigged(async (ask) => [await heard(ask(reflect('Is it safe?')))])
  const { result } = await run({ budget: callBudget(2) })
  assert.deepEqual(result, {
    ok: true,
    text: 'refused: no advice came from reflect: the budget is spent. Go on without it.',
  })
})

test('the end of the turn ends advice that nobody waits for any more', async () => {
  const { rig, run } = rigged(
    async (ask) => {
      void heard(ask(reflect('Is it safe?')))
      await settled()
      return ['done']
    },
    {},
    { agents: { claude: [hangs] } },
  )
  assert.deepEqual((await run()).result, { ok: true, text: 'done' })
  assert.deepEqual([rig.running(), rig.clock.asleep], [[], 0])
})

test('a turn for which a framework was chosen offers no advice', async () => {
  const chosen = rigged(async () => ['called'], { how: 'direct' })
  assert.deepEqual((await chosen.run()).result, { ok: true, text: 'no tool' })
})
