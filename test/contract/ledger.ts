import type { HubAgent, HubChange, HubLedger, OfferedTask, QueuedTask } from '../../src/core/work/task.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'

export type LedgerMaker = {
  make(): HubLedger
  /** The same books, opened anew. */
  again?(ledger: HubLedger): HubLedger
}

const task = (id: string): QueuedTask => ({
  id,
  prompt: `do ${id}`,
  workspace: 'w',
  priority: 0,
  capabilities: [],
  needs: [],
  state: 'QUEUED',
  created: 1,
  moved: 1,
  returns: 0,
  notes: [],
  history: [{ at: 1, state: 'QUEUED', by: 'me' }],
})

const offered = (id: string): OfferedTask => ({
  ...(task(id) as Omit<QueuedTask, 'why'>),
  prompt: 'ö…"\n',
  state: 'PENDING_ACK',
  agent: 'a',
})

const agent = (id: string): HubAgent => ({
  id,
  role: 'developer',
  capabilities: ['code'],
  workspace: 'w',
  source: 'CLI',
  registered: 1,
  seen: 2,
  inbox: ['hello'],
})

/** What every Ledger keeps to. */
export function ledgerContract(name: string, { make, again = (ledger) => ledger }: LedgerMaker): void {
  const moved = (seq: number, id: string): HubChange => ({ seq, at: seq, type: 'task', id, set: { state: 'QUEUED' } })

  test(`${name}: a new one is empty`, () => {
    const ledger = make()
    assert.deepEqual([ledger.load(), ledger.since(0, 10)], [{ seq: 0, agents: [], tasks: [] }, []])
    ledger.close()
  })

  test(`${name}: what was kept is there, whole, when it is opened again`, () => {
    const first = make()
    const known: HubChange = { seq: 2, at: 2, type: 'agent', agent: agent('a') }
    first.keep([moved(1, 't1'), known], [task('t1')])
    first.keep([moved(3, 't1')], [offered('t1')])
    const ledger = again(first)
    const { seq, agents, tasks } = ledger.load()
    assert.deepEqual([seq, agents, tasks], [3, [agent('a')], [offered('t1')]])
    assert.deepEqual(ledger.since(1, 10), [known, moved(3, 't1')])
    assert.deepEqual(ledger.since(0, 1), [moved(1, 't1')])
    ledger.keep([{ seq: 4, at: 4, type: 'gone', id: 'a' }], [])
    assert.deepEqual(ledger.load().agents, [])
    ledger.close()
  })
}
