import type { Task } from '../../core/work/task.ts'
import type { Parsed } from '../cli-command.ts'
import type { Io } from '../../core/io.ts'
import type { HubClient } from '../../app/hub/hub-client.ts'
import { stripAnsi } from '../../base/ansi.ts'
import { localTimeFrom, localTime } from '../../base/local-time.ts'
import { withHub, shortId, taskLike } from '../../app/hub/hub-client.ts'
import { print, say, UsageError } from '../../core/io.ts'
import { placeOf } from '../../app/place.ts'
import { oneLine, table } from '../../base/table.ts'

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
  return withHub(io, async (hub) => {
    if (verb === 'add') shown(io, await add(io, hub, values, rest), json)
    else if (verb === 'list') list(io, await hub.tasks(), values.all === true, json)
    else if (verb === 'show') tell(io, await taskLike(hub, rest[0]), json)
    else shown(io, await told(hub, verb, rest), json)
    return 0
  })
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

async function told(hub: HubClient, verb: string, [id, ...words]: string[]): Promise<Task> {
  const wants = verbs[verb]
  if (!wants) throw new UsageError(`task: found "${verb}", allowed: add, list, show, ${Object.keys(verbs).join(', ')}.`)
  const text = words.join(' ')
  if (wants === 'words' && text.trim() === '') throw new UsageError(`task ${verb}: the text after the id is missing.`)
  const task = await taskLike(hub, id)
  return hub.tell(task.id, verb, wants === 'words' ? { text } : {})
}

function shown(io: Io, task: Task, json: boolean): void {
  if (json) print(io, JSON.stringify(task))
  else print(io, stripAnsi([shortId(task.id), task.state, task.agent].filter((part) => part !== undefined).join(' ')))
}

function list(io: Io, tasks: Task[], all: boolean, json: boolean): void {
  const over = new Set(['COMPLETED', 'APPROVED', 'CANCELLED'])
  const wanted = tasks.filter(({ state }) => all || !over.has(state)).toSorted((a, b) => a.created - b.created)
  if (json) return print(io, JSON.stringify(wanted))
  if (wanted.length === 0) return say(io, all ? 'There are no tasks.' : 'No open task; --all includes finished ones.')
  const rows = wanted.map((task) => [
    shortId(task.id),
    task.state,
    localTimeFrom(io.clock.now(), task.moved),
    task.agent ?? '',
    oneLine(task.question ?? task.why ?? '', 40),
    oneLine(task.prompt, 60),
  ])
  print(io, table([['TASK', 'STATE', 'SINCE', 'AGENT', 'WHY', 'PROMPT'], ...rows]))
}

function tell(io: Io, task: Task, json: boolean): void {
  print(io, json ? JSON.stringify(task) : taskWords(task))
}

/** Writes a task with its history, notes and result. */
export function taskWords(task: Task): string {
  const { id, state, why, agent, workspace, prompt, needs, notes, history, result } = task
  const parts = [
    `${id}  ${state}${why === undefined ? '' : `: ${why}`}`,
    `${workspace}${agent === undefined ? '' : `, with ${agent}`}`,
    ...(needs.length > 0 ? [`after ${needs.join(', ')}`] : []),
    '',
    prompt,
    '',
    ...history.map(
      ({ at, state, by, why }) => `${localTime(at)}  ${state} by ${by}${why === undefined ? '' : `: ${why}`}`,
    ),
    ...(notes.length > 0
      ? ['', ...notes.map(({ at, by, kind, text }) => `${localTime(at)}  ${by}, ${kind}: ${text}`)]
      : []),
    ...(result ? ['', result.message] : []),
    ...(result?.diff ? ['', result.diff] : []),
  ]
  // Each part is cleaned of escape sequences by itself, so that none can hide the parts after it.
  return parts.map(stripAnsi).join('\n')
}
