import type { Task } from '../../core/work/task.ts'
import type { Parsed } from '../cli-command.ts'
import type { Io } from '../../core/io.ts'
import type { HubClient } from '../../app/hub/hub-client.ts'
import type { AgentNow } from '../../hub/remote-hub.ts'
import { defined } from '../../base/defined.ts'
import { stripAnsi } from '../../base/ansi.ts'
import { localTimeFrom } from '../../base/local-time.ts'
import { withHub, shortId, taskLike } from '../../app/hub/hub-client.ts'
import { print, say, UsageError } from '../../core/io.ts'
import { placeOf } from '../../app/place.ts'
import { oneLine, table } from '../../base/table.ts'
import { approve, tellLeft, workOf } from '../task/task-review.ts'
import { agentQuestionLines, taskWords } from '../task/task-words.ts'

type HubState = { tasks: Task[]; agents: AgentNow[] }

/** Verbs that change a task, and whether a text follows the id. */
const verbs: Readonly<Record<string, 'words' | 'none'>> = {
  answer: 'words',
  reject: 'words',
  comment: 'words',
  cancel: 'none',
  retry: 'none',
  approve: 'none',
}

export async function run(io: Io, { values, words: [verb = 'list', ...rest] }: Parsed): Promise<number> {
  const json = values.json === true
  const server = typeof values.server === 'string' ? values.server : undefined
  if (values.merge && verb !== 'approve') throw new UsageError(`--merge is for task approve, not ${verb}.`)
  return withHub(
    io,
    async (hub) => {
      if (verb === 'add') shown(io, await add(io, hub, values, rest), json)
      else if (verb === 'list') list(io, await hub.state(), values.all === true, json)
      else if (verb === 'show') await show(io, hub, rest[0], json)
      else if (verb === 'answer' && (await answersAgent(io, hub, rest, json))) return 0
      else if (verb === 'diff') diff(io, await taskLike(hub, rest[0]))
      else shown(io, await told(io, hub, verb, rest, values), json)
      return 0
    },
    server,
  )
}

async function add(io: Io, hub: HubClient, values: Parsed['values'], words: string[]): Promise<Task> {
  const prompt = words.join(' ')
  if (prompt.trim() === '')
    throw new UsageError('task add: the prompt is missing. Try: termaite task add "fix the flaky test"')
  const many = (value: Parsed['values'][string]) => (Array.isArray(value) ? value : [])
  const needs = await Promise.all(many(values.after).map(async (id) => (await taskLike(hub, id)).id))
  const priority = values.priority === undefined ? {} : { priority: Number(values.priority) }
  return hub.add({
    prompt,
    workspace: typeof values.workspace === 'string' ? values.workspace : placeOf(io).root,
    ...(typeof values.agent === 'string' ? { wish: values.agent } : {}),
    capabilities: many(values.capability),
    ...priority,
    needs,
  })
}

async function told(
  io: Io,
  hub: HubClient,
  verb: string,
  [id, ...words]: string[],
  values: Parsed['values'],
): Promise<Task & { merged?: object }> {
  const wants = verbs[verb]
  if (!wants)
    throw new UsageError(`task: found "${verb}", allowed: add, list, show, diff, ${Object.keys(verbs).join(', ')}.`)
  const text = words.join(' ')
  if (wants === 'words' && text.trim() === '')
    throw new UsageError(`task ${verb}: the text after the id is missing. Use: termaite task ${verb} <id> <words…>`)
  const task = await taskLike(hub, id)
  if (verb === 'approve') {
    const { task: approved, merged } = await approve(io, hub, task, {
      merge: values.merge === true,
      yes: values.yes === true,
    })
    return merged ? { ...approved, merged } : approved
  }
  const after = await hub.tell(task.id, verb, wants === 'words' ? { text } : {})
  if (verb === 'cancel') await tellLeft(io, after)
  return after
}

function shown(io: Io, task: Task, json: boolean): void {
  if (json) print(io, JSON.stringify(task))
  else print(io, stripAnsi([shortId(task.id), task.state, task.agent].filter((part) => part !== undefined).join(' ')))
}

/** Answers the question of an agent that has no task, such as a dialog at its start; false where no such agent is meant. */
async function answersAgent(io: Io, hub: HubClient, [id, ...words]: string[], json: boolean): Promise<boolean> {
  const agent = (await hub.agents()).find((one) => one.id === id)
  if (!agent) return false
  const text = words.join(' ')
  if (text.trim() === '')
    throw new UsageError('task answer: the text after the id is missing. Use: termaite task answer <id> <words…>')
  const after = await hub.answerAgent(agent.id, text)
  print(io, json ? JSON.stringify(after) : stripAnsi(`${agent.id} answered`))
  return true
}

/** A question that an agent waits with, about its task or before it has one. */
function questionOf(agents: readonly AgentNow[], { id, agent: name }: Task): string | undefined {
  const asks = agents.find((agent) => agent.id === name)?.asks
  return asks?.task === id ? asks.text : undefined
}

function list(io: Io, { tasks, agents }: HubState, all: boolean, json: boolean): void {
  const over = new Set(['COMPLETED', 'APPROVED', 'CANCELLED'])
  const wanted = tasks.filter(({ state }) => all || !over.has(state)).toSorted((a, b) => a.created - b.created)
  if (json) {
    const asked = wanted.map((task) => defined({ ...task, question: task.question ?? questionOf(agents, task) }))
    return print(io, JSON.stringify(asked))
  }
  const asking = agents.filter(({ about, asks }) => about && asks && asks.task === undefined)
  if (wanted.length + asking.length === 0)
    return say(io, all ? 'There are no tasks.' : 'There are no open tasks. Show finished ones with --all.')
  const rows = wanted.map((task) => [
    shortId(task.id),
    questionOf(agents, task) === undefined ? task.state : 'ASKING',
    localTimeFrom(io.clock.now(), task.moved),
    task.agent ?? '',
    oneLine(questionOf(agents, task) ?? task.question ?? task.why ?? '', 40),
    oneLine(task.prompt, 60),
  ])
  // An agent that asks before it has a task is answered by its own name.
  const others = asking.map(({ id, asks }) => [
    id,
    'ASKING',
    localTimeFrom(io.clock.now(), asks!.at),
    id,
    oneLine(asks!.text, 40),
    '',
  ])
  print(io, table([['TASK', 'STATE', 'SINCE', 'AGENT', 'WHY', 'PROMPT'], ...rows, ...others]))
  if (others.length > 0 || rows.some(([, state]) => state === 'ASKING' || state === 'BLOCKED'))
    say(io, 'Read a question with: termaite task show <id>. Answer it with: termaite task answer <id> <words>')
}

/** Shows a task; given the name of an agent that asks, its question. */
async function show(io: Io, hub: HubClient, typed: string | undefined, json: boolean): Promise<void> {
  const agents = await hub.agents()
  const asking = agents.find(({ id, asks }) => id === typed && asks)
  if (asking)
    return print(
      io,
      json ? JSON.stringify(asking) : agentQuestionLines(asking.asks!, asking.id).map(stripAnsi).join('\n'),
    )
  const task = await taskLike(hub, typed)
  const work = await workOf(io, task)
  const asks = agents.find(({ id, asks }) => id === task.agent && asks?.task === task.id)?.asks
  print(io, json ? JSON.stringify(defined({ ...task, work, asks })) : taskWords(task, { work, asks }))
}

/** Prints the diff of a task alone, so that it can be piped. */
function diff(io: Io, { id, result }: Task): void {
  if (!result?.diff) throw new UsageError(`task ${shortId(id)} has no diff.`, 1)
  print(io, result.diff)
}
