import type { Option } from '../../../core/talk/question.ts'
import type { Spent } from '../../../core/work/budget.ts'
import type { CapAnswer, SpendingCap } from './spending-cap.ts'
import type { Task, TaskState } from './task.ts'
import { defined } from '../../../base/defined.ts'
import { durationText } from '../../../base/time/duration.ts'
import { addSpent, capOptions, capWords, passedCap, raisedCap, spentOn } from './spending-cap.ts'

/** The most that a pipeline may use before a person is asked; `timeMs` is the time in which at least one agent works on it. */
export type PipelineCap = SpendingCap & { timeMs?: number }

/** Tasks that one plan added together. */
export type Pipeline = {
  id: string
  name: string
  by: string
  created: number
  /** The hash of the plan, by which a repeated request is recognized. */
  digest: string
  /** The ids of the pipeline's tasks, in the order of the plan. */
  tasks: string[]
  cap?: PipelineCap
  /** The new limits after a person granted the pipeline its cap once more. */
  allowed?: PipelineCap
  /** Set while a person is asked because the cap was passed: since when, and `passed`, which completes "The pipeline has …". */
  asks?: { at: number; passed: string; upTo: PipelineCap }
  /** Since when, and by whom, the pipeline is paused. */
  paused?: { at: number; by: string }
  /** The schedule that added the pipeline, and a note about its time. */
  schedule?: string
  note?: string
}

export type PipelineState = TaskState | 'PAUSED'

/** A pipeline with its state and what it has used. */
export type PipelineView = Pipeline & { state: PipelineState; spent: PipelineSpent }

const over: readonly TaskState[] = ['COMPLETED', 'APPROVED', 'FAILED', 'CANCELLED']

/** The state of a pipeline as a whole: how it ended, or what it waits for. */
export function pipelineState(pipeline: Pipeline, tasks: readonly Task[]): PipelineState {
  const states = new Set(tasks.map(({ state }) => state))
  const first = (...wanted: TaskState[]) => wanted.find((state) => states.has(state))
  if (tasks.every(({ state }) => over.includes(state))) return first('FAILED', 'CANCELLED') ?? 'COMPLETED'
  if (pipeline.paused || pipeline.asks) return 'PAUSED'
  if (first('PENDING_ACK', 'ASSIGNED', 'IN_PROGRESS')) return 'IN_PROGRESS'
  return first('BLOCKED', 'IN_REVIEW') ?? 'QUEUED'
}

export const isPipelineOver = (tasks: readonly Task[]) => tasks.every(({ state }) => over.includes(state))

/** The tokens, the cost and the working time of all tasks of a pipeline. */
type PipelineSpent = Spent & { timeMs: number }

export function pipelineSpent(tasks: readonly Task[], now: number): PipelineSpent {
  const spent = tasks.reduce<Spent>((sum, task) => addSpent(sum, spentOn(task)), { tokens: 0 })
  return { ...spent, timeMs: workedMs(tasks, now) }
}

/** The time in which at least one agent worked: parallel tries count only once. */
function workedMs(tasks: readonly Task[], now: number): number {
  const tries = tasks
    .flatMap(({ tries = [] }) => tries)
    .map(({ began, ended = now }) => ({ began, ended }))
    .toSorted((a, b) => a.began - b.began)
  let [sum, until] = [0, -Infinity]
  for (const { began, ended } of tries) {
    sum += Math.max(0, ended - Math.max(began, until))
    until = Math.max(until, ended)
  }
  return sum
}

/** Says how much of a cap is used, as a phrase that completes "The pipeline has …", once the cap is reached; undefined before. */
function passedPipelineCap(spent: PipelineSpent, cap: PipelineCap): string | undefined {
  const { timeMs = Infinity } = cap
  const time =
    spent.timeMs >= timeMs ? `worked for ${durationText(spent.timeMs)} of ${durationText(timeMs)}` : undefined
  return passedCap(spent, cap) ?? time
}

/** The new limits of a pipeline if a person grants its cap once more. */
function raisedPipelineCap(spent: PipelineSpent, cap: PipelineCap, allowed: PipelineCap = cap): PipelineCap {
  const { timeMs } = cap
  const limit = allowed.timeMs ?? timeMs
  const time = timeMs === undefined || limit === undefined || spent.timeMs < limit ? limit : spent.timeMs + timeMs
  return defined({ ...raisedCap(spent, cap, allowed), timeMs: time })
}

/** Formats the cap of a pipeline, such as "$2.00 and 500,000 tokens and 1h30m". */
export function pipelineCapWords({ timeMs, ...cap }: PipelineCap): string {
  return [
    ...[capWords(cap)].filter((words) => words !== ''),
    ...(timeMs === undefined ? [] : [durationText(timeMs)]),
  ].join(' and ')
}

/** The pipeline with a question, if it has passed its cap and still has a task to begin; undefined if it may continue. */
export function askedPipeline(pipeline: Pipeline, tasks: readonly Task[], now: number): Pipeline | undefined {
  const { cap, allowed = cap, asks } = pipeline
  if (!cap || !allowed || isPipelineOver(tasks)) return undefined
  const spent = pipelineSpent(tasks, now)
  // An open question is updated with the reports of running tasks, but not with every second of their time.
  const passed = asks ? passedCap(spent, allowed) : passedPipelineCap(spent, allowed)
  if (passed === undefined || passed === asks?.passed) return undefined
  return { ...pipeline, asks: { at: asks?.at ?? now, passed, upTo: raisedPipelineCap(spent, cap, allowed) } }
}

/** The answers to the question about the cap of a pipeline. */
export const pipelineOptions = ({ upTo }: NonNullable<Pipeline['asks']>): Option[] =>
  capOptions(pipelineCapWords(upTo), 'pipeline')

/** The pipeline after an answer that lets it continue. */
export function answeredPipeline(pipeline: Pipeline, pick: Exclude<CapAnswer, 'stop'>): Pipeline {
  const { asks, cap, allowed: _, ...rest } = pipeline
  return pick === 'uncapped' ? rest : defined({ ...rest, cap, allowed: asks?.upTo })
}

/** Says why no further task of a pipeline begins; undefined if tasks may begin. */
export function pipelineStop(pipeline: Pipeline | undefined): string | undefined {
  if (pipeline?.asks) return `the pipeline ${pipeline.name} has ${pipeline.asks.passed}; a person is asked in the inbox`
  return pipeline?.paused && `the pipeline ${pipeline.name} was paused by ${pipeline.paused.by}`
}
