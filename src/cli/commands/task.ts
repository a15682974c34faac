import type { Task } from '../../core/work/task.ts'
import type { Parsed } from '../cli-command.ts'
import type { Io } from '../../core/io.ts'
import type { HubClient } from '../../app/hub/hub-client.ts'
import { stripAnsi } from '../../base/ansi.ts'
import { localTimeFrom } from '../../base/local-time.ts'
import { withHub, shortId, taskLike } from '../../app/hub/hub-client.ts'
import { print, say, UsageError } from '../../core/io.ts'
import { placeOf } from '../../app/place.ts'
import { oneLine, table } from '../../base/table.ts'
import { approve, tellLeft, workOf } from '../task/task-review.ts'
import { taskWords } from '../task/task-words.ts'

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
      else if (verb === 'list') list(io, await hub.tasks(), values.all === true, json)
      else if (verb === 'show') await show(io, await taskLike(hub, rest[0]), json)
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
  if (wants === 'words' && text.trim() === '') throw new UsageError(`task ${verb}: the text after the id is missing.`)
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

function list(io: Io, tasks: Task[], all: boolean, json: boolean): void {
  const over = new Set(['COMPLETED', 'APPROVED', 'CANCELLED'])
  const wanted = tasks.filter(({ state }) => all || !over.has(state)).toSorted((a, b) => a.created - b.created)
  if (json) return print(io, JSON.stringify(wanted))
  if (wanted.length === 0)
    return say(io, all ? 'There are no tasks.' : 'There are no open tasks. Show finished ones with --all.')
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

async function show(io: Io, task: Task, json: boolean): Promise<void> {
  const work = await workOf(io, task)
  print(io, json ? JSON.stringify(work ? { ...task, work } : task) : taskWords(task, work))
}

/** Prints the diff of a task alone, so that it can be piped. */
function diff(io: Io, { id, result }: Task): void {
  if (!result?.diff) throw new UsageError(`task ${shortId(id)} has no diff.`, 1)
  print(io, result.diff)
}
