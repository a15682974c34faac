import type { Task, TaskState } from '../../../hub/model/tasks/task.ts'
import type { Parsed } from '../../arguments/cli-command.ts'
import type { Io } from '../../../core/io.ts'
import type { HubClient, PipelineVerb, TaskFilter, TaskVerb } from '../../../hub/client/hub-client.ts'
import type { Pipeline } from '../../../hub/model/tasks/pipeline.ts'
import type { WorkspaceDay } from '../../../hub/model/tasks/spending-cap.ts'
import type { TaskQuestion } from '../../../hub/model/tasks/task-question.ts'
import type { AgentNow } from '../../../hub/model/hub-state.ts'
import { workspaceName } from '../../../hub/model/tasks/workspace.ts'
import { once } from 'node:events'
import { defined } from '../../../base/defined.ts'
import { pipelineOptions } from '../../../hub/model/tasks/pipeline.ts'
import { dayOptions } from '../../../hub/model/tasks/spending-cap.ts'
import { taskQuestion } from '../../../hub/model/tasks/task-question.ts'
import { taskStates } from '../../../hub/model/tasks/task.ts'
import { agentState } from '../../../hub/model/tasks/agent-status.ts'
import { allowedAnswers, optionLines, picksIn } from '../../../core/talk/consent.ts'
import { stripAnsi } from '../../../base/text/ansi.ts'
import { localTimeFrom } from '../../../base/time/local-time.ts'
import { withHub, shortId, taskLike } from '../../../hub/client/hub-client.ts'
import { listedTime, print, say, UsageError } from '../../../core/io.ts'
import { wantedWorkspace } from '../../../hub/server/merge/own-workspaces.ts'
import { nearest } from '../../../base/text/nearest.ts'
import { list as listed, oneLine, table } from '../../../base/text/table.ts'
import { spendingIn } from '../../arguments/turn-flags.ts'
import { waitReason } from '../../../hub/model/tasks/task-wait.ts'
import { inboxItems } from '../../../hub/model/tasks/inbox.ts'
import {
  addFile,
  pipelineLike,
  schedule,
  showPipeline,
  shownPipeline,
  showsSchedule,
} from '../../task/pipeline-commands.ts'
import { questionLines } from '../../task/pipeline-words.ts'
import { approve, seenTry, tellLeft, workOf } from '../../task/review-commands.ts'
import { agentQuestionLines, mostLines, taskWords } from '../../task/task-words.ts'
import { readDiff } from '../../../hub/model/tasks/task-changes.ts'

type HubState = { tasks: Task[]; agents: AgentNow[]; days: WorkspaceDay[]; pipelines: Pipeline[] }

/** Verbs that change a task, and whether a text follows the id. */
const verbs = {
  answer: 'words',
  reject: 'words',
  comment: 'words',
  cancel: 'none',
  retry: 'none',
  approve: 'none',
} as const satisfies Partial<Record<TaskVerb, 'words' | 'none'>>

const isVerb = (typed: string): typed is keyof typeof verbs => Object.hasOwn(verbs, typed)

/** Verbs that apply to a pipeline as a whole; `pause` and `resume` only exist for pipelines. */
const pipelineVerbs = ['cancel', 'retry', 'pause', 'resume'] as const satisfies PipelineVerb[]

export async function run(io: Io, { values, words: [verb = 'list', ...rest] }: Parsed): Promise<number> {
  const json = values.json === true
  const server = typeof values.server === 'string' ? values.server : undefined
  const pipelineVerb = pipelineVerbs.find((each) => each === verb)
  if (values.merge && verb !== 'approve') throw new UsageError(`--merge is for task approve, not ${verb}.`)
  if (values.try !== undefined && verb !== 'diff' && verb !== 'fetch')
    throw new UsageError(`--try is for task diff and task fetch, not ${verb}.`)
  if (values['dry-run'] && values.file === undefined) throw new UsageError('--dry-run is for task add --file.')
  return withHub(
    io,
    async (hub) => {
      if (verb === 'add' && values.file !== undefined) await addFile(io, hub, values, rest)
      else if (verb === 'schedule') await schedule(io, hub, rest, json)
      else if (pipelineVerb && (await toldPipeline(io, hub, pipelineVerb, rest[0], json))) return 0
      else if (verb === 'add') printTask(io, await add(io, hub, values, rest), json)
      else if (verb === 'list') list(io, await hub.state(listedTasks(values.all === true)), values.all === true, json)
      else if (verb === 'show') await show(io, hub, rest[0], json)
      else if (verb === 'answer' && (await answersOther(io, hub, rest, json))) return 0
      else if (verb === 'diff') await diff(io, hub, await taskLike(hub, rest[0]), tryIn(values))
      else if (verb === 'fetch') await fetchBranch(io, hub, await taskLike(hub, rest[0]), values)
      else printTask(io, await reportTask(io, hub, verb, rest, values), json)
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
  const wish = typeof values.agent === 'string' ? await agentNamed(hub, values.agent) : undefined
  const needs = await Promise.all(many(values.after).map(async (id) => (await taskLike(hub, id)).id))
  const cap = values['no-cap'] ? {} : spendingIn(values)
  const priority = values.priority === undefined ? {} : { priority: Number(values.priority) }
  return hub.add({
    prompt,
    ...(await wantedWorkspace(io, values.workspace, hub.url)),
    ...defined({ wish }),
    capabilities: many(values.capability),
    ...priority,
    needs,
    cap: values['no-cap'] || Object.keys(cap).length > 0 ? cap : undefined,
  })
}

/** The agent that a person named, if the hub knows it: a task for an unknown name would wait forever. */
async function agentNamed(hub: HubClient, typed: string): Promise<string> {
  const names = await hub.agentNames()
  if (names.includes(typed)) return typed
  if (names.length === 0)
    throw new UsageError(
      `--agent: no agent is registered at ${hub.url} yet. Start one with: termaite agent --start=<cli>. Or leave --agent out, and the first agent that comes takes the task.`,
    )
  const near = nearest(typed, names)
  const meant = near === undefined ? '' : ` Did you mean "${near}"?`
  throw new UsageError(`--agent: there is no agent "${typed}" at ${hub.url}.${meant} Agents: ${listed(names)}.`)
}

async function reportTask(
  io: Io,
  hub: HubClient,
  verb: string,
  [id, ...words]: string[],
  values: Parsed['values'],
): Promise<Task & { merged?: object }> {
  if (!isVerb(verb))
    throw new UsageError(
      `task: found "${verb}", allowed: add, list, show, diff, fetch, ${Object.keys(verbs).join(', ')}, pause, resume, schedule.`,
    )
  const wants = verbs[verb]
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
  if (verb === 'answer') {
    const agents = task.agent === undefined ? [] : await hub.agents()
    return hub.tell(task.id, verb, { picks: typedPicks(taskQuestion(task, agents), words) })
  }
  const body = { ...(wants === 'words' ? { text } : {}), ...(verb === 'reject' ? seenTry(task) : {}) }
  const after = await hub.tell(task.id, verb, body)
  if (verb === 'cancel') await tellLeft(io, after)
  return after
}

/** Applies a verb to a pipeline. Returns false if the id does not belong to a pipeline, so that it may name a task. */
async function toldPipeline(
  io: Io,
  hub: HubClient,
  verb: (typeof pipelineVerbs)[number],
  typed: string | undefined,
  json: boolean,
): Promise<boolean> {
  const pipeline = pipelineLike(await hub.pipelines(), typed)
  if (!pipeline) {
    if (verb !== 'pause' && verb !== 'resume') return false
    throw new UsageError(
      typed === undefined
        ? 'which pipeline? `termaite task list` shows them.'
        : `there is no pipeline ${typed}. \`termaite task list\` shows them.`,
      typed === undefined ? 2 : 1,
    )
  }
  const after = await hub.tellPipeline(pipeline.id, verb)
  shownPipeline(io, after, json)
  if (verb === 'cancel') {
    const begun = await hub.tasks({ pipeline: after.id, states: ['CANCELLED'] })
    for (const task of begun.toReversed()) if (task.tries !== undefined) await tellLeft(io, task)
  }
  return true
}

function printTask(io: Io, task: Task, json: boolean): void {
  if (json) print(io, JSON.stringify(task))
  else print(io, stripAnsi([shortId(task.id), task.state, task.agent].filter((part) => part !== undefined).join(' ')))
}

/**
 * Answers a question that belongs to no task: from an agent, such as a dialog at its start, or from the hub about the cap of a workspace
 * or the budget of a pipeline. Returns false if the id matches no such question.
 */
async function answersOther(io: Io, hub: HubClient, [id, ...words]: string[], json: boolean): Promise<boolean> {
  if (id === undefined) return false
  const { agents, days, pipelines } = await hub.state({ id })
  const agent = agents.find((one) => one.id === id)
  const day = days.find(
    ({ workspace, asked }) => [workspace, workspaceName(workspace)].includes(id ?? '') && asked !== undefined,
  )
  const pipeline = pipelineLike(
    pipelines.filter(({ asks }) => asks),
    id,
  )
  if (!agent && !day && !pipeline) return false
  if (words.join(' ').trim() === '')
    throw new UsageError('task answer: the text after the id is missing. Use: termaite task answer <id> <words…>')
  const after = agent
    ? await hub.answerAgent(agent.id, agent.asks ? typedPicks(agent.asks, words) : words)
    : day
      ? await hub.answerDay(day.workspace, typedPicks({ options: dayOptions(day) }, words))
      : await hub.tellPipeline(pipeline!.id, 'answer', {
          picks: typedPicks({ options: pipelineOptions(pipeline!.asks!) }, words),
        })
  print(io, json ? JSON.stringify(after) : stripAnsi(`${id} answered`))
  return true
}

/** Interprets typed words as an answer to a question. */
function typedPicks(question: TaskQuestion, words: readonly string[]): string[] {
  const picks = picksIn(question, words)
  if (!picks) throw new UsageError(`Found "${words.join(' ')}", allowed: ${allowedAnswers(question)}.`, 1)
  return picks
}

/** The open question of an agent, about its task or before it has one. */
function questionOf(agents: readonly AgentNow[], { id, agent: name }: Task): string | undefined {
  const asks = agents.find((agent) => agent.id === name)?.asks
  return asks?.task === id ? asks.text : undefined
}

/** The tasks in `task list`: without --all, only those that still need an agent or a person. */
function listedTasks(all: boolean): TaskFilter {
  const over: readonly TaskState[] = ['COMPLETED', 'APPROVED', 'CANCELLED']
  return all ? {} : { states: taskStates.filter((state) => !over.includes(state)) }
}

function list(io: Io, state: HubState, all: boolean, json: boolean): void {
  const { tasks, agents, days, pipelines } = state
  const wanted = tasks.toSorted((a, b) => a.created - b.created)
  if (json) {
    const asked = wanted.map((task) => defined({ ...task, question: task.question ?? questionOf(agents, task) }))
    return print(io, JSON.stringify(asked))
  }
  sayDays(io, days)
  for (const { name, asks } of pipelines) if (asks) say(io, stripAnsi([...questionLines(name, asks), ''].join('\n')))
  const asking = agents.filter(
    (agent) => agentState(agent, io.clock.now()) === 'asking' && agent.asks?.task === undefined,
  )
  if (wanted.length + asking.length === 0)
    return say(io, all ? 'There are no tasks.' : 'There are no open tasks. Show finished ones with --all.')
  const hasPipelines = wanted.some(({ pipeline }) => pipeline !== undefined)
  const pipelineCell = ({ pipeline: place }: Task) => {
    if (!hasPipelines) return []
    const { name } = pipelines.find(({ id }) => id === place?.id) ?? {}
    return [name === undefined || !place ? '' : `${name}: ${place.name}`]
  }
  const known = new Map(tasks.map((task) => [task.id, task]))
  const waits = (task: Task) => (task.state === 'QUEUED' ? waitReason(task, { ...state, tasks: known }) : undefined)
  const since = (at: number) => listedTime(io, at, (at) => localTimeFrom(io.clock.now(), at))
  const rows = wanted.map((task) => [
    shortId(task.id),
    questionOf(agents, task) === undefined ? task.state : 'ASKING',
    since(task.moved),
    task.agent ?? '',
    ...pipelineCell(task),
    oneLine(questionOf(agents, task) ?? task.question ?? task.why ?? waits(task) ?? '', 72),
    oneLine(task.prompt, 60),
  ])
  // If an agent asks before it has a task, its own name is used for the answer.
  const others = asking.map(({ id, asks }) => [
    id,
    'ASKING',
    since(asks!.at),
    id,
    ...(hasPipelines ? [''] : []),
    oneLine(asks!.text, 40),
    '',
  ])
  const header = ['TASK', 'STATE', 'SINCE', 'AGENT', ...(hasPipelines ? ['PIPELINE'] : []), 'WHY', 'PROMPT']
  print(io, table([header, ...rows, ...others]))
  if (others.length > 0 || rows.some(([, state]) => state === 'ASKING' || state === 'BLOCKED'))
    say(io, 'Read a question with: termaite task show <id>. Answer it with: termaite task answer <id> <words>')
}

/** Says which workspaces have passed their cap for today, and how each is answered. */
function sayDays(io: Io, days: readonly WorkspaceDay[]): void {
  for (const { text, workspace, options = [] } of inboxItems({ tasks: [], agents: [], days, now: io.clock.now() }))
    say(
      io,
      stripAnsi(
        [
          text,
          ...optionLines({ options }),
          `Answer it: termaite task answer ${workspaceName(workspace ?? '')} <number>`,
          '',
        ].join('\n'),
      ),
    )
}

/** Shows a task, or a pipeline as a tree; given the name of an agent that asks, its question. */
async function show(io: Io, hub: HubClient, typed: string | undefined, json: boolean): Promise<void> {
  const agents = await hub.agents()
  const asking = agents.find(({ id, asks }) => id === typed && asks)
  if (asking)
    return print(
      io,
      json ? JSON.stringify(asking) : agentQuestionLines(asking.asks!, asking.id).map(stripAnsi).join('\n'),
    )
  const pipeline = pipelineLike(await hub.pipelines(), typed)
  if (pipeline) return showPipeline(io, hub, pipeline, json)
  if (await showsSchedule(io, hub, typed, json)) return
  const found = await taskLike(hub, typed)
  const { noted = 0, notes } = found
  const task = noted > notes.length ? { ...found, notes: await hub.notes(found.id) } : found
  const work = await workOf(io, task)
  const asks = agents.find(({ id, asks }) => id === task.agent && asks?.task === task.id)?.asks
  if (json) return print(io, JSON.stringify(defined({ ...task, work, asks })))
  const number = lastDiff(task)
  const diff = number === undefined ? undefined : await readDiff(hub.diff(task.id, number), mostLines)
  print(io, taskWords(task, { work, asks, diff, waits: await waitsFor(hub, task) }))
}

/** Why a queued task is not being worked on yet. */
async function waitsFor(hub: HubClient, task: Task): Promise<string | undefined> {
  if (task.state !== 'QUEUED') return undefined
  const state = await hub.state()
  return waitReason(task, { ...state, tasks: new Map(state.tasks.map((one) => [one.id, one])) })
}

/** Prints only the diff of a task, so that it can be piped. */
async function diff(io: Io, hub: HubClient, task: Task, wanted: number | undefined): Promise<void> {
  const number = wanted ?? lastDiff(task)
  if (number === undefined)
    throw new UsageError(`task ${shortId(task.id)} has no diff, because no try has left one yet.`, 1)
  const decoder = new TextDecoder()
  let end = '\n'
  for await (const chunk of hub.diff(task.id, number)) {
    const text = decoder.decode(chunk, { stream: true })
    end = text.at(-1) ?? end
    if (!io.out.write(text)) await once(io.out, 'drain')
  }
  if (end !== '\n') io.out.write('\n')
}

/** Fetches the branch of a task from its agent's machine into the clone in the current folder. */
async function fetchBranch(io: Io, hub: HubClient, task: Task, values: Parsed['values']): Promise<void> {
  const { fetchTask } = await import('../../task/review-commands.ts')
  const { branch, root, how, try: number } = await fetchTask(io, hub, task, tryIn(values))
  if (values.json === true) return print(io, JSON.stringify({ task: task.id, try: number, branch, root, how }))
  print(io, branch)
  const there = how === 'there' ? 'is there already' : how === 'new' ? 'is new' : 'was moved'
  say(io, `The branch ${there} in ${root}. See it: git -C ${root} diff HEAD...${branch}`)
}

/** The number of the try in the flag. */
function tryIn({ try: typed }: Parsed['values']): number | undefined {
  if (typed === undefined) return undefined
  const number = Number(typed)
  if (Number.isInteger(number) && number > 0) return number
  throw new UsageError(`--try: found "${typed}", allowed: the number of a try, as termaite task show lists them.`)
}

/** The number of the last try that has a diff. */
const lastDiff = ({ tries = [] }: Task) => tries.findLast(({ diff, late }) => diff && !late)?.number
