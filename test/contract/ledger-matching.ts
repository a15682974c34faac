import type { AgentRow, Claimable, ClaimQuery, LedgerNews, TaskRow } from '../../src/hub/model/hub-ledger.ts'
import type { MachineRules } from '../../src/hub/model/tasks/machine-rules.ts'
import type { LedgerMaker } from './ledger.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import fc from '../cases.ts'
import { defined } from '../../src/base/defined.ts'
import { goesBefore } from '../../src/hub/model/hub-ledger.ts'
import { FleetRules, heldByMachine, wholeHub } from '../../src/hub/model/tasks/machine-rules.ts'
import { sized } from '../full.ts'
import { until } from '../until.ts'
import { mayHave } from './claim-rule.ts'
import { agentRow, moved, nothing, put, queued, row, taskIn, tried } from './ledger-rows.ts'

const names = ['a', 'b', 'c', 'd']
const workspaces = ['/w', '/v', 'git:h/one#12', 'git:h/two#', 'ü']
/** Most tasks and agents meet at one place, so that wishes and times decide between them. */
const workspace = fc.oneof({ weight: 4, arbitrary: fc.constant('/w') }, fc.constantFrom(...workspaces))
const all = ['code', 'sql', 'x"y']
const wanted = fc.oneof({ weight: 2, arbitrary: fc.constant<string[]>([]) }, fc.subarray(all))
const capabilities = fc.oneof({ weight: 2, arbitrary: fc.constant(all) }, fc.subarray(all))
const machines = ['m', 'n', 'ö']
/** Times around those that a query names. */
const offset = fc.integer({ min: -3, max: 3 })

const someTask = fc.record({
  workspace,
  capabilities: wanted,
  priority: fc.integer({ min: -1, max: 1 }),
  created: fc.integer({ min: 1, max: 3 }),
  wish: fc.option(fc.constantFrom(...names, 'gone'), { nil: undefined, freq: 4 }),
  touched: offset,
  kind: fc.constantFrom('ready', 'ready', 'ready', 'waits', 'held'),
  holder: fc.constantFrom(...names),
})

const someAgent = fc.record({
  workspace,
  workspaces: fc.option(fc.subarray([...workspaces, 'git:h/*', 'git:h/o*', 'git:z/*']), { nil: undefined }),
  capabilities,
  evicted: fc.oneof({ weight: 5, arbitrary: fc.constant(undefined) }, fc.constant('rest')),
  heard: offset,
  until: fc.option(offset, { nil: undefined }),
  machine: fc.option(fc.constantFrom(...machines), { nil: undefined }),
  paused: fc.boolean(),
})

/** Rules that rarely keep everybody from every task. */
const someRules = fc.record(
  {
    machine: fc.constantFrom('m', 'm', 'n', 'n', wholeHub),
    labels: fc.subarray(all),
    limit: fc.integer({ min: 1, max: 3 }),
    pause: fc.constant({ by: 'anna', at: 1 }),
  },
  { requiredKeys: ['machine'] },
)

const someQuery = fc.record({
  agents: fc.shuffledSubarray([...names, 'unknown'], { minLength: 1 }),
  stopped: fc.oneof({ weight: 3, arbitrary: fc.constant<string[]>([]) }, fc.subarray(workspaces)),
  except: fc.subarray(['t00', 't03', 't05']),
  wishedBefore: offset,
  awayBefore: offset,
  most: fc.constantFrom(1, 3, 100, 100),
})

/** The answer to a query by the rule itself. */
function expected(
  tasks: TaskRow[],
  agents: AgentRow[],
  rules: MachineRules[],
  { query, steady }: { query: ClaimQuery; steady: number },
): Claimable[] {
  const known = new Map(agents.map((one) => [one.agent.id, one]))
  const working = tasks.flatMap(({ task }) => {
    const { status } = known.get(task.agent ?? '')?.agent ?? {}
    return task.state === 'ASSIGNED' && status ? [{ status, task: task.id }] : []
  })
  const fleet = new FleetRules(rules, heldByMachine(working))
  return tasks
    .filter(({ ready, task }) => ready && !query.except.includes(task.id) && !query.stopped.includes(task.workspace))
    .toSorted((a, b) => (goesBefore(a.task, b.task) ? -1 : 1))
    .flatMap((one): Claimable[] => {
      const { id, wish } = one.task
      const wished = wish === undefined ? undefined : known.get(wish)
      const may = query.agents.filter((agent) => {
        const to = known.get(agent)
        return to && mayHave(one, to, wished, { ...query, steady }, fleet)
      })
      const first = may.filter((agent) => agent === wish)
      return may.length === 0 ? [] : [{ task: id, agents: [...first, ...may.filter((agent) => agent !== wish)] }]
    })
    .slice(0, query.most)
}

/** The contract of how every ledger finds the tasks that agents may have. */
export function matchingContract(name: string, { make }: LedgerMaker, skip: string | false): void {
  test(`${name}: the tasks that agents may have are those that the rule names, in its order`, { skip }, async () => {
    const ledger = await make()
    const setting = fc.record({
      tasks: fc.array(someTask, { maxLength: 12 }),
      agents: fc.array(someAgent, { minLength: 2, maxLength: names.length }),
      rules: fc.uniqueArray(someRules, { selector: ({ machine }) => machine, maxLength: 3 }),
      query: someQuery,
    })
    await fc.assert(
      fc.asyncProperty(setting, async ({ tasks, agents, rules, query }) => {
        const [found, wanted] = await tried(ledger, async (round) => {
          const { steady } = round
          const rows = tasks.map(({ touched, kind, wish, holder, ...rest }, at) => {
            const id = `t${String(at).padStart(2, '0')}`
            const task =
              kind === 'held'
                ? taskIn('ASSIGNED', id, { ...rest, agent: holder })
                : queued(id, defined({ ...rest, wish }))
            return row(task, { touched: steady + touched, ready: kind === 'ready' })
          })
          const known = agents.map(({ heard, until, machine, paused, ...rest }, at) => {
            const status = machine === undefined ? undefined : { machine }
            const pause = paused && at === 0 ? { by: 'anna', at: 1 } : undefined
            const wait = until === undefined ? undefined : { hub: 'h', number: 1, until: steady + until }
            return agentRow(
              names[at]!,
              defined({ ...rest, status, paused: pause }),
              defined({ heard: steady + heard, wait }),
            )
          })
          const times = { wishedBefore: steady + query.wishedBefore, awayBefore: steady + query.awayBefore }
          const asked: ClaimQuery = { ...query, ...times }
          const machines: MachineRules[] = rules.map((one) => defined(one))
          await round.write({ ...nothing, tasks: rows, agents: known, machines })
          return [await round.claimable(asked), expected(rows, known, machines, { query: asked, steady })] as const
        })
        assert.deepEqual(found, wanted)
      }),
      { numRuns: sized(200, 3000) },
    )
    await ledger.close()
  })

  test(
    `${name}: the tasks of a machine are those of its agents, and every hub hears of room for more`,
    { skip },
    async () => {
      const ledger = await make()
      const on = (id: string, machine: string) => agentRow(id, { status: { machine } })
      await put(ledger, {
        tasks: [
          row(taskIn('PENDING_ACK', 't1', { agent: 'a' })),
          row(taskIn('IN_PROGRESS', 't2', { agent: 'b' })),
          row(taskIn('ASSIGNED', 't3', { agent: 'c' })),
          row(taskIn('BLOCKED', 't4', { agent: 'a' })),
          row(taskIn('COMPLETED', 't5', { agent: 'b' })),
        ],
        agents: [on('a', 'm'), on('b', 'm'), on('c', 'ö'), agentRow('d')],
      })
      const news: LedgerNews[] = []
      ledger.listen((one) => news.push(one))
      const held = await tried(ledger, (round) => round.heldOn(['ö', 'm', 'n']))
      assert.deepEqual(held, [
        { machine: 'ö', count: 1 },
        { machine: 'm', count: 2 },
        { machine: 'n', count: 0 },
      ])
      await ledger.round(async (round) => {
        round.call()
        await round.write({ ...nothing, changes: [moved('t1')] })
      })
      await put(ledger, { changes: [moved('t2')] })
      await put(ledger, { machines: [{ machine: 'm', limit: 3 }], changes: [moved('t3')] })
      await until(() => news.length === 3)
      assert.deepEqual(
        news.map(({ claimable }) => claimable),
        [true, false, true],
      )
      await ledger.close()
    },
  )

  test(`${name}: thousands of tasks that nobody can do hide no task behind them`, { skip }, async () => {
    const ledger = await make()
    const fresh = (await ledger.look(async ({ steady }) => steady)) + 1_000
    const kinds = [{ capabilities: ['sql'] }, { workspace: 'elsewhere' }, { wish: 'busy' }]
    const many = Array.from({ length: 1_500 }, (_, at) =>
      row(queued(`m${at}`, { priority: 9, ...kinds[at % 3] }), { ready: true, touched: fresh }),
    )
    const one = row(queued('one', { priority: -1 }), { ready: true, touched: fresh })
    await put(ledger, { tasks: [...many, one], agents: [agentRow('a'), agentRow('busy', {}, { heard: fresh })] })
    const query = { agents: ['a'], stopped: [], except: [], wishedBefore: fresh, awayBefore: fresh, most: 5 }
    assert.deepEqual(await tried(ledger, (round) => round.claimable(query)), [{ task: 'one', agents: ['a'] }])
    const busy = { ...query, agents: ['busy'], most: 600 }
    const found = await tried(ledger, (round) => round.claimable(busy))
    assert.deepEqual([found.length, found.at(-1)], [501, { task: 'one', agents: ['busy'] }])
    await ledger.close()
  })
}
