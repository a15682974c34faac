import type { AgentRow, TaskRow } from '../../../src/hub/model/hub-ledger.ts'
import type { MachineRules } from '../../../src/hub/model/tasks/machine-rules.ts'
import type { StandingAgent } from '../../../src/hub/model/tasks/task-wait.ts'
import type { HubAgent, QueuedTask, Task } from '../../../src/hub/model/tasks/task.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { waitReason } from '../../../src/hub/model/tasks/task-wait.ts'
import { mayHave } from '../../contract/claim-rule.ts'
import { queued } from '../../contract/ledger-rows.ts'
import { goldenOf } from '../../golden.ts'

const golden = goldenOf(import.meta.filename)

const task = (over: Partial<QueuedTask> = {}) => queued('t', { workspace: '/shop', ...over })

const agent = (id: string, over: Partial<StandingAgent> = {}): StandingAgent => ({
  id,
  role: 'dev',
  capabilities: [],
  workspace: '/shop',
  source: 'CLI',
  registered: 1,
  seen: 1,
  inbox: [],
  about: true,
  ...over,
})

const repository = 'git:github.com/acme/shop#1f2e3d4c5b6a'

test('a queued task says why nobody works on it', (t) => {
  const others = new Map<string, Task>([
    ['open', task({ id: 'open' })],
    ['over', { ...task({ id: 'over' }), state: 'COMPLETED', agent: 'a', result: { message: '' } } as Task],
  ])
  const why = (over: Partial<QueuedTask>, agents: StandingAgent[], rules: MachineRules[] = []) =>
    waitReason(task(over), { tasks: others, agents, rules })
  const paused = { by: 'anna', at: 1, why: 'disk full' }
  const on = (machine: string) => ({ status: { machine } })
  const two = [agent('a', { task: 't1' }), agent('b', { task: 't2' })]
  golden(t, [
    why({ needs: ['over', 'open', 'gone'] }, two),
    why({ needs: ['over', 'open'] }, two),
    why({}, []),
    why({}, [agent('a', { workspace: '/other' }), agent('b', { about: false })]),
    why({ workspace: repository, origin: { machine: 'desk', path: '/shop' } }, [agent('old')]),
    why({ workspace: repository }, [agent('a', { workspaces: [repository], about: false })]),
    why({ capabilities: ['docker'] }, [
      agent('a', { capabilities: ['docker'], about: false }),
      agent('b', { capabilities: ['docker'], about: false }),
    ]),
    why({ capabilities: ['rust', 'sql'] }, [agent('a', { capabilities: ['sql'] })]),
    why({ capabilities: ['rust', 'sql'] }, [
      agent('a', { capabilities: ['sql'] }),
      agent('b', { capabilities: ['rust'], about: false }),
    ]),
    why({}, [agent('a', { paused }), agent('b', { about: false }), agent('c', { task: 't1' })]),
    why(
      {},
      ['a', 'b', 'c'].map((id) => agent(id, { paused: { by: 'ben', at: 1, drains: true } })),
    ),
    why(
      {},
      [agent('a', on('m')), agent('b', on('m')), agent('c', { about: false })],
      [
        { machine: 'm', pause: paused },
        { machine: 'n', pause: paused },
      ],
    ),
    why(
      {},
      [
        agent('a', on('m')),
        agent('b', { ...on('m'), task: 't1' }),
        ...['c', 'd', 'e', 'f'].map((id) => agent(id, { about: false })),
      ],
      [{ machine: 'm', limit: 1 }],
    ),
    why({}, [agent('a', on('m')), agent('b', { ...on('m'), task: 't1' })], [{ machine: 'm', limit: 2 }]),
    why({ wish: 'a' }, [agent('a', on('m')), agent('b', { ...on('m'), task: 't1' })], [{ machine: 'm', limit: 1 }]),
    why({ capabilities: ['gpu'] }, [agent('a', { ...on('m'), about: false })], [{ machine: 'm', labels: ['gpu'] }]),
    why({}, [], [{ machine: '*', pause: paused }]),
    why({ wish: 'a' }, two),
    why({ wish: 'c' }, [...two, agent('c')]),
    why({}, two),
    why({}, [two[0]!]),
    why({}, [...two, agent('c')]),
  ])
})

test('a task goes to an agent that can do it, and one that is meant for an agent waits for that agent while it is there', () => {
  const at = { steady: 1000, wishedBefore: 400, awayBefore: 700 }
  const row = (over: Partial<QueuedTask> = {}, touched = 400): TaskRow => ({ task: task(over), touched, ready: true })
  const heard = (id: string, over: Partial<HubAgent> = {}, rest: Partial<AgentRow> = {}): AgentRow => ({
    agent: { ...agent(id), ...over },
    heard: 700,
    ...rest,
  })
  const other = heard('b')
  const meant = row({ wish: 'a' })
  const hub = { hub: 'h', number: 1 }
  const may = (one: TaskRow, to: AgentRow, wished?: AgentRow) => mayHave(one, to, wished, at)
  assert.deepEqual(
    {
      any: may(row(), other),
      elsewhere: may(row({ workspace: '/bank' }), other),
      further: may(row({ workspace: '/bank' }), heard('b', { workspaces: ['/pub', '/bank'] })),
      unable: may(row({ capabilities: ['sql', 'rust'] }), heard('b', { capabilities: ['rust'] })),
      able: may(row({ capabilities: ['sql'] }), heard('b', { capabilities: ['rust', 'sql'] })),
      leaving: may(row(), heard('b', { evicted: 'rest' })),
      wished: may(meant, heard('a'), heard('a')),
      wishedElsewhere: may(meant, heard('a', { workspace: '/bank' }), heard('a', { workspace: '/bank' })),
      present: may(meant, other, heard('a')),
      unknown: may(meant, other),
      wishedLeaves: may(meant, other, heard('a', { evicted: 'rest' })),
      wishedUnable: may(row({ wish: 'a', capabilities: ['x'] }), heard('b', { capabilities: ['x'] }), heard('a')),
      longAgo: may(row({ wish: 'a' }, 399), other, heard('a')),
      away: may(meant, other, heard('a', {}, { heard: 699 })),
      waits: may(meant, other, heard('a', {}, { heard: 699, wait: { ...hub, until: 1001 } })),
      waited: may(meant, other, heard('a', {}, { heard: 699, wait: { ...hub, until: 1000 } })),
    },
    {
      any: true,
      elsewhere: false,
      further: true,
      unable: false,
      able: true,
      leaving: false,
      wished: true,
      wishedElsewhere: false,
      present: false,
      unknown: true,
      wishedLeaves: true,
      wishedUnable: true,
      longAgo: true,
      away: true,
      waits: false,
      waited: true,
    },
  )
})
