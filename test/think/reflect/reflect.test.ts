import type { Turn } from '../../../src/core/work/agent.ts'
import type { Script } from '../../agents/scripted-agent.ts'
import type { Rigged } from '../rig.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { reflect } from '../../../src/think/reflect/reflect.ts'
import { cancelled } from '../cancel.ts'
import { dies, empty, hangs, json, thinkingRig, notesIn, person, phasesIn, callBudget, says } from '../rig.ts'
import { goldenOf } from '../../golden.ts'

const golden = goldenOf(import.meta.filename)

const injection = {
  severity: 'must',
  head: 'security',
  where: 'db.ts:4',
  what: 'the id goes into the SQL as it is',
  mend: 'bind it',
}
const taste = { severity: 'could', head: 'bugs', where: 'db.ts:9', what: 'a shorter name', mend: 'call it id' }
const review = (...findings: object[]) => json({ findings })
const tested = new Map([['package.json', '{"scripts":{"build":"tsc","test":"node --test"}}']])

/** Writes a file, then says so; one text a time. */
function writes(files: Map<string, string>, ...replies: string[]): Script[] {
  return replies.map((reply) => () => {
    files.set('db.ts', reply)
    return [{ say: reply }]
  })
}

/** claude acts by rotation and gemini is next, unless an `actor` is given. */
function rig(o: Partial<Rigged> & { replies?: string[]; reviews?: Script[] }) {
  const { replies = ['made'], reviews = [review()], ...rest } = o
  const files = new Map(o.files ?? tested)
  const made = thinkingRig({
    agents: { claude: writes(files, ...replies), gemini: reviews },
    rewind: true,
    commands: { 'npm run build': 0, 'npm test': 0 },
    ...rest,
    files,
  })
  return { ...made, think: (over?: Partial<Turn>) => made.run(reflect.agent(made.resources), over) }
}

test('the agent that acted mends the findings of another one, and build and tests decide', async (t) => {
  const { think, told, resources } = rig({ replies: ['made', 'mended'], reviews: [review(injection, taste)] })
  const { facts, events, result } = await think()
  golden(t, facts)
  assert.deepEqual(result, { ok: true, text: 'mended' })
  assert.deepEqual(phasesIn(events), [
    'checking before the work: npm run build',
    'checking before the work: npm test',
    'doing the work',
    'looking for bugs, edge cases and security problems',
    'fixing what was found',
    'checking: npm run build',
    'checking: npm test',
  ])
  const [first, second] = told('claude')
  assert.equal(first, `the task\n\n${resources.machine.description}`)
  assert.ok(
    second!.includes(
      '<finding>\nmust · security · db.ts:4\nthe id goes into the SQL as it is\nto fix it: bind it\n</finding>',
    ),
  )
  assert.ok(!second!.includes('a shorter name'))
  const [asked] = told('gemini')
  for (const part of [
    '<task>\nthe task\n</task>',
    resources.machine.description,
    '<reply from="claude">\nmade\n</reply>',
    '<changes>\n+db.ts: made\n</changes>',
  ])
    assert.ok(asked!.includes(part), part)
  assert.deepEqual(reflect.asks(resources), [{ role: 'critic', agent: 'gemini' }])
})

test('a review without findings is reported, and nothing is mended', async (t) => {
  const { think } = rig({})
  const { facts, result } = await think()
  golden(t, facts)
  assert.deepEqual(result, { ok: true, text: 'made' })
})

test('a matter of taste is reported, and nothing is mended for it', async (t) => {
  const { think } = rig({ reviews: [review(taste)] })
  const { facts } = await think()
  golden(
    t,
    facts.filter(({ type }) => type === 'reply' || type === 'note'),
  )
})

test('the agent that acted is its own critic only when no other is available, and a note says so', async (t) => {
  const files = new Map(tested)
  const alone = thinkingRig({
    agents: { claude: [...writes(files, 'made'), review()] },
    commands: { 'npm run build': 0, 'npm test': 0 },
    files,
  })
  const { events } = await alone.run(reflect.agent(alone.resources))
  golden(t, notesIn(events))
  golden(t, alone.told('claude')[1]!)
  assert.deepEqual(reflect.asks(alone.resources), [{ role: 'critic', agent: 'claude' }])
  const set = { readers: ['claude', 'gemini'], assigned: { critic: 'claude' } }
  assert.deepEqual(reflect.asks(set), [{ role: 'critic', agent: 'claude' }])
})

test('tests that fail are mended once, and hold then', async (t) => {
  const { think, told } = rig({
    replies: ['made', 'mended'],
    commands: { 'npm run build': 0, 'npm test': [0, { exit: 1, text: '1 failing' }, 0] },
  })
  const { facts, result } = await think()
  golden(t, facts)
  assert.deepEqual(result, { ok: true, text: 'mended' })
  assert.ok(told('claude')[1]!.includes('<check>\n`npm test` exited with 1:\n1 failing\n</check>'))
})

test('work that fails twice is reverted if the person says so, and reported as failed', async (t) => {
  const { think, files } = rig({
    replies: ['made', 'mended', 'mended again'],
    reviews: [review(injection)],
    commands: { 'npm run build': [0, { exit: 2, text: 'TS2304' }] },
  })
  const { ask, asked } = person(['back'])
  const { facts, result } = await think({ ask })
  golden(t, facts)
  golden(t, result)
  assert.deepEqual(
    asked.map(({ text }) => text),
    ['the work failed. Revert the 1 file it changed?'],
  )
  assert.deepEqual(files, tested)
})

const red = { exit: 1, text: '✖ an old fault (3.1ms)\nℹ fail 1' }

test('a test that was red before the work does not count against it: a judge decides', async (t) => {
  const { think, told } = rig({
    commands: { 'npm run build': 0, 'npm test': [red, { exit: 1, text: '✖ an old fault (4.7ms)\nℹ fail 1' }] },
    reviews: [review(), json({ passed: true, quote: 'made', why: 'seen' })],
  })
  const { events, result } = await think()
  golden(t, notesIn(events))
  golden(t, told('gemini')[1]!)
  assert.deepEqual([result, told('claude').length, told('gemini').length], [{ ok: true, text: 'made' }, 1, 2])
})

test('what the work broke beside a red test counts', async (t) => {
  const worse = { exit: 1, text: '✖ an old fault (3.1ms)\n✖ a new one (1ms)\nℹ fail 2' }
  const { think, told } = rig({
    replies: ['made', 'mended'],
    commands: { 'npm run build': 0, 'npm test': [red, worse, red] },
    reviews: [review(), json({ passed: true, quote: 'mended', why: 'seen' })],
  })
  const { events, result } = await think()
  golden(t, notesIn(events))
  assert.deepEqual(result, { ok: true, text: 'mended' })
  assert.ok(told('claude')[1]!.includes('✖ a new one'))
})

test('a judge that cannot be read or started leaves the answer as it is, and says that it could not be checked', async (t) => {
  for (const judge of [says('Looks good to me.'), dies()]) {
    const { think, told } = rig({ files: new Map(), agents: { claude: [review(), judge] }, actor: [says('made')] })
    const { facts, events, result } = await think()
    golden(t, notesIn(events))
    golden(t, facts.at(-1)!)
    assert.deepEqual([result, told('actor')], [{ ok: true, text: 'made' }, []])
  }
})

test('without tests another agent judges, and is told the findings', async (t) => {
  const { think, told } = rig({
    files: new Map(),
    replies: ['made', 'bound it'],
    reviews: [review(injection), json({ passed: true, quote: 'bound it', why: 'seen' })],
  })
  const { facts } = await think()
  golden(t, facts)
  golden(t, told('gemini')[1]!)
  assert.ok(told('gemini')[1]!.includes('the id goes into the SQL as it is'))
})

test('when no file was changed, the reply is the work, and no tests are run', async (t) => {
  const { think, told } = rig({
    actor: [says('CREATE TABLE')],
    agents: { claude: [review(), json({ passed: true, quote: 'CREATE TABLE', why: 'seen' })] },
  })
  const { facts } = await think()
  golden(t, facts)
  golden(t, told('claude')[0]!)
})

test('tests that are not allowed, or that this machine cannot run, leave the decision to a judge', async (t) => {
  const files = new Map([...tested, ['Cargo.toml', '[package]']])
  const { think } = rig({
    files,
    replies: ['made', 'mended'],
    reviews: [
      review(),
      json({ passed: false, why: 'half of it' }),
      json({ passed: true, quote: 'mended', why: 'seen' }),
    ],
    policy: async (_tool, input) =>
      (input as { command: string }).command === 'npm test'
        ? { verdict: 'no', why: 'a rule denies it' }
        : { verdict: 'yes', why: '' },
  })
  const { events, result } = await think()
  golden(t, notesIn(events))
  assert.deepEqual(result, { ok: true, text: 'mended' })
})

test('a review that cannot be read is asked for again, then handed on as words', async (t) => {
  const { think, told } = rig({
    replies: ['made', 'mended'],
    reviews: [json({ findings: [{ severity: 'fatal' }] }), says('Bind the id.')],
  })
  const { facts } = await think()
  golden(
    t,
    facts.filter(({ type }) => type === 'reply' || type === 'note'),
  )
  assert.equal(told('gemini').length, 2)
  assert.ok(told('claude')[1]!.includes('<review from="gemini">\nBind the id.\n</review>'))
})

test('a dead critic is replaced; where no agent can review, a note says so, and the tests decide', async (t) => {
  const files = new Map(tested)
  const commands = { 'npm run build': 0, 'npm test': 0 }
  const actor = writes(files, 'made')
  const one = rig({ files, commands, actor, rewind: false, agents: { claude: [dies()], gemini: [review()] } })
  golden(t, notesIn((await one.think()).events))
  const none = rig({ files, commands, actor, rewind: false, agents: { claude: [dies()], gemini: [dies()] } })
  const { events, result } = await none.think()
  assert.deepEqual(
    notesIn(events).map((text) => text.split(':')[0]),
    ['no review'],
  )
  assert.deepEqual(result, { ok: true, text: 'made' })
})

test('an acting agent that asks, or fails, ends the turn with that outcome', async () => {
  const outcome = { ok: true as const, text: 'Which table?', asks: 'Which table?' }
  const asks: Script = [
    { type: 'reply', text: 'Which table?' },
    { type: 'end', outcome },
  ]
  for (const actor of [[asks], [says('made'), asks]]) {
    const { think, told } = rig({ actor, agents: { claude: [review(injection)] } })
    assert.deepEqual((await think()).result, outcome)
    assert.equal(told('claude').length, actor.length - 1)
  }
})

test('a spent budget ends the turn at whichever call it is noticed', async () => {
  for (const calls of [0, 1, 2]) {
    const { think, running } = rig({ replies: ['made', 'mended'], reviews: [review(injection)] })
    assert.deepEqual((await think({ budget: callBudget(calls) })).result, empty, `after ${calls}`)
    assert.deepEqual(running(), [])
  }
})

test('a critic who says nothing is not waited for for ever', async () => {
  const { think, clock, running } = rig({
    agents: { claude: [hangs], gemini: [review()] },
    actor: [says('made')],
    rewind: false,
  })
  const thought = think()
  await clock.turn(180_000)
  const { events, result } = await thought
  assert.deepEqual(notesIn(events), ['no review: no answer in 180 s'])
  assert.deepEqual(result, { ok: true, text: 'made' })
  assert.deepEqual([running(), clock.asleep], [[], 0])
})

test('a cancel ends everybody, whatever is under way', async () => {
  const gemini = [review(injection)]
  const untested = { files: new Map<string, string>() }
  const phases: [string, Parameters<typeof rig>[0]][] = [
    ['checking before the work: npm run build', { commands: { 'npm run build': 'hang' } }],
    ['doing the work', { actor: [hangs] }],
    ['looking for bugs, edge cases and security problems', { actor: [says('made')], agents: { claude: [hangs] } }],
    ['fixing what was found', { actor: [says('made'), hangs], agents: { gemini } }],
    ['checking: npm run build', { commands: { 'npm run build': [0, 'hang'] } }],
    ['judging the work', { ...untested, reviews: [review(), hangs] }],
    [
      'fixing what the check showed',
      {
        actor: [says('made'), hangs],
        agents: { gemini: [review()] },
        rewind: false,
        commands: { 'npm run build': [0, 1] },
      },
    ],
  ]
  for (const [phase, o] of phases) {
    const { think, clock, running } = rig(o)
    assert.deepEqual(await cancelled(think), { last: phase, kind: 'aborted' })
    assert.deepEqual([running(), clock.asleep], [[], 0], phase)
  }
})

test('a cancel while leave for the tests is asked for is a cancel and no refusal', async (t) => {
  const { think } = rig({ policy: async () => ({ verdict: 'ask', why: 'it runs something' }) })
  const cancel = new AbortController()
  const ask = async () => {
    cancel.abort()
    return undefined
  }
  const { events, result } = await think({ signal: cancel.signal, ask })
  golden(t, notesIn(events))
  assert.equal(result.ok || result.failure.kind, 'aborted')
})
