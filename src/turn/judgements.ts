import type { Entry, Judgement } from '../core/talk/entry.ts'
import type { AnsweredTurn } from '../core/talk/judgement.ts'
import type { Conversation } from '../core/work/conversation.ts'
import type { TurnRecord } from '../safety/snapshots/snapshots.ts'
import { defined } from '../base/defined.ts'
import { UsageError } from '../core/io.ts'
import { lastAnswered } from '../core/talk/judgement.ts'
import { isCorrection } from './rotation/correction.ts'

/**
 * Records a judgement of a turn: whether an agent's work was good, and how we know. All measurements of agents are made from these facts.
 * `agent`, `kind`, `cost` and `ms` are needed only if the entries of the turn do not show them, as for an agent that took part in a race.
 * Several judgements of one turn are all stored, and the strongest counts.
 */
export function recordJudgement(
  conversation: Conversation,
  turn: string,
  judgement: Omit<Judgement, 'type'>,
): Promise<Entry> {
  const by = judgement.source === 'person' ? 'user' : 'termaite'
  return conversation.append(defined({ type: 'judgement' as const, ...judgement }), by, turn)
}

/** Records the person's own judgement of the last turn that an agent answered, and returns that turn. */
export async function recordThumb(conversation: Conversation, good: boolean, why: string): Promise<AnsweredTurn> {
  const last = lastAnswered((await conversation.read()).entries)
  if (!last) throw new UsageError('no agent has answered in this session yet, so there is nothing to judge.', 1)
  await recordJudgement(conversation, last.turn, { source: 'person', good, why: why.trim() || undefined })
  return last
}

/** Records a judgement if a prompt plainly calls the answer before it wrong. If that fails, the prompt still works. */
export async function recordCorrection(conversation: Conversation, prompt: string): Promise<void> {
  if (!isCorrection(prompt)) return
  try {
    const last = lastAnswered((await conversation.read()).entries)
    if (last) await recordJudgement(conversation, last.turn, { source: 'correction', good: false })
  } catch {
    // Ignored here: the turn that begins now reports a log that cannot be written.
  }
}

/**
 * Records that the changes of a turn were undone. Undoing an undo brings the changes back, and withdraws the judgement too. If recording
 * fails, the undo still works.
 */
export async function recordUndo(
  conversation: Conversation,
  records: readonly TurnRecord[],
  undone: TurnRecord,
): Promise<void> {
  let record: TurnRecord | undefined = undone
  let good: false | undefined = false
  while (record?.undoes !== undefined) {
    const { undoes }: TurnRecord = record
    record = records.find(({ turn }) => turn === undoes)
    good = good === undefined ? false : undefined
  }
  if (record) await recordJudgement(conversation, record.turn, { source: 'undo', good }).catch(() => {})
}
