import type { Step } from '../../core/profile/profile.ts'
import { defined } from '../../base/defined.ts'

/** One of the questions that a CLI asks a person in a single request. */
type Choice = {
  key: string
  text: string
  multiple: boolean
  options: { label: string; description: string }[]
}

/** A card for each question; the one reply is sent with the last answer, or with the first refusal. */
export function askChoices(
  id: string,
  choices: readonly Choice[],
  reply: (answers: Map<string, string[]> | undefined) => string,
): Step[] {
  const answers = new Map<string, string[]>()
  let replied = false
  return choices.map(({ key, text, multiple, options }) => ({
    type: 'ask',
    id,
    question: defined({
      about: 'choice',
      text,
      from: [] as string[],
      multiple: multiple || undefined,
      free: true,
      options: options.map(({ label, description }) => ({
        id: label,
        label: description === '' ? label : `${label}: ${description}`,
      })),
      unanswered: 'do not answer; the agent continues',
    }),
    reply(picks) {
      if (replied) return ''
      if (picks?.length) answers.set(key, picks)
      replied = !picks?.length || answers.size === choices.length
      return replied ? reply(picks?.length ? answers : undefined) : ''
    },
  }))
}
