import type { InboxMark } from '../../../core/work/inbox.ts'
import type { TurnChange, TurnRow } from '../../../core/talk/machine-turns.ts'
import type { HubChange } from '../../../core/work/hub-ledger.ts'
import type { HubAgent, Task } from '../../../core/work/task.ts'
import { computed, signal } from '@preact/signals'
import { inboxItems, inboxRows, markKey } from '../../../core/work/inbox.ts'
import { waitReason } from '../../../core/work/task-wait.ts'
import { call } from './hub-connection.ts'
import { now } from './words.ts'

/** An agent with what the hub knows of it just now. */
export type AgentRow = HubAgent & { waits?: boolean; about?: boolean; task?: string }

export const tasks = signal<ReadonlyMap<string, Task>>(new Map())
export const agents = signal<ReadonlyMap<string, AgentRow>>(new Map())
export const turns = signal<ReadonlyMap<string, TurnRow>>(new Map())
export const marks = signal<ReadonlyMap<string, InboxMark>>(new Map())
/** The person that the hub takes this browser for; `session` is the only one that a guest can read. */
export type Me = { id: string; name: string; role: string; session?: string }

export const me = signal<Me | undefined>(undefined)

/** Everything that waits for a person, with what this person has done with it. */
export const inbox = computed(() =>
  inboxRows(me.value?.name ?? '', inboxItems(tasks.value.values(), agents.value.values()), marks.value, now.value),
)

/** The agents with the task that each of them has, as the newest changes tell. */
const standing = computed(() => {
  const held = new Map([...tasks.value.values()].filter(isHeld).map(({ agent, id }) => [agent, id]))
  return [...agents.value.values()].map(({ task: _, ...agent }): AgentRow => {
    const task = held.get(agent.id)
    return task === undefined ? agent : { ...agent, task }
  })
})

const isHeld = ({ state }: Task) => state === 'PENDING_ACK' || state === 'ASSIGNED' || state === 'IN_PROGRESS'

/** Why a task is not at work: as the hub says, else, for a queued one, by the agents that could do it. */
export function whyWaits(task: Task): string | undefined {
  return task.state === 'QUEUED' ? (task.why ?? waitReason(task, tasks.value, standing.value)) : task.why
}

/** The turns that wait for an answer. */
export const askingTurns = computed(() => [...turns.value.values()].filter(({ asks }) => asks.length > 0))

/** Called when a connection begins: the turns that run are told anew. */
export function forgetTurns(): void {
  turns.value = new Map()
}

export async function knowMe(): Promise<Me> {
  return (me.value = (await call('GET', '/api/me')) as Me)
}

/** Reads everything anew; returns the number of the last change that it holds. */
export async function load(): Promise<number> {
  await knowMe()
  const state = (await call('GET', '/api/state')) as {
    seq: number
    agents: AgentRow[]
    tasks: Task[]
    marks: InboxMark[]
  }
  tasks.value = new Map(state.tasks.map((task) => [task.id, task]))
  agents.value = new Map(state.agents.map((agent) => [agent.id, agent]))
  marks.value = new Map(state.marks.map((mark) => [markKey(mark), mark]))
  return state.seq
}

/** Takes one change in; returns the number of a change of the hub, which turns do not have. */
export function take(type: string, data: string): number | undefined {
  if (type === 'turn' || type === 'turn-over') return takeTurn(JSON.parse(data) as TurnChange)
  const change = JSON.parse(data) as HubChange
  if (change.type === 'task') {
    const was = tasks.value.get(change.id)
    tasks.value = new Map(tasks.value).set(change.id, changed(was, change))
  } else if (change.type === 'agent') {
    const was = agents.value.get(change.agent.id)
    agents.value = new Map(agents.value).set(change.agent.id, { ...was, ...change.agent, about: true })
  } else if (change.type === 'mark') {
    marks.value = new Map(marks.value).set(markKey(change.mark), change.mark)
  } else {
    const left = new Map(agents.value)
    left.delete(change.id)
    agents.value = left
  }
  return change.seq
}

function takeTurn(change: TurnChange): undefined {
  const next = new Map(turns.value)
  if (change.type === 'turn') next.set(change.row.turn, change.row)
  else next.delete(change.turn)
  turns.value = next
}

/** The task after a change: fields that are set or unset, and the note and the step that are added. */
function changed(was: Task | undefined, change: Extract<HubChange, { type: 'task' }>): Task {
  const { set, unset = [], note, step, try: next } = change
  const base = was ?? { notes: [], history: [], tries: [] }
  const tries = base.tries ?? []
  const kept = Object.fromEntries(Object.entries(base).filter(([name]) => !(unset as string[]).includes(name)))
  return {
    ...kept,
    ...set,
    notes: note ? [...base.notes, note] : base.notes,
    history: step ? [...base.history, step] : base.history,
    tries: next ? [...tries.filter(({ number }) => number !== next.number), next] : tries,
  } as Task
}
