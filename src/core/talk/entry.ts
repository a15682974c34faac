import type { CallPlace } from './call-places.ts'
import type { Framework } from './framework.ts'
import type { Failure, Outcome } from './outcome.ts'
import type { DiffStarts, Question } from './question.ts'
import type { Race } from './race.ts'
import type { Ref } from './store.ts'

/**
 * Tokens and cost of one answer. `cached` are the input tokens that the provider read from its cache, `written` those that it wrote
 * there. `source` says how reliable the numbers are.
 */
export type Usage = {
  type: 'usage'
  input: number
  output: number
  cached?: number
  written?: number
  cost?: number
  source: 'reported' | 'parsed' | 'estimated'
  /** The tokens in the agent's context after its last request, if the agent reports each request. */
  held?: number
  /** Set if the answer was cut: only the tokens reported by then are counted. */
  part?: true
}

/** One agent's failed attempt at a turn; the turn continues. `did` describes the agent's work by then. */
export type Attempt = {
  type: 'attempt'
  failure: Failure
  ms: number
  did?: { calls: string[]; files: string[]; lastWords: string }
}

/** Why an agent's text stopped before it was an answer; `limit` is time, money, a quota or the context window. */
export type Cut = 'person' | 'limit' | 'crash' | 'failure'

/**
 * Words that an agent showed and that no reply contains. `cut` says what stopped them; words without it are not an answer, and no
 * other agent gets them. `call`: the call that the agent made after them; `calls`: the calls that it made between them. `from`: the
 * roles of an agent that was only consulted, the outermost first.
 */
export type Words = { type: 'words'; text: string; cut?: Cut; call?: string; calls?: CallPlace[]; from?: string[] }

/**
 * Instructions that an agent must follow from here on, beside its frame: a skill it loaded, an instruction file that changed.
 * A summary keeps them. `mark` names the content of a changed file: the next frame contains that file, so a guide with a mark
 * is summarised like any message.
 */
export type Guide = { type: 'guide'; name: string; text: string; mark?: string }

/**
 * From here on the view leaves out old tool outputs: those of the turns up to the `end` named by `through`, and with `step`
 * also those of its own turn up to that step.
 */
export type Trim = { type: 'trim'; through?: string; step?: number }

/**
 * Replaces the turns up to the `end` named by `through`, or with `step` the steps of its own turn up to that one. `shared`: the
 * agents that had seen them. `guides`: the guides of those turns, which stay in force; the guides and the steering of its own turn
 * keep their place. `tokens`: the size of the request before and after.
 */
export type Summary = {
  type: 'summary'
  text: string
  through?: string
  step?: number
  shared?: string[]
  guides?: (Guide & { by: string })[]
  tokens?: { before: number; after: number }
}

/**
 * How a turn was thought through and with what result, signed by the agent that acted. `passed`: the result of a check, if one was
 * made; `calls`: how many other agents were asked.
 */
export type Verdict = {
  type: 'verdict'
  framework: Framework
  /** The kind of request, for which the framework was chosen. */
  why: string
  passed?: boolean
  calls: number
  ms: number
}

/**
 * The source of a judgement of a turn: the person's thumb, an undo of the turn's changes, a next prompt that clearly says that the answer
 * was wrong, a race whose results were checked, or another check of the turn's work.
 */
type JudgementSource = 'person' | 'undo' | 'correction' | 'race' | 'check'

/**
 * Says whether an agent's work in a turn was good. A turn may have several judgements: all are kept, and the strongest counts.
 * Without `good`, it takes back the earlier judgement of the same source. `agent` is the judged agent, if it is not the one that
 * answered the turn; `kind`, `cost` (in US dollars) and `ms` are set if the other entries of the turn do not show them.
 */
export type Judgement = {
  type: 'judgement'
  source: JudgementSource
  good?: boolean
  why?: string
  agent?: string
  kind?: Framework
  cost?: number
  ms?: number
}

/** How bad a finding is: `high` must be fixed before the changes are used, `medium` goes wrong in some cases, `low` is small. */
export const severities = ['high', 'medium', 'low'] as const

/** One fault that a review found. `unchanged`: the line is not one of the changed lines in that file. */
export type Finding = {
  file: string
  line: number
  severity: (typeof severities)[number]
  problem: string
  why: string
  fix: string
  unchanged?: true
}

/**
 * The result of a review, in the order of the numbers that the person sees. `of`: a description of the changes; `dropped`: how many
 * findings named a file that was not changed; `reviewer`: the agent that found them.
 */
export type Review = { type: 'review'; of: string; findings: Finding[]; dropped: number; reviewer: string }

/** The state of the work when an agent reports on its own. */
export const reportStatuses = ['progress', 'done', 'blocked', 'failed'] as const

export type ReportStatus = (typeof reportStatuses)[number]

/**
 * A report of an agent before its turn is over. `final`: its whole answer, if the work is over. `from`: the roles of an agent that
 * another one sent, the outermost first; its reports are for that other agent, and not for the person.
 */
export type Notification = { type: 'notification'; status: ReportStatus; text: string; final?: string; from?: string[] }

/** The answer of an agent. `calls`: the calls that it made while it wrote the text, if it wrote the text piece by piece. */
type Reply = { type: 'reply'; text: string; calls?: CallPlace[]; step?: number; opaque?: unknown }

/** An event that is stored in the log. `whole` points to the full body when it was cut for the log. */
export type Fact = (
  | { type: 'prompt'; text: string; files?: Ref[]; owner?: string }
  /** Text that the person typed during the turn, and that its agent got. */
  | { type: 'steer'; text: string; files?: Ref[] }
  | Reply
  /** `via`: the tool through which the model made the call, if it is not described in every request. */
  | { type: 'call'; call: string; tool: string; input: unknown; via?: string; step?: number; opaque?: unknown }
  | { type: 'result'; call: string; ok: boolean; text: string; data?: unknown; files?: Ref[] }
  | Attempt
  | Words
  | { type: 'question'; ask: string; question: Question }
  | { type: 'answer'; ask: string; picks?: string[] }
  /** `vendor`: the company that the frame was sent to. */
  | { type: 'frame'; ref: Ref; vendor?: string }
  | Guide
  | Summary
  | Trim
  | { type: 'thread'; key: string }
  | { type: 'note'; text: string }
  /** The fate of the project's files after this turn and before the next one began, one line each, for the agents. */
  | { type: 'changes'; text: string }
  | Notification
  | Verdict
  | Judgement
  | Review
  | Race
  | Usage
  /** `status`: how much of its task a worker reports as done, in the handoff at the end of its turn. */
  | { type: 'end'; outcome: Outcome; status?: WorkStatus }
) & { whole?: Ref }

/** How much of its task a worker's handoff reports as done. */
export const workStatuses = ['completed', 'partial', 'failed', 'stopped'] as const

export type WorkStatus = (typeof workStatuses)[number]

export type PlanItem = { task: string; status: 'pending' | 'in_progress' | 'completed' }

/**
 * A file that a tool call changed; without `before` the file is new. `from`: the path from which the call moved the file; `gone`: the
 * call deleted it. The `data` of the call's result is a list of them.
 */
export type FileChange = {
  path: string
  before?: string
  after: string
  starts?: DiffStarts
  from?: string
  gone?: true
}

/**
 * Amounts of a budget. `steps` are those of the workers; `cost` is in dollars, and covers only answers whose price is known; `ms` leaves
 * out the time in which a question waited for a person.
 */
export type BudgetAmounts = { workers: number; steps: number; tokens: number; cost?: number; ms: number }

/** An event that is shown and not stored; only these may be dropped. */
export type Live =
  | { type: 'text' | 'thought'; delta: string }
  | { type: 'progress'; call: string; delta: string }
  /** `held`: the agent waits until others are done. `terminal`: it works in a terminal that a person can watch. */
  | { type: 'state'; state: 'held' | 'starting' | 'busy' | 'asking' | 'idle'; terminal?: true }
  /** The agent's plan, always as a whole. */
  | { type: 'plan'; items: PlanItem[] }
  /** The turn waits until its next event; `words` say for what. `until` is the time of the next attempt, if something failed. */
  | { type: 'waiting'; words: string; until?: number }
  /** The present step of a framework. */
  | { type: 'phase'; framework: Framework; words: string }
  /** How much of a provider's quota is used, in percent, and when it starts over; reported before the quota is used up. */
  | { type: 'limit'; used: number; until?: number; window?: string }
  /** How much of their shared budget a coordinator and all its workers have used, and how much they may use. */
  | { type: 'budget'; used: BudgetAmounts; allowed: Partial<BudgetAmounts> }

/** An event of an agent that was consulted. */
export type Inner = { type: 'inner'; role: string; event: Event }

/** `by` is the agent that really spoke, when that is not the agent whose turn it is. An event that was kept carries the fields of its Entry. */
export type Event = (Fact | Live | Inner) & { by?: string }

/** A fact in the form in which it is in the log. */
export type Entry = Fact & { id: string; at: number; by: string; session: string; turn: string }

export type EntryOf<K extends Entry['type']> = Extract<Entry, { type: K }>

/** The tool of a command that the person ran with "!": its call and its result are signed by the user. */
export const personTool = 'shell'

/** Whether an entry or an event belongs to a command that the person ran with "!". */
export function isPersonCommand({ type, by }: { type: string; by?: string }): boolean {
  return by === 'user' && (type === 'call' || type === 'result')
}

const live = new Set(['text', 'thought', 'progress', 'state', 'plan', 'waiting', 'phase', 'limit', 'budget', 'inner'])

export function isFact(event: Event): event is Fact & { by?: string } {
  return !live.has(event.type)
}

/** Says whether a parsed line of a log is an entry; entry types of another version count. */
export function isEntry(value: unknown): value is Entry {
  if (typeof value !== 'object' || value === null) return false
  const entry = value as Record<string, unknown>
  return (
    ['id', 'by', 'session', 'turn', 'type'].every((key) => typeof entry[key] === 'string') &&
    typeof entry.at === 'number'
  )
}
