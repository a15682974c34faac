import type { Turn } from '../../src/core/work/agent.ts'
import type { Script } from '../agents/scripted-agent.ts'
import type { Tool } from '../../src/core/work/tool.ts'
import type { FrameworkDefinition } from '../../src/think/framework-agent.ts'
import type { Ran, Rigged } from './rig.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { consensus } from '../../src/think/consensus/consensus.ts'
import { consentForMore } from '../../src/think/cost-consent.ts'
import { decompose } from '../../src/think/decompose/decompose.ts'
import { reflect } from '../../src/think/reflect/reflect.ts'
import { script } from '../../src/think/script/script.ts'
import { sequential } from '../../src/think/sequential/sequential.ts'
import { memoryStore } from '../../src/store/memory-store.ts'
import { json, thinkingRig, notesIn, person, says } from './rig.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const free = { agreed: true, freeCalls: 2, agree: async () => {} }
const trees = { kept: memoryStore().doc('trees', []), owner: 'me', alive: () => false, ...free }

const way = (name: string) => ({ name, how: `do it with ${name}`, needs: [] })
const check = { kind: 'command', command: 'verify' }

/** An agent in every role; the chair ranks another approach each time it is asked. */
function everybody(ranked: string[], asked: string[]): Script {
  const answers: [begins: string, answer: () => unknown][] = [
    ['You judge', () => ({ passed: true, quote: 'done', why: 'it says so' })],
    ['You are a diagnostician', () => ({ wants: 'fix', hypotheses: [guess] })],
    ['You decide what one observation', () => ({ verdict: 'rejected', quote: 'fine', why: 'it is fine' })],
    ['You plan a piece of work', () => ({ tasks: [{ id: 'a', task: 'make it', check }] })],
    ['A piece of work is done as the tree', () => ({ how: 'make it otherwise' })],
    ['You review work', () => ({ findings: [] })],
    ['You write a throw-away script', () => ({ language: 'node', code: 'boom()', why: 'it counts' })],
    ['You chair', () => ({ approaches: [{ ...way(ranked.shift()!), why: 'it is left', check }] })],
    ['Five advisors', () => ({ approaches: [way('one')], approach: way('one'), rationale: '', script: null, why: '' })],
  ]
  return (turn) => {
    asked.push(turn.prompt)
    const [, answer] = answers.find(([begins]) => turn.prompt.startsWith(begins))!
    const said = answer() as { approaches?: object[] }
    const viable = turn.prompt.includes('You are the dependency scanner')
    const rows = said.approaches?.map((row) => (viable ? { ...row, viable: true, reason: 'it is there' } : row))
    return json(rows ? { ...said, approaches: rows } : said) as Exclude<Script, (turn: Turn) => unknown>
  }
}

const guess = { cause: 'the cache is stale', why: 'it is old', diagnostic: 'look', expects: 'stale' }

const repl: Tool = {
  name: 'repl',
  description: '',
  schema: {},
  risk: 'run',
  parse: (input) => input,
  run: async () => ({ text: 'ReferenceError: boom is not defined', data: { exit: 1 } }),
}

function rigged(ranked: string[], verify: Ran[], more: Rigged = {}) {
  const asked: string[] = []
  const one = everybody(ranked, asked)
  const rig = thinkingRig({
    agents: { claude: [one], gemini: [one] },
    actor: [says('done')],
    commands: { verify, 'npm test': verify, look: { exit: 0, text: 'fine' } },
    tools: [repl],
    council: true,
    ...more,
  })
  const councils = () => asked.filter((prompt) => prompt.startsWith('You chair')).length
  return { rig, asked, councils }
}

const tested = new Map([['package.json', '{"scripts":{"test":"node --test"}}']])

const frameworks: [name: string, FrameworkDefinition, ranked: string[], verify: Ran[], councils: number, Rigged?][] = [
  ['consensus', consensus, ['first', 'second'], [1, 1, 0], 2],
  ['sequential', sequential(free), ['second'], [0], 1],
  ['decompose', decompose(trees), ['second'], [1, 1, 1, 1, 0], 1],
  ['reflect', reflect, ['second'], [0, 1, 1, 0], 1, { files: tested }],
  ['script', script, ['second'], [0], 1],
]

for (const [name, definition, ranked, verify, councils, more] of frameworks)
  test(`${name} steps back to the council when it has no approach left, and takes the proposals`, async (t) => {
    const made = rigged([...ranked], verify, more)
    const { events, result } = await made.rig.run(definition.agent(made.rig.resources))
    assert.deepEqual(result, { ok: true, text: 'done' }, notesIn(events).join('\n'))
    assert.equal(made.councils(), councils)
    const notes = notesIn(events)
    golden(t, notes)
    assert.ok(notes.some((text) => text.includes('stepping back to second')) || name === 'sequential', notes.join('\n'))
    const chair = made.asked.findLast((prompt) => prompt.startsWith('You chair'))!
    assert.match(chair, /These approaches were tried and failed\. Propose none of them again/)
    assert.equal(events.flatMap((event) => (event.type === 'verdict' ? [event.passed] : []))[0], true)
  })

test('a council that proposes a failed approach again is not followed, and the turn lists the attempts', async (t) => {
  const { rig, councils } = rigged(['first', 'first'], [1])
  const { result, events } = await rig.run(consensus.agent(rig.resources))
  assert.equal(result.ok ? '' : result.failure.kind, 'unmet')
  assert.equal(councils(), 2)
  golden(t, notesIn(events))
})

test('a person is shown what the council costs, and a no ends the search', async (t) => {
  const { rig, councils } = rigged(['first'], [1])
  const { ask, asked } = person(['direct'])
  const agreement = { agreed: false, freeCalls: 20, agree: async () => {} }
  const moreCalls = consentForMore({
    framework: 'consensus',
    definition: consensus,
    resources: rig.resources,
    ...agreement,
  })
  const { result } = await rig.run(consensus.agent({ ...rig.resources, moreCalls }), { ask, attended: true })
  assert.equal(result.ok ? '' : result.failure.kind, 'unmet')
  assert.equal(councils(), 1)
  golden(
    t,
    asked.map(({ text, options }) => [text, options.at(-1)!.label]),
  )
})
