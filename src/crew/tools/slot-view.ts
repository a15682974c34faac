import type { Question, Shown } from '../../core/talk/question.ts'
import type { Slot } from '../slot.ts'
import { defined } from '../../base/defined.ts'
import { askedTurn, slotStates } from '../slot.ts'

type Schema = Record<string, unknown>

export const slotSchema: Schema = { type: 'integer' }
export const stateSchema: Schema = { type: 'string', enum: slotStates }
export const textSchema: Schema = { type: 'string' }
export const flagSchema: Schema = { type: 'boolean' }

/** The schema of an object; the fields in `needed` are always present. */
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

/** A question in the form for a coordinating model, which cannot answer it. */
export function questionView({ about, text, shows, options }: Question) {
  return defined({ about, text, shows, options: options.map(({ id, label }) => ({ id, label })) })
}

/** A question on one line, with its dangerous parts first, because a list cuts long lines. */
export function questionWords(question: Pick<Question, 'text' | 'shows'>): string {
  return [...dangersIn(question).map((words) => `! ${words}`), askedWords(question)].join(' · ')
}

/** A question on one line, together with the command, file or text: nobody should agree to something unseen. */
export function askedWords({ text, shows = [] }: Pick<Question, 'text' | 'shows'>): string {
  const about = shows.map((one) =>
    one.type === 'command' ? `$ ${one.command}` : one.type === 'diff' ? one.path : one.text,
  )
  return [text, ...about].join(' · ')
}

/** The dangerous parts of everything that a question shows. */
export function dangersIn({ shows = [] }: Pick<Question, 'shows'>): string[] {
  return shows.flatMap(dangersOf)
}

function dangersOf(shown: Shown): string[] {
  if (shown.type === 'diff') return shown.danger === undefined ? [] : [`${shown.path}: ${shown.danger}`]
  if (shown.type === 'text') return []
  return (shown.marks ?? []).map(({ from, to, why }) => `${shown.command.slice(from, to).trim()} (${why})`)
}

/** A slot in a list. */
export function slotView(slot: Slot, now: number) {
  const { id, agent, state, why, task, since, cwd, leash, model, needs, queue, asks, artifact, worktree } = slot
  return defined({
    slot: id,
    agent_type: agent,
    state,
    why: why || undefined,
    task,
    since: new Date(since).toISOString(),
    seconds: Math.max(0, Math.round((now - since) / 1000)),
    cwd,
    leash,
    model,
    depends_on: needs.length > 0 ? needs : undefined,
    queued: queue.length > 0 ? queue.length : undefined,
    question: asks && questionView(asks[0].question),
    has_artifact: artifact !== undefined && artifact.turn === askedTurn(slot),
    worktree: worktree?.path,
    branch: worktree?.branch,
  })
}

export const slotViewSchema = objectOf(
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
