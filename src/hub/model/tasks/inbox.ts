import type { TurnRow } from '../../../core/turns/machine-turns.ts'
import type { Option, Question } from '../../../core/talk/question.ts'
import type { FullDisk } from '../../../core/work/full-disk.ts'
import type { Pipeline } from './pipeline.ts'
import type { WorkspaceDay } from './spending-cap.ts'
import type { HubAgent, Task } from './task.ts'
import type { StandingAgent } from './task-wait.ts'
import { workspaceName } from './workspace.ts'
import { defined } from '../../../base/defined.ts'
import { agentState } from './agent-status.ts'
import { fullDiskWords } from '../../../core/work/full-disk.ts'
import { pipelineOptions } from './pipeline.ts'
import { dayLimit, dayOptions, passedCap } from './spending-cap.ts'

export type InboxKind = 'asks' | 'blocked' | 'review' | 'failed' | 'mention' | 'parked' | 'cap' | 'disk'

/** Something that waits for a person. When it waits again later, it gets a new id, so that old marks do not hide it. */
export type InboxItem = {
  id: string
  kind: InboxKind
  at: number
  title: string
  text: string
  task?: string
  /** The number of the try to review. */
  try?: number
  agent?: string
  /** The workspace whose cap for the day is passed. */
  workspace?: string
  /** The pipeline whose budget is used up. */
  pipeline?: string
  /** The answers to choose from, if the hub itself asks. */
  options?: Option[]
  /** The turn and the question in it, if a turn of a machine asks. */
  turn?: string
  ask?: string
  /** The subject of a question: a permission, a choice, trust or a quota. */
  about?: Question['about']
  machine?: string
  /** When a quota comes back. */
  parkedUntil?: number
  /** The only person that the item is for, if it is for one. */
  person?: string
}

/**
 * A person's mark on an item: they looked at it, dismissed it, or snoozed it until a time. A mark without a person applies to everybody
 * and says to whom the item is assigned.
 */
export type InboxMark = {
  item: string
  person?: string
  read?: boolean
  done?: boolean
  until?: number
  owner?: string
  /** The newest try of a task that the person has looked at. */
  try?: number
}

/** The item whose mark records which try of a task a person has looked at. It appears in nobody's inbox. */
export const lookedItem = (task: string) => `looked ${task}`

/** The item whose mark records until when a person whom a proxy signs in is listed. It appears in nobody's inbox. */
export const ssoItem = 'signed in by a proxy'

/** The key of a mark: one for each item and person, and one for each item and everybody. */
export const markKey = ({ item, person = '' }: Pick<InboxMark, 'item' | 'person'>) => `${item}\n${person}`

/** An item, with one person's marks on it and the person to whom it is assigned. */
export type InboxRow = InboxItem & { read: boolean; needsMe: boolean; owner?: string; until?: number }

/** Everything from which an inbox is made. */
type InboxSources = {
  tasks: Iterable<Task>
  agents: Iterable<StandingAgent>
  /** The turns of machines; only present for people who may answer them. */
  turns?: Iterable<TurnRow>
  /** The tokens and the cost that each workspace has used today. */
  days?: Iterable<WorkspaceDay>
  pipelines?: Iterable<Pipeline>
  /** The disk of the hub's ledger, while it is nearly full. */
  disk?: FullDisk | undefined
  now: number
}

/** Everything that waits for a person, the oldest first. */
export function inboxItems(sources: InboxSources): InboxItem[] {
  const { tasks, agents, turns = [], days = [], pipelines = [], disk, now } = sources
  const known = [...agents]
  const items = [
    ...known.flatMap(askItem),
    ...[...turns].flatMap(turnItems),
    ...parkedItems(known, now),
    ...[...tasks].flatMap(taskItems),
    ...[...days].flatMap(dayItem),
    ...[...pipelines].flatMap(pipelineItem),
    ...(disk ? [diskItem(disk)] : []),
  ]
  return items.toSorted((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1))
}

/**
 * The items for one person. Items that the person has dismissed are left out; an item that is snoozed, assigned to somebody else or meant
 * for somebody else does not need the person now.
 */
export function inboxRows(
  person: string,
  items: readonly InboxItem[],
  marks: ReadonlyMap<string, InboxMark>,
  now: number,
): InboxRow[] {
  return items.flatMap((item): InboxRow[] => {
    const own = marks.get(markKey({ item: item.id, person }))
    const owner = marks.get(markKey({ item: item.id }))?.owner
    if (own?.done) return []
    const until = own?.until !== undefined && own.until > now ? own.until : undefined
    const isOthers = (owner ?? item.person ?? person) !== person
    const row = { ...item, read: own?.read === true, needsMe: until === undefined && !isOthers }
    return [defined({ ...row, owner, until })]
  })
}

/** Says how an item that no longer waits was resolved, and by whom. */
export function inboxEnd(
  item: InboxItem,
  tasks: ReadonlyMap<string, Task>,
  agents: ReadonlyMap<string, HubAgent>,
): string {
  const task = item.task === undefined ? undefined : tasks.get(item.task)
  if (item.turn !== undefined) return 'Answered, or the turn is over.'
  if (item.kind === 'asks') {
    const agent = item.agent === undefined ? undefined : agents.get(item.agent)
    const answered = agent?.answered
    if (answered && item.id === askId(agent.id, answered.ask)) return `Answered by ${answered.by}.`
    return agent ? 'Answered at the terminal of the agent, or withdrawn.' : 'The agent has left.'
  }
  if (item.kind === 'disk') return 'The disk has room again.'
  if (item.kind === 'parked') return 'The quota is back, or the agent has left.'
  const step = task?.history.at(-1)
  if (!task || !step) return 'No longer waiting.'
  return `${endVerbs[step.state] ?? 'Changed'} by ${step.by}.`
}

/** The verb for each state that ends a task's wait for a person. */
const endVerbs: Partial<Record<Task['state'], string>> = {
  QUEUED: 'Sent on',
  PENDING_ACK: 'Sent on',
  ASSIGNED: 'Taken up',
  IN_PROGRESS: 'Taken up',
  APPROVED: 'Approved',
  COMPLETED: 'Completed',
  CANCELLED: 'Cancelled',
}

const askId = (agent: string, ask: string) => `asks ${agent} ${ask}`

function askItem({ id, name = id, asks, status }: HubAgent): InboxItem[] {
  if (!asks) return []
  const { id: ask, at, text, task, about } = asks
  const item = { id: askId(id, ask), kind: 'asks' as const, at, title: `${name} asks`, text, agent: id, task, about }
  return [defined({ ...item, machine: status?.machine })]
}

/** Makes an item of each open question of a turn; none if the turn's machine accepts no answers from elsewhere. */
function turnItems({ turn, by = 'A turn', prompt, machine, asks, onlyReading }: TurnRow): InboxItem[] {
  return (onlyReading ? [] : asks).map(({ ask, at, question }) => ({
    id: `asks ${turn} ${ask}`,
    kind: 'asks',
    at,
    title: `${by} asks: ${firstLine(prompt)}`,
    text: question.text,
    turn,
    ask,
    about: question.about,
    machine,
  }))
}

/** Agents that are out of quota, and one more item if no agent is left to work. */
function parkedItems(agents: readonly StandingAgent[], now: number): InboxItem[] {
  const present = agents.filter((agent) => agentState(agent, now) !== 'offline')
  const parked = present.flatMap((agent) => {
    const until = agent.status?.parkedUntil ?? 0
    return until > now ? [{ ...agent, until }] : []
  })
  const items = parked.map(({ id, name = id, status, seen, task, until }): InboxItem =>
    defined({
      id: `parked ${id} ${until}`,
      kind: 'parked',
      at: status?.parkedAt ?? seen,
      title: `${name} is out of quota`,
      text: `${status?.parkedWhy ?? 'Its provider takes no more requests for now.'}\nThe agent goes on by itself when the quota is back. To go on sooner, stop it and give its task to another agent.`,
      agent: id,
      task,
      machine: status?.machine,
      parkedUntil: until,
    }),
  )
  if (parked.length < 2 || parked.length < present.length) return items
  const first = Math.min(...parked.map(({ until }) => until))
  const everybody: InboxItem = {
    id: `all-parked ${first}`,
    kind: 'parked',
    at: Math.max(...items.map(({ at }) => at)),
    title: 'All agents are out of quota',
    text: 'No task continues until the first quota is back. To continue sooner, start an agent of another provider with: termaite agent --start=<name>',
    parkedUntil: first,
  }
  return [...items, everybody]
}

function taskItems(task: Task): InboxItem[] {
  return [...stateItem(task), ...mentionItems(task)]
}

const firstLine = (text: string) => text.split('\n', 1)[0] ?? ''

/** A task that is blocked, in review or failed. Each time a task reaches such a state is a separate item. */
function stateItem(task: Task): InboxItem[] {
  const { id, moved, prompt, state, agent } = task
  const item = defined({ at: moved, title: firstLine(prompt), task: id, agent })
  if (state === 'BLOCKED') {
    const { question: text, options } = task
    return [defined({ ...item, id: `blocked ${id} ${moved}`, kind: 'blocked' as const, text, options })]
  }
  if (state === 'IN_REVIEW')
    return [
      defined({
        ...item,
        id: `review ${id} ${moved}`,
        kind: 'review' as const,
        text: task.result.message,
        try: task.tries?.at(-1)?.number,
      }),
    ]
  if (state === 'FAILED') return [{ ...item, id: `failed ${id} ${moved}`, kind: 'failed', text: task.why }]
  return []
}

/** A workspace that has passed its cap for the day, so that its further tasks wait for an answer. */
function dayItem(of: WorkspaceDay): InboxItem[] {
  const { workspace, asked, spent, cap } = of
  const limit = dayLimit(of)
  const passed = limit && passedCap(spent, limit)
  if (asked === undefined || !cap || passed === undefined) return []
  return [
    {
      id: `cap ${workspace} ${asked}`,
      kind: 'cap',
      at: asked,
      title: `The cap for today in ${workspaceName(workspace)} is reached`,
      text: `${workspaceName(workspace)} has ${passed} today. Running tasks continue; no further one begins. What should happen next?`,
      workspace,
      options: dayOptions(of),
    },
  ]
}

/** A pipeline that has passed its budget, so that its further tasks wait for an answer. */
function pipelineItem({ id, name, asks }: Pipeline): InboxItem[] {
  if (!asks) return []
  return [
    {
      id: `cap ${id} ${asks.at}`,
      kind: 'cap',
      at: asks.at,
      title: `The budget of the pipeline ${name} is spent`,
      text: `The pipeline ${name} has ${asks.passed}. Running tasks continue; no further one begins. What should happen next?`,
      pipeline: id,
      options: pipelineOptions(asks),
    },
  ]
}

/** The item about a ledger's disk that is nearly full. */
function diskItem({ since, free }: FullDisk): InboxItem {
  return {
    id: `disk ${since}`,
    kind: 'disk',
    at: since,
    title: 'The disk of the hub is nearly full',
    text: fullDiskWords(free),
  }
}

/** A name that follows an at sign at the beginning of a word. */
const mention = /(?<![\w@])@([A-Za-z0-9][\w.-]{0,63})/g

function mentionItems({ id, prompt, notes }: Task): InboxItem[] {
  return notes
    .filter(({ kind }) => kind === 'comment')
    .flatMap(({ at, by, text }) =>
      [...new Set([...text.matchAll(mention)].map(([, name]) => name!.replace(/[.-]+$/, '')))]
        .filter((person) => person !== by)
        .map((person): InboxItem => ({
          id: `mention ${id} ${at} ${person}`,
          kind: 'mention',
          at,
          title: firstLine(prompt),
          text,
          task: id,
          person,
        })),
    )
}
