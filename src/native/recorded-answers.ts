import type { Clock } from '../base/time/clock.ts'
import type { Event } from '../core/talk/entry.ts'
import type { Ask, Question, RecordedAnswers, Shown } from '../core/talk/question.ts'
import type { Store } from '../core/talk/store.ts'
import type { Agent, Turn } from '../core/work/agent.ts'
import type { AuditContext, AuditedAct } from '../safety/audit-entry.ts'
import type { Audit } from '../safety/audit-log.ts'
import type { Border } from '../safety/border.ts'
import type { NativeParts } from './native-parts.ts'
import { defined } from '../base/defined.ts'
import { messageOf } from '../base/error-message.ts'

/** Records answers: in the audit, which is opened with the first answer and undefined if nothing is stored, with the scene. */
export type AnswerRecord = { audit(): Promise<Audit | undefined>; scene: AuditContext }

/** The record of a run's answers, in the audit that our own agents use. */
export function answerRecord(parts: NativeParts): AnswerRecord {
  return {
    audit: async () => (await import('./native-audit.ts')).auditOf(parts),
    scene: { project: parts.root, session: parts.session },
  }
}

/** The record of answers when no native agent runs: those of a crew, or of a supervised agent. */
export function ownRecord({ store, clock, border, project }: RecordParts): AnswerRecord {
  let audit: Promise<Audit> | undefined
  const open = async () => {
    const { Audit } = await import('../safety/audit-log.ts')
    return new Audit(store, { clock, mask: border.toward('audit') })
  }
  return { audit: () => (audit ??= open()), scene: { project } }
}

type RecordParts = { store: Store; clock: Clock; border: Border; project: string }

/**
 * Whether an answer to a question of another vendor's agent allows something. Our own agent's questions are recorded with the tool that
 * asks, so they do not count here.
 */
export const allowsAct = ({ about, options }: Question) =>
  about === 'permission' || about === 'trust' || (about === 'choice' && options.some(({ means }) => isYes(means)))

/** Whether an answer to a question of the rotation allows something: a looser leash, or sharing the conversation with another vendor. */
export const allowsAgent = ({ about }: Question) => about === 'denied' || about === 'sharing'

/**
 * Records the answers to an agent's questions before the agent gets them. A yes that cannot be recorded is not passed on: the agent learns that nobody answered, and a note says why.
 */
export function withRecordedAnswers(
  agent: Agent,
  record: AnswerRecord,
  counts: (question: Question) => boolean,
): Agent {
  const { name, start } = agent
  // The copy keeps the agent's getters, because some of its properties, such as its terminal, change during its life.
  const recording = Object.defineProperties({}, Object.getOwnPropertyDescriptors(agent)) as Agent
  recording.turn = async function* (turn): AsyncGenerator<Event> {
    const answers = turnAnswers(turn, name, record, counts)
    for await (const event of agent.turn({ ...turn, ask: answers.ask })) {
      if (event.type === 'end') await answers.settle()
      for (const text of answers.notes.splice(0)) yield { type: 'note', text, by: 'termaite' }
      yield event
    }
  }
  if (start)
    recording.start = async (signal, ask) => {
      const answers = ask && recordAnswers(ask, name, record, counts)
      try {
        return await start(signal, answers?.ask)
      } finally {
        await answers?.settle()
      }
    }
  return recording
}

/** Records the answers of one turn of an agent that asks on its own; `settle` finishes the record after the notes. */
export const turnAnswers = (
  turn: Pick<Turn, 'ask' | 'id'>,
  name: string,
  record: AnswerRecord,
  counts: (question: Question) => boolean,
): RecordedAnswers => recordAnswers(turn.ask, name, { ...record, scene: { ...record.scene, turn: turn.id } }, counts)

/** Asks with `ask`, and records in the audit the answers to the questions that `counts` selects; `settle` completes their records. */
function recordAnswers(
  ask: Ask,
  name: string,
  { audit, scene }: AnswerRecord,
  counts: (question: Question) => boolean,
): RecordedAnswers {
  const notes: string[] = []
  let used: Audit | undefined
  return {
    notes,
    async ask(question: Question, withdrawn: AbortSignal, id?: string) {
      const picks = await ask(question, withdrawn, id)
      if (!counts(question)) return picks
      try {
        used = await audit()
        await used?.record({ ...approvalOf(question, picks, withdrawn.aborted, name), ...scene })
        return picks
      } catch (error) {
        const refused = picks === undefined || answerIn(question, picks) === 'no'
        const done = refused ? 'The answer' : 'The answer did not reach the agent, because it'
        notes.push(`${done} could not be recorded in the audit: ${messageOf(error)}`)
        return refused ? picks : undefined
      }
    },
    async settle() {
      await used?.settle().catch((error) => notes.push(`the audit could not record what was done: ${messageOf(error)}`))
    },
  }
}

type Approval = Extract<AuditedAct, { type: 'approval' }>

/** The longest description of the allowed action. The conversation keeps the whole question. */
const longest = 400

function approvalOf(question: Question, picks: string[] | undefined, withdrawn: boolean, name: string): Approval {
  const { about, text, shows = [], options, agent } = question
  const picked = options.filter(({ id }) => picks?.includes(id))
  const said = picked.length > 0 ? picked.map(({ label }) => label).join(', ') : picks?.join(', ')
  const rule = picked.flatMap(({ grants }) => grants ?? []).join(', ')
  const [title = ''] = text.split('\n')
  return defined({
    type: 'approval',
    tool: about,
    what: [title, ...shows.map(shownWords)].join(': ').slice(0, longest),
    answer: picks ? answerIn(question, picks) : withdrawn ? 'withdrawn' : 'nobody',
    picked: said,
    rule: rule === '' ? undefined : rule,
    by: agent ?? name,
  })
}

/** The meaning of the picks. The person's own words in place of a yes mean no; an option without a meaning counts as another answer. */
function answerIn({ options, about }: Question, picks: readonly string[]): Approval['answer'] {
  const picked = options.filter(({ id }) => picks.includes(id))
  if (picked.length === 0) return about === 'choice' ? 'other' : 'no'
  const means = picked.map((option) => option.means ?? (option.grants === undefined ? 'other' : 'always'))
  return means.find((one) => one !== 'no') ?? 'no'
}

const isYes = (means: string | undefined) => means === 'once' || means === 'always'

function shownWords(shown: Shown): string {
  if (shown.type === 'command') return shown.command
  return shown.type === 'diff' ? shown.path : shown.text
}
