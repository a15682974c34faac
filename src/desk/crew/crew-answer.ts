import type { Question } from '../../core/talk/question.ts'
import type { Crew } from '../../crew/crew.ts'
import type { Asked, Slot } from '../../crew/slot.ts'
import type { Io } from '../../core/io.ts'
import { messageOf } from '../../base/error-message.ts'
import { questionText } from '../../faces/question-text.ts'
import { ask } from '../../faces/terminal-questions.ts'
import { print, UsageError } from '../../core/io.ts'
import { slotOf } from './crew-verbs.ts'

/** Answers an agent's question with the given words, or asks the user at the terminal. */
export async function answer(io: Io, crew: Crew, [word, ...words]: readonly string[]): Promise<number> {
  const id = slotOf('answer', word)
  const { asks, state } = await crew.slot(id)
  const asked = asks?.[0]
  if (!asked) throw new UsageError(`slot ${id} asks nothing: it is ${state}.`, 1)
  const picks = words.length > 0 ? picked(asked.question, words) : await asking(io, crew, id, asked)
  await crew.answer(id, picks, asked.ask)
  const labels = picks.map((pick) => asked.question.options.find((option) => option.id === pick)?.label ?? pick)
  print(io, `slot ${id}: answered ${labels.join(', ')}`)
  return 0
}

/** Asks the user at the terminal. An answer given elsewhere meanwhile ends the question. */
async function asking(io: Io, crew: Crew, id: number, { ask: asked, question }: Asked): Promise<string[]> {
  const words = `slot ${id} asks: ${await questionText(question)}`
  if (!io.in.isTTY)
    throw new UsageError(`${words}\nThere is no terminal to ask in. Answer with: termaite crew answer ${id} <number>`)
  const over = new AbortController()
  const settled = ({ asks }: Slot) => !asks?.some(({ ask }) => ask === asked)
  const elsewhere = new AbortController()
  void crew.wait([id], { until: Number.MAX_SAFE_INTEGER, settled, signal: over.signal }).then(
    () => over.signal.aborted || elsewhere.abort(),
    () => {},
  )
  try {
    for (let shown = words; ;) {
      const typed = await ask(io, `${shown}\n> `, elsewhere.signal)
      try {
        return picked(question, typed.split(/\s+/))
      } catch (error) {
        shown = messageOf(error)
      }
    }
  } catch (error) {
    throw elsewhere.signal.aborted ? new UsageError(`slot ${id} was answered elsewhere.`, 1) : error
  } finally {
    over.abort()
  }
}

/** Reads typed words as one option, several options, or free text, as the question allows. */
export function picked(question: Question, words: readonly string[]): string[] {
  const { options, multiple, free } = question
  const whole = words.join(' ').trim()
  const one = optionOf(question, whole)
  if (one !== undefined) return [one]
  const each = words.flatMap((word) => word.split(',').filter(Boolean)).map((word) => optionOf(question, word))
  if (multiple && each.length > 0 && each.every((pick) => pick !== undefined)) return [...new Set(each)]
  if (free && whole !== '') return [whole]
  const allowed = options.map(({ label }, at) => `${at + 1} ${label}`).join(' | ')
  throw new UsageError(`found "${whole}", allowed: ${multiple ? 'some' : 'one'} of ${allowed}.`)
}

/** Finds the option by number or id, by its label, or by the beginning of its label. */
function optionOf({ options }: Question, word: string): string | undefined {
  const typed = word.toLowerCase()
  if (typed === '') return undefined
  const ways = [
    options.filter(({ id }, at) => id === word || String(at + 1) === word),
    options.filter(({ label }) => label.toLowerCase() === typed),
    options.filter(({ label }) => label.toLowerCase().startsWith(typed)),
  ]
  const found = ways.find((way) => way.length > 0)
  return found?.length === 1 ? found[0]!.id : undefined
}
