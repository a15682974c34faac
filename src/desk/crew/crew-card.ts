import type { CommandWorld } from '../../core/talk/command.ts'
import type { Question } from '../../core/talk/question.ts'
import type { Crew } from '../../crew/crew.ts'
import type { SlotQuestion, Slot } from '../../crew/slot.ts'
import { nameOf } from '../../crew/slot.ts'

/** Says how to answer a question later. */
export const answerWords = (id: number) => `Answer it: /crew answer ${id}`

/** Shows an agent's question as a card in the chat; returns whether the user answered. */
export async function put(
  crew: Pick<Crew, 'answer'>,
  { id, agent }: Slot,
  { ask, question }: SlotQuestion,
  { ask: person, say, signal }: Pick<CommandWorld, 'ask' | 'say' | 'signal'>,
): Promise<boolean> {
  const picks = await person({ ...question, agent, from: [...question.from, nameOf(id)] }, signal)
  // An answer counts even when the card is withdrawn at the same moment.
  if (!picks && signal.aborted) return false
  if (picks || leavingSaysNo(question)) await crew.answer(id, picks, ask)
  else say(`${agent} (slot ${id}) still waits for an answer. ${answerWords(id)}`)
  return true
}

/** Esc is an answer on a card that says what Esc does, and on a permission card; on any other card it gives no answer. */
export const leavingSaysNo = ({ about, unanswered }: Question) =>
  unanswered !== undefined || about === 'permission' || about === 'trust'
