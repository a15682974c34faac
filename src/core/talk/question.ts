/** What is shown beside a question, so that the person sees what they agree to. */
export type Shown =
  | { type: 'command'; command: string; cwd?: string }
  | { type: 'diff'; path: string; before?: string; after: string }
  | { type: 'text'; text: string }

/** A question that has to be answered before an agent goes on. `from` names the roles it came through, outermost first. */
export type Question = {
  about: 'permission' | 'choice' | 'login' | 'trust' | 'quota' | 'silence' | 'denied' | 'sharing'
  text: string
  from: string[]
  /** The agent that asks, or the agent that the question is about. */
  agent?: string
  multiple?: boolean
  /** Whether the person may answer in their own words; they are then the pick. */
  free?: boolean
  /** Whether those words are a secret: they are not shown, not even while they are typed. */
  secret?: boolean
  shows?: Shown[]
  /** `grants`: what picking the option allows from then on, in words. */
  options: { id: string; label: string; grants?: string }[]
  /** The option that is picked when nobody has answered at that time. */
  otherwise?: { pick: string; at: number }
}

/**
 * Asks a person. Returns the ids they picked, or undefined, which means no: nobody was there, or the question was withdrawn.
 * The `ask` of a turn never rejects. `ask` is the question's id in the log, once it is kept.
 */
export type Ask = (question: Question, withdrawn: AbortSignal, ask?: string) => Promise<string[] | undefined>

/** The `ask` of a run that no person watches. */
export const nobody: Ask = async () => undefined

/** Reads a typed answer: the numbers of options, or free words where the question takes them. An empty line picks nothing. */
export function picksTyped({ options, multiple, free }: Question, line: string): string[] | undefined | 'unclear' {
  const typed = line.trim()
  if (typed === '') return undefined
  const picks = typed.split(/[\s,]+/).map((part) => options[Number(part) - 1]?.id)
  const known = picks.every((pick) => pick !== undefined) && (picks.length === 1 || multiple === true)
  if (known) return [...new Set(picks)]
  return free ? [typed] : 'unclear'
}

export function unclearWords({ options, multiple }: Question): string {
  return `${multiple ? 'Numbers' : 'A number'} from 1 to ${options.length}, or Enter for none.`
}

/**
 * Reads typed words as picks of a question: one option by its number, its label or the beginning of its label, several where
 * the question takes them, or free words. Undefined where they are none of these.
 */
export function picksIn(
  question: Pick<Question, 'options' | 'multiple' | 'free'>,
  words: readonly string[],
): string[] | undefined {
  const { multiple, free } = question
  const whole = words.join(' ').trim()
  const one = optionOf(question, whole)
  if (one !== undefined) return [one]
  const each = words.flatMap((word) => word.split(',').filter(Boolean)).map((word) => optionOf(question, word))
  if (multiple && each.length > 0 && each.every((pick) => pick !== undefined)) return [...new Set(each)]
  return free && whole !== '' ? [whole] : undefined
}

/** Names every answer that a question takes. */
export function allowedAnswers({ options, multiple }: Pick<Question, 'options' | 'multiple'>): string {
  return `${multiple ? 'some' : 'one'} of ${options.map(({ label }, at) => `${at + 1} ${label}`).join(' | ')}`
}

function optionOf({ options }: Pick<Question, 'options'>, word: string): string | undefined {
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
