import type { Answer, Asked, Script } from '../real/model-server.ts'
import { test, type TestContext } from 'node:test'
import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Slot } from '../../src/crew/slot.ts'
import { fullOnly, sized } from '../full.ts'
import { modelServer } from '../real/model-server.ts'
import { until } from '../until.ts'
import { ended, Machine } from './program.ts'

const options = { timeout: 120_000, skip: process.platform !== 'linux' && 'it finds processes in /proc' }

type Said = Awaited<ReturnType<Script>>

const hang = { hang: true } as Said
const handoff = (done: string) =>
  JSON.stringify({
    what_was_done: done,
    evidence: ['a.txt:1'],
    unresolved_risks: [],
    exact_next_step: 'None.',
    status: 'completed',
  })
const wish = (name: string, more: object = {}) => ({
  name,
  description: `Does ${name}.`,
  prompt: `Task ${name}`,
  role: 'explorer',
  ...more,
})
const spawn: Answer = {
  call: { tool: 'spawn_workers_batch', input: { workers: [wish('one'), wish('two', { agent: 'other' })] } },
}
const wait: Answer = { call: { tool: 'await_workers', input: {} } }

/** A coordinator of our own agent, with a worker of our own and one of another program, which answers once it may. */
async function machineOf(t: TestContext) {
  let lead: (request: number, asked: Asked) => Said = () => hang
  let worker: (request: number) => Said = () => hang
  const asked = { lead: [] as string[], worker: [] as string[] }
  const server = await modelServer((one) => {
    const body = JSON.stringify(one.body)
    const who = body.includes('You are a worker:') ? 'worker' : 'lead'
    const request = asked[who].push(body)
    return who === 'worker' ? worker(request) : lead(request, one)
  })
  t.after(() => server.close())
  const machine = new Machine(t)
  const go = join(machine.project, 'go')
  // The number of seconds by which the processes of this worker are told from all others.
  const label = `${1_000_000 + randomInt(900_000_000)}`
  writeFileSync(
    join(machine.project, 'other.sh'),
    `cat >/dev/null\nsleep $1 &\nwhile [ ! -e ${go} ]; do sleep 0.05; done\nkill $!\ncat <<'END'\n${handoff('The other program did it.')}\nEND\n`,
  )
  const own = {
    name: 'native',
    kind: 'native',
    model: 'anthropic/claude-sonnet-4-5',
    baseURL: `${server.url}/v1`,
    contextWindowTokens: 200_000,
  }
  const other = { name: 'other', command: `sh other.sh ${label}`, contextWindowTokens: 100_000 }
  machine.settings({ metaInstruction: false, agents: [own, other] })
  writeFileSync(join(machine.project, 'a.txt'), 'one\n')
  const crew = join(machine.home, 'crew')
  const slots = (): Slot[] => {
    const [workspace] = existsSync(crew) ? readdirSync(crew).filter((name) => !name.includes('.json')) : []
    if (workspace === undefined) return []
    const file = join(crew, workspace, 'slots.json')
    return existsSync(file) ? Object.values((JSON.parse(readFileSync(file, 'utf8')) as { slots: object }).slots) : []
  }
  return {
    machine,
    asked,
    slots,
    crew,
    release: () => writeFileSync(go, ''),
    script(of: { lead?: typeof lead; worker?: typeof worker }) {
      lead = of.lead ?? lead
      worker = of.worker ?? worker
      asked.lead.length = 0
      asked.worker.length = 0
    },
    /** The processes of the other program. */
    others: () => processesWith(label),
    start: (prompt: string) =>
      machine.start(['--mode', 'coordinator', '-p', prompt, '--leash', 'edit'], {
        env: { ANTHROPIC_API_KEY: 'made-up-key' },
      }),
  }
}

function processesWith(label: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0').includes(label)
    } catch {
      return false
    }
  })
}

type Rig = Awaited<ReturnType<typeof machineOf>>

/** A moment at which the coordinator's process is killed. `heard`: handoffs that the coordinator must still be given whole afterwards. */
type Phase = {
  name: string
  lead(request: number): Said
  worker?(request: number): Said
  released?: boolean
  moment(rig: Rig): unknown
  workers: number
  heard?: string[]
}

const early: Answer = { text: 'Too early.' }
const first: Answer = { text: handoff('Our own worker did it.') }
const busy = async (rig: Rig) => {
  await until(() => rig.others().length > 0 && rig.asked.worker.length > 0)
}
const requests = (count: number) => (rig: Rig) => until(() => rig.asked.lead.length >= count)
const kept = (has: string) => async (rig: Rig) => {
  await requests(1)(rig)
  await until(() => readFileSync(rig.machine.file('history.jsonl'), 'utf8').includes(has))
}
const bothDone = (rig: Rig) =>
  until(() => rig.slots().length === 2 && rig.slots().every(({ worker }) => worker?.envelope !== undefined))
const answered = { worker: () => first, released: true, workers: 2 }

const phases: Phase[] = [
  { name: 'before the spawn is kept', lead: () => hang, moment: requests(1), workers: 0 },
  {
    name: 'after the spawn is kept',
    lead: (n) => (n === 1 ? spawn : hang),
    moment: (rig) => until(() => rig.slots().length === 2),
    workers: 2,
  },
  { name: 'while the workers run', lead: (n) => (n === 1 ? spawn : hang), moment: busy, workers: 2 },
  {
    name: 'when a worker has made a call',
    lead: (n) => (n === 1 ? spawn : hang),
    worker: (n) => (n === 1 ? { call: { tool: 'list_files', input: { path: '.' } } } : hang),
    moment: (rig) => until(() => rig.asked.worker.length >= 2),
    workers: 2,
    heard: ['called list_files with'],
  },
  {
    name: 'when the envelopes are on disk and nobody was told',
    ...answered,
    lead: (n) => (n === 1 ? spawn : hang),
    moment: bothDone,
    heard: ['Our own worker did it.', 'The other program did it.'],
  },
  {
    name: 'while one envelope is on disk and the coordinator waits for the other',
    lead: (n) => (n === 1 ? spawn : wait),
    worker: () => first,
    moment: async (rig: Rig) => {
      await until(() => rig.slots().some(({ worker }) => worker?.envelope !== undefined))
      await kept('"tool":"await_workers"')(rig)
    },
    workers: 2,
    heard: ['Our own worker did it.'],
  },
  {
    name: 'when the handoffs were heard',
    ...answered,
    lead: (n) => (n === 1 ? spawn : n === 2 ? wait : hang),
    moment: requests(3),
    heard: ['Our own worker did it.', 'The other program did it.'],
  },
  {
    name: 'when an answer was held back',
    lead: (n) => (n === 1 ? spawn : n === 2 ? early : hang),
    moment: requests(3),
    workers: 2,
  },
  {
    name: 'while termaite waits for the workers in place of the coordinator',
    lead: (n) => (n === 1 ? spawn : early),
    moment: async (rig: Rig) => {
      await requests(4)(rig)
      await busy(rig)
    },
    workers: 2,
  },
  {
    name: 'while the synthesis is being written',
    ...answered,
    lead: (n) => (n === 1 ? spawn : n === 2 ? wait : { stall: 'worker_1 and worker_2 have' }),
    moment: requests(3),
    heard: ['Our own worker did it.', 'The other program did it.'],
  },
  {
    name: 'after the answer, before the end is kept',
    ...answered,
    lead: (n) => (n === 1 ? spawn : n === 2 ? wait : { text: 'worker_1 and worker_2 are done.' }),
    moment: kept('worker_1 and worker_2 are done.'),
    heard: ['Our own worker did it.', 'The other program did it.'],
  },
]

const usual = ['when a worker has made a call', 'when the envelopes are on disk and nobody was told']

/** Sends "go on" after a kill: the turn ends well, and every worker is over, has its envelope, and needs no later answer. */
async function assertGoesOn(rig: Rig): Promise<void> {
  rig.release()
  const final = 'Now worker_1 and worker_2 are accounted for.'
  rig.script({
    lead: (_, asked) => (JSON.stringify(asked.body).includes('You sent worker_') ? wait : { text: final }),
    worker: () => first,
  })
  const { code, out, err } = await ended(rig.start('go on'))
  assert.deepEqual([code, out], [0, `${final}\n`], err)
  assert.deepEqual(
    rig
      .slots()
      .map(({ terminal, worker }) => [terminal, worker?.envelope !== undefined && worker.heard, worker?.closed]),
    rig.slots().map(() => [undefined, true, 'answered']),
  )
  assert.equal(readFileSync(join(rig.crew, 'coordinators.json'), 'utf8').trim(), '{}')
}

for (const phase of phases.filter(({ name }) => sized(usual, [name]).includes(name)))
  test(`a coordinator that is killed ${phase.name} goes on, and answers for every worker`, options, async (t) => {
    const rig = await machineOf(t)
    rig.script({ lead: phase.lead, worker: phase.worker ?? (() => hang) })
    if (phase.released) rig.release()
    const child = rig.start('do both')
    const over = ended(child)
    await phase.moment(rig)
    child.kill('SIGKILL')
    assert.equal((await over).signal, 'SIGKILL')
    // The watchdog ends the other program and its child, without any process of ours.
    await until(() => rig.others().length === 0)
    assert.equal(rig.slots().length, phase.workers)
    await assertGoesOn(rig)
    const notes = rig.machine.history().filter(({ type }) => type === 'note')
    const words =
      'termaite stopped during an earlier turn, and its workers stopped with it: worker_1, worker_2. The coordinator learns what was done by then.'
    // After the answer the turn may have answered for its workers already.
    const answers = phase.name.startsWith('after the answer')
    assert.ok(answers || JSON.stringify(notes).includes(words) === phase.workers > 0, JSON.stringify(notes))
    const told = rig.asked.lead.at(-1)!
    for (const text of phase.heard ?? []) assert.ok(told.includes(text), `${text} is not in ${told}`)
    const outcomes = rig.machine.history().flatMap((entry) => (entry.type === 'end' ? [entry.outcome.ok] : []))
    assert.deepEqual(outcomes, [answers ? outcomes[0] : false, true])
  })

test(
  'a coordinator that is killed at any moment goes on',
  { ...options, timeout: 600_000, skip: fullOnly },
  async (t) => {
    const found: number[] = []
    for (let n = 0; n < 25; n++) {
      const rig = await machineOf(t)
      rig.release()
      const good = (request: number) => (request === 1 ? spawn : request === 2 ? wait : { text: 'worker_1, worker_2.' })
      rig.script({ lead: good, worker: () => first })
      const child = rig.start('do both')
      const over = ended(child)
      await requests(1)(rig)
      // The moment is the point of the test: whichever it is, the next turn goes on.
      await new Promise((resolve) => setTimeout(resolve, randomInt(600)))
      child.kill('SIGKILL')
      await over
      await until(() => rig.others().length === 0)
      found.push(rig.slots().length)
      await assertGoesOn(rig)
    }
    t.diagnostic(`25 kills; workers that were kept by then: ${found.join(' ')}`)
  },
)

test(
  'Ctrl+C ends the coordinator with all its workers, and the next turn can still read their handoffs',
  options,
  async (t) => {
    const rig = await machineOf(t)
    rig.script({ lead: (n) => (n === 1 ? spawn : wait), worker: () => first })
    const child = rig.start('do both')
    const over = ended(child)
    await until(() => rig.others().length > 0 && rig.slots().some(({ worker }) => worker?.envelope !== undefined))
    child.kill('SIGINT')
    assert.equal((await over).code, 130)
    await until(() => rig.others().length === 0)
    assert.deepEqual(
      rig.slots().map(({ terminal, worker }) => [terminal, worker?.closed]),
      [
        [undefined, 'cancelled'],
        [undefined, 'cancelled'],
      ],
    )
    rig.script({
      lead: (n) =>
        n === 1 ? { call: { tool: 'get_worker_result', input: { worker_id: 'worker_1' } } } : { text: 'Good.' },
    })
    const { code, out, err } = await ended(rig.start('what came of it?'))
    assert.deepEqual([code, out], [0, 'Good.\n'], err)
    assert.match(rig.asked.lead[0]!, /Your turn before this one was cancelled, and its workers were stopped with it/)
    assert.match(rig.asked.lead[1]!, /Our own worker did it\./)
  },
)
