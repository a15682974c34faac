import type { ListedKey } from '../access/hub-key.ts'
import type { AgentNow, GivenTicket, HubState } from '../hub-state.ts'
import type { Schedule } from '../plans/schedule.ts'
import type { AgentStatus } from '../tasks/agent-status.ts'
import type { MachineRules } from '../tasks/machine-rules.ts'
import type { PipelineView } from '../tasks/pipeline.ts'
import type { WorkspaceDay } from '../tasks/spending-cap.ts'
import type { TaskNote } from '../tasks/task-note.ts'
import type { KeptText, TaskTry } from '../tasks/task-try.ts'
import type { HubAgent, Task, TaskStep } from '../tasks/task.ts'
import {
  about,
  anything,
  boolean,
  integer,
  list,
  number,
  object,
  oneOf,
  optional,
  string,
} from '../../../core/data/shape.ts'
import { questionSubjects } from '../../../core/talk/question.ts'
import { hubRoles } from '../access/hub-key.ts'
import { taskStates } from '../tasks/task.ts'
import { describeType, nameShape, partOf, shapeOf } from './described.ts'

export const text = string()
export const time = integer(0)
export const maybe = optional(text)
const spentFields = { tokens: integer(0), cost: optional(number(0)), priced: optional(integer(0)) }
const spent = object(spentFields)
const cap = object({ tokens: optional(integer(0)), cost: optional(number(0)) })
export const keptText = shapeOf<KeptText>()(object({ id: text, bytes: integer(0) }))
const pauseFields = { by: text, at: time, why: maybe, drains: optional(boolean()) }
const option = object({ id: text, label: text, grants: maybe, means: optional(oneOf('once', 'always', 'no')) })
export const merge = object({ machine: text, branch: text, into: text, commit: text })
const result = object({ message: text, artifacts: optional(list(anything())) })

export const note = describeType<TaskNote>()(
  'Note',
  object({
    number: about('The notes of a task are numbered from 1.', integer(1)),
    at: time,
    by: text,
    kind: oneOf('progress', 'question', 'answer', 'comment', 'response'),
    text,
    percentage: optional(integer(0, 100)),
    place: optional(
      about(
        'The line of a diff that a comment is about.',
        object({ try: integer(1), path: text, line: integer(1), side: oneOf('old', 'new'), text }),
      ),
    ),
    resolved: optional(about('Who resolved a comment on a line.', text)),
  }),
)

const step = describeType<TaskStep>()(
  'Step',
  object({
    at: about('Never earlier than the step before.', time),
    state: oneOf(...taskStates),
    by: text,
    why: maybe,
    merged: optional(merge),
  }),
)

const tryShape = describeType<TaskTry>()(
  'Try',
  object({
    number: about('Tries are numbered from 1.', integer(1)),
    agent: text,
    began: time,
    ended: optional(time),
    end: optional(
      about(
        'The state that the task reached.',
        oneOf('QUEUED', 'BLOCKED', 'IN_REVIEW', 'COMPLETED', 'FAILED', 'CANCELLED'),
      ),
    ),
    result: optional(result),
    diff: optional(
      object({
        id: text,
        bytes: integer(0),
        files: integer(0),
        added: integer(0),
        removed: integer(0),
        cut: optional(boolean()),
      }),
    ),
    checks: optional(
      list(
        object({
          command: text,
          exit: optional(integer(-1_000_000)),
          why: maybe,
          ms: number(0),
          output: text,
          whole: optional(keptText),
          ranBy: oneOf('termaite', 'agent'),
        }),
      ),
    ),
    reviews: optional(
      list(
        object({
          at: time,
          by: text,
          verdict: oneOf('approved', 'rejected'),
          text: maybe,
          merged: optional(merge),
        }),
      ),
    ),
    spent: optional(spent),
    late: optional(about('The work came after the agent had lost the task.', boolean())),
    machine: maybe,
    branch: maybe,
    commit: maybe,
    base: maybe,
    worktree: maybe,
    pushed: maybe,
    bundle: optional(object({ id: text, bytes: integer(0), parts: list(keptText) })),
  }),
)

export const taskFields = {
  id: about('Never changes. Requests of people name the task by it.', text),
  prompt: text,
  state: oneOf(...taskStates),
  workspace: text,
  priority: integer(-100, 100),
  capabilities: list(text),
  needs: about('The tasks that must be done first.', list(text)),
  created: time,
  moved: about('When the state changed last.', time),
  returns: about('How often an agent acknowledged the task and then gave no answer.', integer(0)),
  notes: about('The newest notes; GET /api/tasks/:id/notes has all of them.', list(note)),
  history: list(step),
  by: optional(about('The client that added the task.', text)),
  attachments: optional(list(object({ id: text, name: text, media: text, bytes: integer(0) }))),
  origin: optional(object({ machine: text, path: text, remote: maybe, branch: maybe, commit: maybe })),
  wish: optional(about('The agent that the task is meant for.', text)),
  cap: optional(cap),
  allowed: optional(cap),
  pipeline: optional(about('The place of the task in a pipeline.', anything())),
  requests: optional(
    about(
      'The newest requests that changed the task and may be repeated, in the form that the hub stores.',
      list(text),
    ),
  ),
  noted: optional(about('How many notes there are in all.', integer(0))),
  merging: optional(
    about(
      'A merge whose outcome is not known yet.',
      object({ by: text, try: integer(1), at: time, commit: text, hub: maybe }),
    ),
  ),
  tries: optional(list(tryShape)),
  why: optional(about('The reason for the state.', text)),
  agent: optional(about('The agent that has the task, or had it last.', text)),
  heard: optional(time),
  question: maybe,
  options: optional(list(option)),
  result: optional(about('The last answer of an agent.', result)),
}
export const task = describeType<Task>()('Task', object(taskFields))

const statusFields = {
  machine: maybe,
  framework: maybe,
  contextLeft: optional(number(0)),
  diskFree: optional(integer(0)),
  parkedUntil: optional(time),
  parkedWhy: maybe,
  parkedAt: optional(time),
}
const status = describeType<AgentStatus>()('AgentStatus', object(statusFields))

const registeredFields = {
  id: text,
  role: text,
  name: maybe,
  capabilities: list(text),
  workspace: text,
  workspaces: optional(list(text)),
  version: maybe,
  protocol: optional(integer(1)),
  source: oneOf('CLI', 'IDE'),
  registered: time,
  seen: about('When the agent last sent anything.', time),
  inbox: about('Messages that the agent gets when it waits next.', list(text)),
  messages: optional(list(object({ at: time, by: text, text, request: maybe }))),
  status: optional(status),
  asks: optional(
    about(
      'The open question of the agent.',
      object({
        id: text,
        text,
        at: time,
        options: list(option),
        about: optional(oneOf(...questionSubjects)),
        task: maybe,
        multiple: optional(boolean()),
        marked: optional(list(text)),
        ordered: optional(boolean()),
        free: optional(boolean()),
      }),
    ),
  ),
  answered: optional(object({ ask: text, picks: list(text), by: text })),
  evicted: maybe,
  paused: optional(object(pauseFields)),
  tokens: optional(integer(0)),
  cost: optional(number(0)),
  priced: optional(integer(0)),
}
export const registered = describeType<HubAgent>()('RegisteredAgent', object(registeredFields))
export const agent = describeType<AgentNow>()(
  'Agent',
  object({
    ...registeredFields,
    waits: about('Whether the agent waits for a task.', boolean()),
    about: about('Whether the agent is present at all.', boolean()),
    task: optional(about('The id of the task that the agent has.', text)),
    rests: optional(
      about(
        'Why the agent is given no task.',
        object({
          of: oneOf('agent', 'machine', 'hub'),
          machine: maybe,
          pause: optional(object(pauseFields)),
          limit: optional(integer(0)),
        }),
      ),
    ),
  }),
)

const ticket = about(
  'The name of the task for this one time that it was given out. Acknowledge, report on and respond to the task with it in the place of :id.',
  text,
)

/** The answer to an agent that waits. The fields depend on its type. */
export const given = describeType<GivenTicket>()(
  'Given',
  object({
    type: about(
      '`task`: acknowledge it within 30 seconds, then do it. `told`: a message. `evict`: stop. `idle`: the time is over, wait again.',
      oneOf('task', 'told', 'evict', 'idle'),
    ),
    task: optional(about('With `task`.', task)),
    ticket: optional(ticket),
    text: optional(about('With `told`.', text)),
    why: optional(about('With `evict`.', text)),
  }),
)

export const rules = describeType<MachineRules>()(
  'MachineRules',
  object({
    machine: about('`*` is the whole hub.', text),
    labels: optional(list(text)),
    limit: optional(integer(0)),
    pause: optional(object(pauseFields)),
  }),
)

const pipelineCap = object({ tokens: optional(integer(0)), cost: optional(number(0)), timeMs: optional(integer(0)) })
export const pipelineFields = {
  id: text,
  name: text,
  by: text,
  created: time,
  digest: text,
  tasks: list(text),
  cap: optional(pipelineCap),
  allowed: optional(pipelineCap),
  asks: optional(object({ at: time, passed: text, upTo: pipelineCap })),
  paused: optional(object({ at: time, by: text })),
  schedule: maybe,
  note: maybe,
}
export const pipeline = describeType<PipelineView>()(
  'Pipeline',
  object({
    ...pipelineFields,
    state: oneOf(...taskStates, 'PAUSED'),
    spent: object({ ...spentFields, timeMs: integer(0) }),
  }),
)
export const schedule = nameShape(
  'Schedule',
  partOf<Schedule>()({
    id: text,
    name: text,
    plan: about('The plan as it was read.', anything()),
    digest: text,
    by: text,
    created: time,
    next: optional(about('When the next run begins.', time)),
    runs: integer(0),
    skipped: integer(0),
    last: optional(object({ at: time, pipeline: text })),
    paused: optional(object({ at: time, by: text })),
  }),
)

export const day = describeType<WorkspaceDay>()(
  'WorkspaceDay',
  object({
    workspace: text,
    day: text,
    spent,
    cap: optional(cap),
    allowed: optional(cap),
    asked: optional(time),
    answer: optional(oneOf('uncapped', 'stop')),
    by: maybe,
  }),
)

const keyFields = {
  id: text,
  name: text,
  role: oneOf(...hubRoles),
  made: time,
  by: text,
  used: optional(time),
  ends: optional(about('When the key expires, by the clock of the ledger.', time)),
  lent: optional(boolean()),
  oldEnds: optional(about('Until when the secret before the present one is accepted.', time)),
}
export const key = describeType<ListedKey>()('Key', object(keyFields))
export const newKey = object({ key, secret: about('Shown here once and kept nowhere.', text) })
const mark = object({
  item: text,
  person: maybe,
  read: optional(boolean()),
  done: optional(boolean()),
  until: optional(time),
  owner: maybe,
  try: optional(integer(1)),
})
export const state = describeType<HubState & { place: string; next?: string }>()(
  'State',
  object({
    seq: integer(0),
    epoch: text,
    place: about('Where GET /api/events?after= continues.', text),
    next: optional(about('The place of the next page of tasks.', text)),
    agents: list(agent),
    tasks: list(task),
    marks: list(mark),
    days: list(day),
    pipelines: list(object(pipelineFields)),
    rules: list(rules),
  }),
)
