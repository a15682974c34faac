import type { Rigged } from '../rig.ts'
import type { Turn } from '../../../src/core/work/agent.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { sequential } from '../../../src/think/sequential/sequential.ts'
import { cancelled } from '../cancel.ts'
import { dies, empty, hangs, json, thinkingRig, notesIn, person, phasesIn, callBudget, says } from '../rig.ts'
import { goldenOf } from '../../golden.ts'

const golden = goldenOf(import.meta.filename)

const way = sequential({ agreed: false, freeCalls: 2, agree: async () => {} })

const port = { cause: 'the port is taken', why: 'it is fixed', diagnostic: 'ss -ltn', expects: ':3000 in use' }
const key = { cause: 'the key is missing', why: 'no .env', diagnostic: 'cat .env', expects: 'no API_KEY' }
const seen = (verdict: string, quote?: string, more: object = {}) =>
  json({ verdict, why: 'that is what it shows', ...(quote === undefined ? {} : { quote }), ...more })

/** claude names the causes, gemini decides, `actor` acts. */
function rig(o: Partial<Rigged> & { names: unknown[]; wants?: string; decides: ReturnType<typeof json>[] }) {
  const { names, wants = 'answer', decides, ...rest } = o
  const made = thinkingRig({
    agents: { claude: [json({ wants, hypotheses: names })], gemini: decides },
    actor: [says('the answer')],
    ...rest,
  })
  return { ...made, think: (over?: Partial<Turn>) => made.run(way.agent(made.resources), over) }
}

const ended = { type: 'reply', text: 'the answer', by: 'actor' }
const verdict = (calls: number, passed?: boolean, by = 'actor') => ({
  type: 'verdict',
  framework: 'sequential',
  why: '',
  ...(passed === undefined ? {} : { passed }),
  calls,
  ms: 0,
  by,
})
const ran = (call: string, command: string, result: object, seconds = 120) => [
  { type: 'call', call, tool: 'bash', input: { command, timeout_seconds: seconds }, by: 'termaite' },
  { type: 'result', call, ok: true, ...result, by: 'termaite' },
]
const note = (text: string) => ({ type: 'note', text, by: 'termaite' })

test('a cause is ruled out, the next is confirmed by its output, and a question is answered without a check', async () => {
  const { think, resources, told, names } = rig({
    names: [port, key],
    decides: [seen('rejected', 'no listener'), seen('confirmed', 'LOG=1')],
    commands: { 'ss -ltn': { exit: 0, text: 'no listener' }, 'cat .env': { exit: 0, text: 'LOG=1\n' } },
  })
  const { facts, events, result } = await think()
  assert.deepEqual(facts, [
    ...ran('c1', 'ss -ltn', { text: 'no listener', data: { exit: 0 } }),
    note('rejected: the port is taken (`ss -ltn`: no listener)'),
    ...ran('c2', 'cat .env', { text: 'LOG=1\n', data: { exit: 0 } }),
    note('confirmed: the key is missing (`cat .env`: LOG=1)'),
    ended,
    verdict(3),
  ])
  assert.deepEqual(result, { ok: true, text: 'the answer' })
  assert.deepEqual(phasesIn(events), [
    'naming possible causes',
    'looking: ss -ltn',
    'deciding: the port is taken',
    'looking: cat .env',
    'deciding: the key is missing',
    'answering with what was found',
  ])
  assert.deepEqual(names(), ['claude', 'gemini', 'gemini'])
  assert.deepEqual(way.asks(resources), [
    { role: 'diagnostician', agent: 'claude' },
    { role: 'decider', agent: 'gemini' },
  ])
  const [asked] = told('claude')
  assert.ok(asked!.includes('<task>\nthe task\n</task>') && asked!.includes(resources.machine.description))
  assert.ok(told('gemini')[1]!.includes('<finding>\nrejected: the port is taken\nseen in `ss -ltn`: no listener\n'))
})

test('the likeliest cause is tested unasked; before the others a person who watches sees their cost, and may go without', async (t) => {
  const rigged = {
    names: [port, key],
    decides: [seen('rejected', 'no listener'), seen('confirmed', 'LOG=1')],
    commands: { 'ss -ltn': { exit: 0, text: 'no listener' }, 'cat .env': { exit: 0, text: 'LOG=1\n' } },
  }
  const first = rig(rigged)
  const yes = person(['go'])
  const went = await first.think({ ask: yes.ask, attended: true })
  golden(t, yes.asked)
  assert.deepEqual(went.facts.at(-1), verdict(3))
  const second = rig(rigged)
  const { facts } = await second.think({ ask: person(['direct']).ask, attended: true })
  golden(t, facts.slice(-3))
  const [acted] = (second.resources.actor as unknown as { turns: Turn[] }).turns
  const known = 'rejected: the port is taken (`ss -ltn`: no listener)\nnot tested: the key is missing'
  assert.ok(acted!.prompt.endsWith(`<diagnosis>\n${known}\n</diagnosis>`))
})

test('a confirmed cause is mended, and then the failed diagnostic must pass', async () => {
  const { think, resources } = rig({
    names: [key],
    wants: 'fix',
    decides: [seen('confirmed', 'no such key')],
    commands: {
      'cat .env': [
        { exit: 1, text: 'no such key' },
        { exit: 0, text: 'API_KEY=1' },
      ],
    },
  })
  const { facts, result } = await think()
  assert.deepEqual(facts, [
    ...ran('c1', 'cat .env', { text: 'no such key', data: { exit: 1 } }),
    note('confirmed: the key is missing (`cat .env`: no such key)'),
    ended,
    ...ran('c2', 'cat .env', { text: 'API_KEY=1', data: { exit: 0 } }, 600),
    verdict(2, true),
  ])
  assert.deepEqual(result, { ok: true, text: 'the answer' })
  const [acted] = (resources.actor as unknown as { turns: Turn[] }).turns
  assert.ok(
    acted!.prompt.startsWith(
      `the task\n\n${resources.machine.description}\n\n<approach>\nthe fix for “the key is missing”\n`,
    ),
  )
  assert.ok(acted!.prompt.includes('seen in `cat .env`: no such key'))
})

test('a check that holds before anything was mended is no check', async () => {
  const check = { kind: 'command', command: 'true' }
  const { think } = rig({
    names: [key],
    wants: 'fix',
    decides: [seen('confirmed', 'nothing', { check })],
    commands: { 'cat .env': { exit: 0, text: 'nothing' }, true: 0, 'npm test': [1, 0] },
    files: new Map([['package.json', '{"scripts":{"test":"node --test"}}']]),
  })
  const { events, result } = await think()
  const commands = events.flatMap((event) =>
    event.type === 'call' ? [(event.input as { command: string }).command] : [],
  )
  assert.deepEqual(commands, ['cat .env', 'true', 'npm test', 'npm test'])
  assert.deepEqual(result, { ok: true, text: 'the answer' })
})

test('when no command shows the result, another agent judges and quotes the work', async (t) => {
  const { think, told } = rig({
    names: [key],
    wants: 'fix',
    decides: [seen('confirmed', 'nothing')],
    agents: {
      claude: [
        json({ wants: 'fix', hypotheses: [key] }),
        json({ passed: true, quote: 'the answer', why: 'it says so' }),
      ],
      gemini: [seen('confirmed', 'nothing')],
    },
    commands: { 'cat .env': { exit: 0, text: 'nothing' } },
  })
  const { facts } = await think()
  assert.deepEqual(facts.slice(-2), [ended, verdict(3, true)])
  golden(t, told('claude')[1]!)
})

test('a check that is not allowed counts as none; one that only a judge can make is put to a judge', async () => {
  const judge = json({ passed: true, quote: 'the answer', why: 'it says so' })
  const named = json({ wants: 'fix', hypotheses: [key] })
  const commands = { 'cat .env': { exit: 1, text: 'no such key' } }
  const policy: Rigged['policy'] = async (_tool, input) =>
    (input as { command: string }).command === 'sudo true'
      ? { verdict: 'no', why: 'never' }
      : { verdict: 'yes', why: '' }
  const denied = rig({
    names: [key],
    wants: 'fix',
    decides: [seen('confirmed', 'no such key', { check: { kind: 'command', command: 'sudo true' } })],
    commands: { 'cat .env': [commands['cat .env'], 0] },
    policy,
  })
  const { events } = await denied.think()
  assert.deepEqual(phasesIn(events).slice(3), [
    'checking: sudo true',
    'the fix for “the key is missing”',
    'checking: cat .env',
  ])
  const question = 'Is the page shown again?'
  const judged = rig({
    names: [],
    decides: [],
    agents: {
      claude: [named, judge],
      gemini: [seen('confirmed', 'no such key', { check: { kind: 'judge', question } })],
    },
    commands,
  })
  assert.deepEqual((await judged.think()).facts.slice(-2), [ended, verdict(3, true)])
  assert.ok(judged.told('claude')[1]!.includes(question))
})

test('a fix that fails twice shows that it was not the cause: the next one is looked at, and this one never again', async (t) => {
  const files = new Map([['a.ts', 'old']])
  const { think, told, resources } = rig({
    names: [port, key],
    wants: 'fix',
    decides: [seen('confirmed', 'LISTEN', { more: [port] }), seen('confirmed', 'no such key')],
    actor: [
      (turn) => {
        files.set('a.ts', turn.prompt.includes('port') ? 'wrong' : 'right')
        return [{ say: 'tried' }]
      },
    ],
    commands: { 'ss -ltn': { exit: 1, text: 'LISTEN' }, 'cat .env': [{ exit: 1, text: 'no such key' }, 0] },
    files,
    rewind: true,
  })
  const { ask, asked } = person(['back'])
  const { events, result } = await think({ ask })
  golden(t, notesIn(events))
  assert.deepEqual(result, { ok: true, text: 'tried' })
  const disproved = 'it seemed confirmed, was fixed twice, and still `ss -ltn` exited with 1:\nLISTEN'
  for (const prompt of [told('gemini')[1]!, (resources.actor as unknown as { turns: Turn[] }).turns[2]!.prompt])
    assert.ok(prompt.includes(`rejected: the port is taken\nseen in \`ss -ltn\`: LISTEN\n${disproved}`))
  assert.deepEqual(
    asked.map(({ text }) => text),
    ['the fix for “the port is taken” failed. Revert the 1 file it changed?'],
  )
})

test('with nothing left to test, the attempts and the known facts are listed, and the turn has failed', async (t) => {
  const { think, resources } = rig({
    names: [port, key],
    decides: [seen('rejected', 'no listener'), seen('rejected', 'API_KEY=1')],
    commands: { 'ss -ltn': { exit: 0, text: 'no listener' }, 'cat .env': { exit: 0, text: 'API_KEY=1' } },
  })
  const { facts, result } = await think()
  const text = [
    'Not achieved: the task',
    '',
    'What was tried:',
    '- the port is taken: rejected, that is what it shows',
    '- the key is missing: rejected, that is what it shows',
    '',
    'What is known:',
    '- `ss -ltn`: no listener',
    '- `cat .env`: API_KEY=1',
  ].join('\n')
  assert.deepEqual(facts.slice(-2), [{ type: 'reply', text, by: 'termaite' }, verdict(3, false, 'termaite')])
  golden(t, result)
  assert.deepEqual((resources.actor as unknown as { turns: Turn[] }).turns, [])
})

test('a quote that stands nowhere decides nothing, whatever the verdict', async (t) => {
  const { think } = rig({
    names: [port, key],
    decides: [seen('confirmed', 'EADDRINUSE'), seen('rejected')],
    commands: { 'ss -ltn': { exit: 0, text: 'no listener' }, 'cat .env': { exit: 0, text: 'LOG=1' } },
  })
  const { events, result } = await think()
  golden(t, notesIn(events))
  assert.equal(result.ok, false)
})

test('the last verdict of a contradictory answer counts', async () => {
  const both = ['confirmed', 'rejected'].map((one) => JSON.stringify({ verdict: one, quote: 'no listener', why: one }))
  const { think } = rig({
    names: [port],
    decides: [says(both.map((one) => `\`\`\`json\n${one}\n\`\`\``).join('\nNo, wait:\n'))],
    commands: { 'ss -ltn': { exit: 0, text: 'no listener' } },
  })
  assert.deepEqual(notesIn((await think()).events), ['rejected: the port is taken (`ss -ltn`: no listener)'])
})

test('the deciding agent is told of a diagnostic that is not allowed, and may look at a file instead', async (t) => {
  const { think, told } = rig({
    names: [port, key],
    decides: [seen('confirmed', 'not allowed'), seen('confirmed', 'PORT=1', { file: '.env' })],
    policy: async () => ({ verdict: 'no', why: 'this agent may only read' }),
    files: new Map([['.env', 'PORT=1\n']]),
  })
  const { events, result } = await think()
  golden(t, notesIn(events))
  assert.ok(told('gemini')[0]!.includes('it was not run: bash was not allowed: this agent may only read.'))
  assert.deepEqual(result, { ok: true, text: 'the answer' })
})

test('a diagnostic is held to asking before it changes anything, however loose the turn is; all is all', async () => {
  for (const [given, held] of [
    ['read', 'read'],
    ['ask', 'ask'],
    ['edit', 'ask'],
    ['all', 'all'],
  ] as const) {
    const leashes: string[] = []
    const policy: Rigged['policy'] = async (_tool, _input, { leash }) => {
      leashes.push(leash)
      return { verdict: 'yes', why: '' }
    }
    const { think } = rig({ names: [port], decides: [seen('unclear')], policy, commands: { 'ss -ltn': 0 } })
    await think({ leash: given })
    assert.deepEqual(leashes, [held])
  }
})

test('a diagnostic that hangs is ended: its output is seen, and the end is mentioned', async (t) => {
  const text = 'listening…\n[ended after 120 s.]'
  const { think, told } = rig({
    names: [port],
    decides: [seen('confirmed', 'listening…')],
    commands: { 'ss -ltn': { text } },
  })
  const { events } = await think()
  assert.deepEqual(notesIn(events), ['confirmed: the port is taken (`ss -ltn`: listening…)'])
  golden(t, told('gemini')[0]!)
})

test('hypotheses from an observation are tested first, none twice, and seven in all', async () => {
  const others = Array.from({ length: 9 }, (_, n) => ({ ...key, cause: `cause ${n}`, diagnostic: `look ${n}` }))
  const again = { ...port, cause: 'The port is taken!' }
  const { think } = rig({
    names: [port, port, ...others],
    decides: [seen('rejected', 'no', { more: [again, key] }), seen('rejected', 'no')],
    commands: Object.fromEntries(
      ['ss -ltn', 'cat .env', ...others.map((one) => one.diagnostic)].map((one) => [one, { exit: 0, text: 'no' }]),
    ),
  })
  const { events, result } = await think()
  const looks = phasesIn(events).flatMap((words) => (words.startsWith('looking: ') ? [words.slice(9)] : []))
  assert.deepEqual(looks, ['ss -ltn', 'cat .env', 'look 0', 'look 1', 'look 2', 'look 3', 'look 4'])
  assert.equal(result.ok, false)
})

test('three undecided hypotheses in a row are enough, and a dead decider gives no verdict', async () => {
  const all = [0, 1, 2, 3].map((n) => ({ ...key, cause: `cause ${n}`, diagnostic: `look ${n}` }))
  const { think } = rig({
    names: [],
    decides: [],
    agents: { claude: [json({ wants: 'fix', hypotheses: all }), dies()], gemini: [dies()] },
    commands: { 'look 0': 0, 'look 1': 0, 'look 2': 0 },
  })
  const { events, result } = await think()
  const notes = notesIn(events)
  assert.deepEqual(
    notes.map((one) => one.split(' (')[0]),
    ['unclear: cause 0', 'unclear: cause 1', 'unclear: cause 2'],
  )
  assert.ok(notes.every((one) => one.includes('no decision')))
  assert.equal(result.ok, false)
})

test('hypotheses that cannot be read are asked for again, then handed on as words', async (t) => {
  const { think, told, resources } = rig({
    names: [],
    decides: [],
    agents: {
      claude: [says('{"wants":"fix","hypotheses":[{"cause":""}]}'), says('It is the cache.')],
      gemini: [says('no')],
    },
  })
  const { facts, result } = await think()
  golden(t, facts)
  assert.deepEqual(result, { ok: true, text: 'the answer' })
  assert.equal(told('claude').length, 2)
  const [acted] = (resources.actor as unknown as { turns: Turn[] }).turns
  golden(t, acted!.prompt)
})

test('a dead agent is replaced; when all are dead, the acting agent goes on alone', async () => {
  const one = rig({
    names: [],
    decides: [],
    agents: { claude: [dies()], gemini: [json({ wants: 'answer', hypotheses: [port] }), seen('confirmed', 'LISTEN')] },
    commands: { 'ss -ltn': { exit: 0, text: 'LISTEN' } },
  })
  assert.deepEqual(notesIn((await one.think()).events), ['confirmed: the port is taken (`ss -ltn`: LISTEN)'])
  const none = rig({ names: [], decides: [], agents: { claude: [dies()], gemini: [dies()] } })
  const { facts, result } = await none.think()
  assert.deepEqual(facts.at(-2), ended)
  assert.deepEqual(result, { ok: true, text: 'the answer' })
})

test('the person says who diagnoses and who decides', () => {
  const asked = way.asks({ readers: ['claude', 'gemini'], assigned: { diagnostician: 'qwen' } })
  assert.deepEqual(asked, [
    { role: 'diagnostician', agent: 'qwen' },
    { role: 'decider', agent: 'claude' },
  ])
})

test('an acting agent that asks, or fails, ends the turn', async () => {
  const outcome = { ok: true as const, text: 'Which port?', asks: 'Which port?' }
  for (const wants of ['answer', 'fix']) {
    const { think } = rig({
      names: [port, key],
      wants,
      decides: [seen('confirmed', 'LISTEN')],
      actor: [
        [
          { type: 'reply', text: 'Which port?' },
          { type: 'end', outcome },
        ],
      ],
      commands: { 'ss -ltn': { exit: 1, text: 'LISTEN' } },
    })
    assert.deepEqual((await think()).result, outcome)
  }
})

test('a spent budget ends the turn at whichever call it is noticed', async () => {
  for (const calls of [0, 1, 2]) {
    const { think, running } = rig({
      names: [port],
      wants: 'fix',
      decides: [seen('confirmed', 'LISTEN')],
      commands: { 'ss -ltn': { exit: 1, text: 'LISTEN' } },
    })
    assert.deepEqual((await think({ budget: callBudget(calls) })).result, empty, `after ${calls}`)
    assert.deepEqual(running(), [])
  }
})

test('a diagnostician who says nothing is not waited for for ever', async (t) => {
  const { think, clock, running } = rig({ names: [], decides: [], agents: { claude: [hangs], gemini: [hangs] } })
  const thought = think()
  await clock.turn(180_000)
  const { facts, result } = await thought
  golden(t, facts)
  assert.deepEqual(result, { ok: true, text: 'the answer' })
  assert.deepEqual([running(), clock.asleep], [[], 0])
})

test('a cancel ends everybody, whatever is under way', async () => {
  const named = { names: [port], decides: [seen('confirmed', 'LISTEN')] }
  const taken = { exit: 1, text: 'LISTEN' }
  const commands = { 'ss -ltn': taken }
  const check = { kind: 'command', command: 'curl :3000' }
  const phases: [string, Parameters<typeof rig>[0]][] = [
    ['naming possible causes', { ...named, agents: { claude: [hangs], gemini: [hangs] } }],
    ['looking: ss -ltn', { ...named, commands: { 'ss -ltn': 'hang' } }],
    ['deciding: the port is taken', { ...named, commands, decides: [hangs] }],
    ['answering with what was found', { ...named, commands, actor: [hangs] }],
    [
      'checking: curl :3000',
      {
        ...named,
        wants: 'fix',
        decides: [seen('confirmed', 'LISTEN', { check })],
        commands: { ...commands, 'curl :3000': 'hang' },
      },
    ],
    ['the fix for “the port is taken”', { ...named, wants: 'fix', commands, actor: [hangs] }],
    ['checking: ss -ltn', { ...named, wants: 'fix', commands: { 'ss -ltn': [taken, 'hang'] } }],
  ]
  for (const [phase, o] of phases) {
    const { think, clock, running } = rig(o)
    assert.deepEqual(await cancelled(think), { last: phase, kind: 'aborted' })
    assert.deepEqual([running(), clock.asleep], [[], 0], phase)
  }
})
