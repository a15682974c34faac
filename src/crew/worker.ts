import type { Ref } from '../core/talk/store.ts'
import type { SeatLimits } from '../core/work/agent.ts'
import type { Handoff } from './handoff.ts'

export const roles = ['explorer', 'implementer', 'verifier', 'summarizer'] as const

export type Role = (typeof roles)[number]

/** Where a worker runs: in the background, or in a terminal that a person can watch. */
export type WorkerSite = 'background' | 'terminal'

/** A message from a worker to its coordinator during the work. */
type WorkerNotice = { status: string; summary: string; final_response?: string }

/** The folder that a worker works in; `told` is appended to its task. */
export type WorkerPlace = { cwd: string; path: string; told: string }

/** The facts that make a slot a worker: a coordinator sent it with one task, and it ends with its handoff. */
export type Worker = {
  name: string
  role: Role
  where: WorkerSite
  /** The turn of the coordinator that sent the worker. */
  turn: string
  /** The files and folders that the worker may change, relative to the project. */
  scope?: string[]
  /** How many steps the worker's turn may have; an agent of another program, and an agent in a terminal, is only limited in minutes. */
  steps?: number
  minutes: number
  /** The model of the worker's agent; missing if only the agent's own program knows it. */
  model?: string
  /**
   * Set for a worker in a copy of the project; `path` is the folder of the copy, once it is made. `asked`: the coordinator asked for a
   * copy.
   */
  apart?: { path?: string; asked?: true }
  /** Set once the worker's turn is over and its work is being joined into the project: it gets no more messages. */
  landed?: true
  notices?: WorkerNotice[]
  /** The envelope with the worker's handoff; it is stored before anybody sees it. */
  envelope?: Ref
  /** Whether the coordinator has read the envelope. */
  heard?: true
  /** Set if the process of the turn that sent the worker died before its answer: `turn` is then the turn that took over the worker. */
  lost?: true
  /** How the turn that sent the worker closed; unset while it runs, and if its process died. */
  closed?: 'answered' | 'cancelled'
}

/**
 * A handoff with the worker, the agent and the model that it came from. Its changed paths are measured. `outside`: paths that the task
 * did not allow. `not_merged`: paths that are only in the `copy` of the project, which is preserved. `checks`: the results of the
 * project's tests and build after the changes were joined.
 */
export type Envelope = Handoff & {
  worker: string
  name: string
  role: Role
  agent: string
  model: string
  outside?: string[]
  copy?: string
  not_merged?: string[]
  checks?: { command: string; passed: boolean }[]
}

/** How many steps a worker may take, if its coordinator sets no number. */
export const usualSteps = 12

/** How many minutes a worker that counts no steps may take, if its coordinator sets no number. */
export const usualMinutes = 20

export const workerId = (slot: number): string => `worker_${slot}`

/** The name of a worker in its rows and in the questions that it asks. */
export const workerRole = ({ id, worker }: { id: number; worker: Pick<Worker, 'role'> }): string =>
  `${workerId(id)} ${worker.role}`

/** The slot that a worker's id names; undefined if the text is not such an id. */
export function slotOf(id: string): number | undefined {
  const number = /^(?:worker_)?(\d{1,9})$/.exec(id.trim())?.[1]
  return number === undefined ? undefined : Number(number)
}

type RoleRow = {
  /** The purpose of the role, as a list of tasks. */
  for: string
  /** The instructions that every worker of the role gets. */
  told: string
  limits: SeatLimits
  /**
   * Whether the role runs commands without changing files. The sandbox of our own agent enforces that. An agent of another program may
   * have no commands at all while it only reads, so it runs them in a copy whose changes are discarded.
   */
  runsInCopy?: true
}

const readOnly =
  'You cannot change files of the project: report what should be changed, with the path and the line, and do not work around the limit.'

/** The roles, with what each may do. Only an implementer changes files. */
export const roleTable: Readonly<Record<Role, RoleRow>> = {
  explorer: {
    for: 'investigates code, gathers facts, traces behaviour, finds the files that matter',
    told: `You are an explorer: investigate, and report facts with the file and the line where you saw them. ${readOnly}`,
    limits: { writes: false },
  },
  implementer: {
    for: 'changes code in a bounded area, and names the paths that it changed',
    told: 'You are an implementer: make the change that the task describes, and no other. Change only the files and folders that the task names. List every path that you changed in "changed_paths", and give the result of a check as evidence if you can run one. Do not commit.',
    limits: {},
  },
  verifier: {
    for: 'checks behaviour, runs tests, looks for regressions and gaps, confirms claims',
    told: `You are a verifier: check the claims of the task by running and reading, and report the commands with their results as evidence. ${readOnly}`,
    limits: { writes: false },
    runsInCopy: true,
  },
  summarizer: {
    for: 'condenses evidence into a short synthesis',
    told: `You are a summarizer: condense what the task gives you or names, keep what decides, and say where each point came from. ${readOnly}`,
    limits: { writes: false, runs: false },
  },
}

/** The whole prompt of a worker: its role, its task, and the form of its handoff. */
export function workerPrompt(
  { role, scope = [], steps, minutes }: Pick<Worker, 'role' | 'scope' | 'steps' | 'minutes'>,
  task: string,
): string {
  const { told, limits } = roleTable[role]
  const only = `You may change only: ${scope.join(', ')}. A change anywhere else is reported and not accepted.`
  const area = limits.writes === false || scope.length === 0 ? [] : [only]
  return [
    'You are a worker: another agent, the coordinator, sent you one task. You see nothing of its conversation, and it sees nothing of your work but your last message. You cannot ask anybody a question: if something is unclear, choose the reading that the task supports best, and name the doubt as a risk.',
    [told, ...area].join(' '),
    `<task>\n${task.trim()}\n</task>`,
    `${handoffForm(role)}\n${limitWords(steps, minutes)}`,
  ].join('\n\n')
}

/** Tells a worker its limits, so that it returns its results before the limits end its work. */
function limitWords(steps: number | undefined, minutes: number): string {
  const time = minutes === 1 ? '1 minute' : `${minutes} minutes`
  const most = steps === undefined ? time : `${steps} steps, which are answers with or without calls, and ${time}`
  return `You have at most ${most}. Hand over what you have before that, with the status "partial" if something is left.`
}

function handoffForm(role: Role): string {
  const fields = [
    '"what_was_done": what you did and what came of it, in a few sentences',
    '"evidence": a list of facts that the coordinator can check: a path with a line, a command with its result, a quotation',
    '"unresolved_risks": a list of what is open, uncertain or not done; empty if there is nothing',
    '"exact_next_step": the one step that should follow',
    '"status": "completed" if all of the task is done, "partial" if some of it is, "failed" if none is',
    ...(roleTable[role].limits.writes === false ? [] : ['"changed_paths": a list of every path that you changed']),
  ]
  return [
    'When you are done, end with one JSON object as your last message and nothing after it. Keep it compact: it is all that the coordinator gets. Its fields are:',
    ...fields.map((field) => `- ${field}`),
  ].join('\n')
}
