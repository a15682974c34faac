import type { CommandWorld } from '../../core/talk/command.ts'
import type { Question } from '../../core/talk/question.ts'
import type { Crew } from '../../crew/crew.ts'
import type { Asked, Slot } from '../../crew/slot.ts'

/** Where a question that nobody answered is found again. */
export const answerWords = (id: number) => `Answer it: /crew answer ${id}`

/** Puts what an agent asks to the person in the chat, as one of its cards. */
export async function put(
  crew: Pick<Crew, 'answer'>,
  { id, agent }: Slot,
  { ask, question }: Asked,
  { ask: person, say, signal }: Pick<CommandWorld, 'ask' | 'say' | 'signal'>,
): Promise<void> {
  const picks = await person({ ...question, agent: `${agent} (slot ${id})` }, signal)
  // Whoever answers and leaves at once has answered.
  if (!picks && signal.aborted) return
  if (picks || saysNo(question)) await crew.answer(id, picks, ask)
  else say(`${agent} (slot ${id}) still asks. ${answerWords(id)}`)
}

/** Whoever leaves a card of these kinds has said no, as it tells them; of the others, nothing. */
const saysNo = ({ about }: Question) => about === 'permission' || about === 'trust'
