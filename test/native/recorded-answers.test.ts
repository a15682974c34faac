import type { Question } from '../../src/core/talk/question.ts'
import type { Turn } from '../../src/core/work/agent.ts'
import type { AuditEntry } from '../../src/safety/audit-entry.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { realClock } from '../../src/base/time/clock.ts'
import { HandClock } from '../hand-clock.ts'
import { scriptedAgent } from '../agents/scripted-agent.ts'
import { allowsAct, withRecordedAnswers } from '../../src/native/recorded-answers.ts'
import { runTurn } from '../../src/app/turn.ts'
import { consentOptions } from '../../src/core/talk/consent.ts'
import { Audit } from '../../src/safety/audit-log.ts'
import { memoryStore } from '../../src/store/memory-store.ts'
import { all } from '../all-items.ts'
import { seated } from '../app/seat.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

async function entriesOf(audit: Audit): Promise<Partial<AuditEntry>[]> {
  const entries: Partial<AuditEntry>[] = []
  for await (const { seq: _seq, at: _at, owner: _owner, before: _before, hash: _hash, ...rest } of audit.export())
    entries.push(rest)
  return entries
}

const question: Question = {
  about: 'permission',
  text: 'Bash: removes the build\nIt reaches /project',
  from: [],
  free: true,
  shows: [{ type: 'command', command: 'rm -r build' }],
  options: consentOptions({
    once: { id: 'once', label: 'Yes, once' },
    always: { id: 'always', label: 'Yes, always in this project', grants: 'Bash(rm:*), in this project from now on' },
    no: { id: 'no', label: 'No' },
    others: [
      { id: 'turn', label: 'Yes, until this turn ends', grants: 'Bash(rm:*), until this turn ends' },
      { id: 'edit', label: 'Change it first' },
    ],
  }),
}

const audited = () => new Audit(memoryStore(), { clock: new HandClock(), mask: (text) => text })

const turnOf = (ask: Turn['ask'], signal = new AbortController().signal) =>
  ({ id: 't', prompt: 'go', signal, ask, clock: new HandClock() }) as unknown as Turn

test('an answer is in the audit before the agent learns of it: who asked, what, which answer, and for how long', async () => {
  const audit = audited()
  const answers: (string[] | undefined)[] = [
    ['once'],
    ['always'],
    ['turn'],
    ['edit'],
    ['no'],
    ['use git clean'],
    undefined,
  ]
  const known: number[] = []
  const asker = scriptedAgent('claude', [[{ say: 'unused' }]])
  const asking = {
    ...asker,
    async *turn(turn: Turn) {
      for (const _ of answers) {
        await turn.ask(question, turn.signal)
        known.push((await entriesOf(audit)).length)
      }
      // A question about something else allows nothing, and is not recorded.
      await turn.ask({ ...question, about: 'silence' }, turn.signal)
      yield { type: 'end' as const, outcome: { ok: true as const, text: '' } }
    },
  }
  const scene = { project: '/project', session: 's' }
  const left = [...answers]
  const agent = withRecordedAnswers(asking, { audit: async () => audit, scene }, allowsAct)
  await all(agent.turn(turnOf(async () => left.shift())))
  assert.deepEqual(known, [1, 2, 3, 4, 5, 6, 7])
  const what = 'Bash: removes the build: rm -r build'
  const [one, at] = [
    { type: 'approval', tool: 'permission', what },
    { by: 'claude', ...scene, turn: 't' },
  ]
  const always = { picked: 'Yes, always in this project', rule: 'Bash(rm:*), in this project from now on' }
  const forTurn = { picked: 'Yes, until this turn ends', rule: 'Bash(rm:*), until this turn ends' }
  assert.deepEqual(await entriesOf(audit), [
    { ...one, answer: 'once', picked: 'Yes, once', ...at },
    { ...one, answer: 'always', ...always, ...at },
    { ...one, answer: 'always', ...forTurn, ...at },
    { ...one, answer: 'other', picked: 'Change it first', ...at },
    { ...one, answer: 'no', picked: 'No', ...at },
    { ...one, answer: 'no', picked: 'use git clean', ...at },
    { ...one, answer: 'nobody', ...at },
  ])
  assert.deepEqual((await audit.verify()).state, 'whole')
})

test('a yes that cannot be recorded does not reach the agent, and a note says why; a no does', async (t) => {
  const audit = async () => Promise.reject(new Error('the disk is full'))
  const heard: unknown[] = []
  const then = (picks: string[] | undefined) => (heard.push(picks), [])
  const steps = [{ ask: question, then }, { ask: question, then }, { say: 'done' }]
  const agent = withRecordedAnswers(scriptedAgent('claude', [steps]), { audit, scene: {} }, allowsAct)
  const left = [['once'], ['no']]
  const events = await all(agent.turn(turnOf(async () => left.shift())))
  assert.deepEqual(heard, [undefined, ['no']])
  golden(
    t,
    events.flatMap((event) => (event.type === 'note' ? [event.text] : [])),
  )
})

test('a question that the agent takes back is recorded as withdrawn', async () => {
  const audit = audited()
  const withdrawn = AbortSignal.abort()
  const agent = withRecordedAnswers(
    {
      ...scriptedAgent('gemini', []),
      async start(_signal, ask) {
        await ask?.({ ...question, about: 'trust' }, withdrawn)
        return undefined
      },
    },
    { audit: async () => audit, scene: { project: '/project' } },
    allowsAct,
  )
  await agent.start!(new AbortController().signal, async () => undefined)
  const what = 'Bash: removes the build: rm -r build'
  assert.deepEqual(await entriesOf(audit), [
    { type: 'approval', tool: 'trust', what, answer: 'withdrawn', by: 'gemini', project: '/project' },
  ])
})

/** An agent over ACP that asks before it makes a file, with only as much of the protocol as that needs. */
const asks = `
import { writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n')
const options = [
  { optionId: 'yes', name: 'Allow', kind: 'allow_once' },
  { optionId: 'never', name: 'Reject', kind: 'reject_once' },
]
let prompt
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params, result } = JSON.parse(line)
  if (method === 'initialize') send({ id, result: { protocolVersion: 1, agentCapabilities: {} } })
  else if (method === 'session/new') send({ id, result: { sessionId: 's' } })
  else if (method === 'session/prompt') {
    prompt = id
    const toolCall = { toolCallId: 'c', title: 'Run a command', kind: 'execute', rawInput: { command: 'touch made.txt' } }
    send({ id: 'ask', method: 'session/request_permission', params: { sessionId: 's', toolCall, options } })
  } else if (id === 'ask') {
    if (result.outcome.optionId === 'yes') writeFileSync('made.txt', '')
    send({ id: prompt, result: { stopReason: 'end_turn' } })
  } else if (id !== undefined) send({ id, result: {} })
}
process.exit()
`

test('the answers of a person to an agent over ACP are in the audit of the project, and /audit shows them', async (t) => {
  const agents = [
    { name: 'asker', kind: 'acp', command: `${process.execPath} ../asks.mjs`, contextWindowTokens: 9_000 },
  ]
  const seat = await seated(t, { agents, metaInstruction: false, leash: 'ask' }, {}, realClock)
  writeFileSync(join(seat.folder, 'asks.mjs'), asks)
  for (const picks of [['never'], ['yes'], undefined]) {
    const ask: Turn['ask'] = async ({ about }) => (about === 'permission' ? picks : undefined)
    await all(runTurn(seat.app, { prompt: 'make it', signal: seat.stop.signal, ask, attended: true }))
  }
  assert.ok(existsSync(join(seat.project, 'made.txt')))
  const { auditOf } = await import('../../src/native/native-audit.ts')
  const act = { type: 'approval', tool: 'permission', what: 'Run a command: touch made.txt' }
  const scene = { project: seat.project, session: seat.app.session.id }
  assert.deepEqual(
    (await entriesOf(auditOf(seat.app.native)!)).map(({ turn: _turn, ...entry }) => entry),
    [
      { ...act, answer: 'no', picked: 'Reject', by: 'asker', ...scene },
      { ...act, answer: 'once', picked: 'Allow', by: 'asker', ...scene },
      { ...act, answer: 'nobody', by: 'asker', ...scene },
    ],
  )
  const [rows] = await seat.type('/audit')
  assert.match(
    rows![1],
    /approval +Reject +asker +permission +Run a command: touch made\.txt\n.*approval +Allow +asker/,
  )
})
