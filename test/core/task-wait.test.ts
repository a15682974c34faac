import type { StandingAgent } from '../../src/core/work/task-wait.ts'
import type { QueuedTask, Task } from '../../src/core/work/task.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { waitReason } from '../../src/core/work/task-wait.ts'

const task = (over: Partial<QueuedTask> = {}): QueuedTask => ({
  id: 't',
  prompt: 'x',
  workspace: '/shop',
  priority: 0,
  capabilities: [],
  needs: [],
  state: 'QUEUED',
  created: 1,
  moved: 1,
  returns: 0,
  notes: [],
  history: [],
  ...over,
})

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

test('a queued task says why nobody works on it', () => {
  const others = new Map<string, Task>([
    ['open', task({ id: 'open' })],
    ['over', { ...task({ id: 'over' }), state: 'COMPLETED', agent: 'a', result: { message: '' } } as Task],
  ])
  const why = (over: Partial<QueuedTask>, agents: StandingAgent[]) => waitReason(task(over), others, agents)
  const two = [agent('a', { task: 't1' }), agent('b', { task: 't2' })]
  assert.deepEqual(
    [
      why({ needs: ['over', 'open', 'gone'] }, two),
      why({ needs: ['over', 'open'] }, two),
      why({}, []),
      why({}, [agent('a', { workspace: '/other' }), agent('b', { about: false })]),
      why({ capabilities: ['rust', 'sql'] }, [agent('a', { capabilities: ['sql'] })]),
      why({ capabilities: ['rust', 'sql'] }, [
        agent('a', { capabilities: ['sql'] }),
        agent('b', { capabilities: ['rust'] }),
      ]),
      why({ wish: 'a' }, two),
      why({ wish: 'c' }, [...two, agent('c')]),
      why({}, two),
      why({}, [two[0]!]),
      why({}, [...two, agent('c')]),
    ],
    [
      'waits until open and gone are done',
      'waits until open is done',
      'no agent is connected that works in /shop',
      'no agent is connected that works in /shop',
      'no connected agent can do rust',
      'no connected agent can do all of rust and sql',
      'waits for a, which is busy',
      'waits for c',
      'a and b are busy',
      'a is busy',
      'is given to the next agent that asks for work',
    ],
  )
})
