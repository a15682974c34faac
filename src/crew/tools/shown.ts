import type { Question } from '../../core/talk/question.ts'
import type { Slot } from '../slot.ts'
import { slotStates } from '../slot.ts'

type Schema = Record<string, unknown>

export const slotSchema: Schema = { type: 'integer' }
export const stateSchema: Schema = { type: 'string', enum: slotStates }
export const textSchema: Schema = { type: 'string' }
export const flagSchema: Schema = { type: 'boolean' }

/** An object with these fields, those of `needed` always among them. */
export function objectOf(properties: Record<string, Schema>, needed = Object.keys(properties)): Schema {
  return { type: 'object', properties, required: needed, additionalProperties: false }
}

export const questionSchema = objectOf(
  {
    about: textSchema,
    text: textSchema,
    shows: { type: 'array', items: { type: 'object' } },
    options: { type: 'array', items: objectOf({ id: textSchema, label: textSchema }) },
  },
  ['about', 'text', 'options'],
)

/** A question as a conductor sees it: only a person answers it. */
export function questionOf({ about, text, shows, options }: Question) {
  return { about, text, ...(shows ? { shows } : {}), options: options.map(({ id, label }) => ({ id, label })) }
}

/** A question on one line, with what it is about: nobody says yes to something they have not seen. */
export function questionWords({ text, shows = [] }: Pick<Question, 'text' | 'shows'>): string {
  const about = shows.map((one) =>
    one.type === 'command' ? `$ ${one.command}` : one.type === 'diff' ? one.path : one.text,
  )
  return [text, ...about].join(' · ')
}

/** One agent in a list. */
export function agentOf(slot: Slot, now: number) {
  const { id, agent, state, why, task, since, cwd, leash, model, needs, queue, asks, artifact, worktree } = slot
  return {
    slot: id,
    agent_type: agent,
    state,
    ...(why === undefined ? {} : { why }),
    task,
    since: new Date(since).toISOString(),
    seconds: Math.max(0, Math.round((now - since) / 1000)),
    cwd,
    leash,
    ...(model === undefined ? {} : { model }),
    ...(needs.length > 0 ? { depends_on: needs } : {}),
    ...(queue.length > 0 ? { queued: queue.length } : {}),
    ...(asks?.[0] ? { question: questionOf(asks[0].question) } : {}),
    has_artifact: artifact !== undefined,
    ...(worktree ? { worktree: worktree.path, branch: worktree.branch } : {}),
  }
}

export const agentSchema = objectOf(
  {
    slot: slotSchema,
    agent_type: textSchema,
    state: stateSchema,
    why: textSchema,
    task: textSchema,
    since: textSchema,
    seconds: { type: 'integer' },
    cwd: textSchema,
    leash: textSchema,
    model: textSchema,
    depends_on: { type: 'array', items: slotSchema },
    queued: { type: 'integer' },
    question: questionSchema,
    has_artifact: flagSchema,
    worktree: textSchema,
    branch: textSchema,
  },
  ['slot', 'agent_type', 'state', 'task', 'since', 'seconds', 'cwd', 'leash', 'has_artifact'],
)
