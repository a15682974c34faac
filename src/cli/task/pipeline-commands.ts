import type { HubClient, ScheduleVerb } from '../../hub/client/hub-client.ts'
import type { Io } from '../../core/io.ts'
import type { Pipeline, PipelineView } from '../../hub/model/tasks/pipeline.ts'
import type { Schedule } from '../../hub/model/plans/schedule.ts'
import type { Parsed } from '../arguments/cli-command.ts'
import { readFile } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import { shortId } from '../../hub/client/hub-client.ts'
import { wantedWorkspace } from '../../hub/server/merge/own-workspaces.ts'
import { stripAnsi } from '../../base/text/ansi.ts'
import { messageOf } from '../../base/error-message.ts'
import { newId } from '../../base/id.ts'
import { localTimeFrom } from '../../base/time/local-time.ts'
import { print, say, UsageError } from '../../core/io.ts'
import { problemLines } from '../../hub/model/plans/plan-problems.ts'
import { readPlan } from '../../hub/model/plans/plan-reader.ts'
import { HubAway } from '../../hub/engine/remote-hub.ts'
import { pipelineWords, planWords, scheduleTable } from './pipeline-words.ts'

/** Flags that describe one task; a plan says such things for each of its tasks. */
const taskFlags = ['agent', 'capability', 'priority', 'after', 'max-cost', 'max-tokens', 'no-cap']

/** Adds the tasks of a plan, or with --dry-run only shows them. */
export async function addFile(io: Io, hub: HubClient, values: Parsed['values'], words: string[]): Promise<void> {
  if (words.length > 0)
    throw new UsageError('task add: give a prompt or --file, not both. The plan has a prompt for each task.')
  const stray = taskFlags.find((flag) => values[flag] !== undefined)
  if (stray !== undefined)
    throw new UsageError(`task add: --${stray} is for a single task. With --file, write it into the plan.`)
  const path = String(values.file)
  const file = path === '-' ? 'plan' : basename(path)
  const text = await planText(io, path)
  const { workspace } = await wantedWorkspace(io, values.workspace, hub.url)
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone
  const now = io.clock.now()
  // The plan is checked here first, so that a mistake in it is reported even without a hub.
  const names = await hub.agentNames().catch(() => [])
  // A plan may be added before the first agent is there.
  const agents = names.length === 0 ? undefined : names
  const { plan, problems } = await readPlan(text, { workspace, zone, now, agents })
  if (!plan) {
    const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`
    throw new UsageError(
      [`task add: ${count} in the plan. Nothing was added.`, ...problemLines(file, problems)].join('\n'),
    )
  }
  if (values['dry-run']) {
    if (values.json) return print(io, JSON.stringify(plan))
    const { loadCronTimes } = await import('../../base/time/cron-times.ts')
    const next = plan.schedule && (await loadCronTimes()).next(plan.schedule.cron, plan.schedule.zone, now)
    print(io, planWords(plan, next, now))
    return say(io, `Nothing was added. Add it with: termaite task add --file ${path}`)
  }
  const wanted = { id: newId(now), plan: text, file, workspace, zone }
  const { pipeline, schedule } = await sentAgain(io, () => hub.addPlan(wanted))
  if (values.json) return print(io, JSON.stringify(pipeline ?? schedule))
  if (schedule)
    return print(io, stripAnsi(`${shortId(schedule.id)} SCHEDULED ${schedule.name}, ${nextWords(io, schedule)}`))
  const count = pipeline.tasks.length === 1 ? '1 task' : `${pipeline.tasks.length} tasks`
  print(io, stripAnsi(`${shortId(pipeline.id)} QUEUED ${pipeline.name}: ${count}`))
}

async function planText(io: Io, path: string): Promise<string> {
  if (path === '-') {
    const chunks: Buffer[] = []
    for await (const chunk of io.in as AsyncIterable<Buffer>) chunks.push(Buffer.from(chunk))
    return Buffer.concat(chunks).toString('utf8')
  }
  try {
    return await readFile(resolve(io.cwd, path), 'utf8')
  } catch (error) {
    throw new UsageError(`task add: the plan ${path} cannot be read: ${messageOf(error)}.`)
  }
}

/** Tries again if the connection broke before the answer: the id of the plan ensures that it is added only once. */
async function sentAgain<T>(io: Io, send: () => Promise<T>, left = 5): Promise<T> {
  try {
    return await send()
  } catch (error) {
    // A refused connection means that nothing was sent.
    if (!(error instanceof HubAway) || left === 0 || (left === 5 && /ECONNREFUSED/.test(error.message))) throw error
    await io.clock.sleep(1_000, io.signal)
    return sentAgain(io, send, left - 1)
  }
}

/** The newest pipeline with this name, or the one with this id or its end. */
export function pipelineLike<P extends Pipeline>(pipelines: readonly P[], typed: string | undefined): P | undefined {
  if (typed === undefined) return undefined
  return pipelines
    .toSorted((a, b) => b.created - a.created)
    .find(({ id, name }) => name === typed || id === typed || (typed.length >= 4 && id.endsWith(typed)))
}

export async function showPipeline(io: Io, hub: HubClient, pipeline: Pipeline, json: boolean): Promise<void> {
  const state = await hub.state({ pipeline: pipeline.id })
  if (!json) return print(io, pipelineWords(pipeline, state, io.clock.now()))
  const tasks = pipeline.tasks.flatMap((id) => state.tasks.find((task) => task.id === id) ?? [])
  print(io, JSON.stringify({ ...pipeline, tasks }))
}

/** Prints a pipeline after a verb was applied to it. */
export function shownPipeline(io: Io, pipeline: PipelineView, json: boolean): void {
  print(io, json ? JSON.stringify(pipeline) : stripAnsi(`${shortId(pipeline.id)} ${pipeline.state} ${pipeline.name}`))
}

/** Shows a schedule that has not begun a pipeline yet. Returns false if no schedule has this name. */
export async function showsSchedule(
  io: Io,
  hub: HubClient,
  typed: string | undefined,
  json: boolean,
): Promise<boolean> {
  const found = (await hub.schedules()).find(({ name }) => name === typed)
  if (!found) return false
  print(io, json ? JSON.stringify(found) : scheduleTable([found], io.clock.now()))
  return true
}

const scheduleVerbs = ['pause', 'resume', 'remove'] as const satisfies ScheduleVerb[]

/** `task schedule`: lists the schedules, and pauses, resumes or removes one. */
export async function schedule(io: Io, hub: HubClient, [verb = 'list', typed]: string[], json: boolean): Promise<void> {
  const told = scheduleVerbs.find((each) => each === verb)
  if (!told && verb !== 'list')
    throw new UsageError(`task schedule: found "${verb}", allowed: list, ${scheduleVerbs.join(', ')}.`)
  const all = (await hub.schedules()).toSorted((a, b) => a.created - b.created)
  if (!told) {
    if (json) return print(io, JSON.stringify(all))
    if (all.length > 0) return print(io, scheduleTable(all, io.clock.now()))
    return say(io, 'There are no schedules. A plan with "schedule" makes one: termaite task add --file plan.yaml')
  }
  if (typed === undefined) throw new UsageError('which schedule? `termaite task schedule list` shows them.')
  const found = all.find(({ id, name }) => name === typed || (typed.length >= 4 && id.endsWith(typed)))
  if (!found) throw new UsageError(`there is no schedule ${typed}. \`termaite task schedule list\` shows them.`, 1)
  const after = await hub.tellSchedule(found.id, told)
  if (json) return print(io, JSON.stringify(after))
  const words = verb === 'remove' ? 'removed; pipelines that it began go on' : nextWords(io, after)
  print(io, stripAnsi(`${shortId(after.id)} ${after.name}: ${words}`))
}

function nextWords(io: Io, { paused, next }: Schedule): string {
  if (paused) return 'paused'
  return next === undefined ? 'no time is left' : `next ${localTimeFrom(io.clock.now(), next)}`
}
