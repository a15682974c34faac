import type { CommandWorld } from '../../core/talk/command.ts'
import type { Question } from '../../core/talk/question.ts'
import type { Crew } from '../../crew/crew.ts'
import type { Asked, Slot } from '../../crew/slot.ts'
import { nameOf } from '../../crew/slot.ts'

/** Where a question that nobody answered is found again. */
export const answerWords = (id: number) => `Answer it: /crew answer ${id}`

/** Puts what an agent asks to the person in the chat, as one of its cards; whether they had their say. */
export async function put(
  crew: Pick<Crew, 'answer'>,
  { id, agent }: Slot,
  { ask, question }: Asked,
  { ask: person, say, signal }: Pick<CommandWorld, 'ask' | 'say' | 'signal'>,
): Promise<boolean> {
  const picks = await person({ ...question, agent, from: [...question.from, nameOf(id)] }, signal)
  // Whoever answers and leaves at once has answered.
  if (!picks && signal.aborted) return false
  if (picks || saysNo(question)) await crew.answer(id, picks, ask)
  else say(`${agent} (slot ${id}) still asks. ${answerWords(id)}`)
  return true
}

/** Whoever leaves a card of these kinds has said no, as it tells them; of the others, nothing. */
const saysNo = ({ about }: Question) => about === 'permission' || about === 'trust'
