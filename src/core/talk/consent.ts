import type { Meaning, Option, Question } from './question.ts'
import { defined } from '../../base/defined.ts'

/**
 * The order of the answers on every card that asks for a yes; other options come after them. Numbers run from 1 without gaps, so a number
 * does not say what its answer means: the words, the line of what a yes covers, and the colour do. A CLI that numbers the answers of its
 * dialog keeps its numbers: a person who reads the dialog in the terminal and answers it elsewhere must not answer something else.
 */
const meanings = ['once', 'always', 'no'] as const satisfies readonly Meaning[]
/** The order without a yes for once: key 1 never gives a yes that lasts to a person who presses it out of habit. */
const cautious = ['no', 'always'] as const satisfies readonly Meaning[]

/** The answers on one card. */
type ConsentOptions = Partial<Record<Meaning, Option | undefined>> & {
  /** Options other than these three, such as a wider yes. */
  others?: readonly Option[]
}

/** The options of a card that asks for a yes, in the order of their keys. */
export function consentOptions({ others = [], ...answers }: ConsentOptions): Option[] {
  const known = (answers.once ? meanings : cautious).flatMap((means) => {
    const option = answers[means]
    return option ? [{ ...option, means }] : []
  })
  return [...known, ...others]
}

/**
 * The options of another program's menu as those of a card. Options that the program numbers keep their order, and every one that lasts or
 * refuses has that meaning; otherwise the first option of each meaning comes first, as on our own cards.
 */
export function translatedOptions(options: readonly Option[], meaningOf: (option: Option) => Meaning | undefined) {
  const first = (means: Meaning) => options.find((option) => meaningOf(option) === means)
  const [once, always, no] = [first('once'), first('always'), first('no')]
  // Without a yes and a no the menu is a list to choose from.
  if (!no || !(once ?? always)) return [...options]
  // A second option that grants nothing may not be an answer at all, such as "Modify with external editor".
  const isAnswer = (option: Option) => option === once || meaningOf(option) !== 'once'
  if (isNumbered(options))
    return options.map((option) => (isAnswer(option) ? defined({ ...option, means: meaningOf(option) }) : option))
  const others = options.filter((option) => option !== once && option !== always && option !== no)
  return consentOptions({ once, always, no, others })
}

/** The words that say what an answer allows, most dangerous answer first. */
const allowance: Readonly<Record<Meaning, string>> = {
  always: 'allows it every time',
  once: 'allows it once',
  no: 'refuses it',
}

/**
 * Describes what an answer with a number of another program allows. Those numbers follow no order of danger, so every face
 * shows this text beside the label. Our own cards say it by their labels and by what a yes covers: undefined.
 */
export function allowanceWords({ key, means }: Option): string | undefined {
  return key === undefined || means === undefined ? undefined : allowance[means]
}

/** Describes what an answer allows and covers, beside its label; undefined if the label says everything. */
export function effectWords(option: Option): string | undefined {
  const words = [allowanceWords(option), option.grants && `covers: ${option.grants}`].filter(Boolean)
  return words.length > 0 ? words.join('; ') : undefined
}

/** Whether the asking program shows a number with each option. */
const isNumbered = (options: readonly Option[]) => options.every(({ key }) => key !== undefined)

/** The key of each option, in the order of the options. */
export function optionKeys(options: readonly Option[]): number[] {
  return isNumbered(options) ? options.map(({ key }) => key!) : options.map((_, at) => at + 1)
}

/** The option that a key picks. */
function optionOfKey(options: readonly Option[], key: number): Option | undefined {
  return options[optionKeys(options).indexOf(key)]
}

/** The effect of Escape on a question that has neither a no nor a text of its own for Escape. */
const unanswered: Readonly<Record<Question['about'], string>> = {
  permission: 'do not allow it',
  choice: 'leave this unanswered',
  trust: 'do not trust it',
  login: 'do not log in now',
  quota: 'leave this unanswered',
  silence: 'leave this unanswered',
  denied: 'leave it undone',
  sharing: 'do not share it',
}

/**
 * The answer of Escape, which is always the harmless one, and the text with which a card announces it: the option that the question
 * names for it, else its no, else no answer.
 */
export function escapeOf({ about, options, escape, unanswered: says }: Question): { picks?: string[]; says: string } {
  const option =
    options.find(({ id }) => id === escape) ??
    (says === undefined ? options.find(({ means }) => means === 'no') : undefined)
  return option ? { picks: [option.id], says: option.label } : { says: says ?? unanswered[about] }
}

/**
 * The option that Enter picks at first: the first yes, unless the question or another program's dialog says otherwise. A folder is never
 * trusted by a key that was meant for something else: there it is the no.
 */
export function enterOf({ about, options, enter }: Question): Option | undefined {
  const no = about === 'trust' ? options.find(({ means }) => means === 'no') : undefined
  const yes = isNumbered(options) ? undefined : options.find(({ means }) => means !== 'no')
  return no ?? options.find(({ id }) => id === enter) ?? yes ?? options[0]
}

/**
 * Reads a typed answer: the keys of options, the label of one (its beginning is enough if the question takes no free text), or free
 * text. An empty line is Escape's answer.
 */
export function picksTyped(question: Question, line: string): string[] | undefined | 'unclear' {
  const { options, multiple, free } = question
  const typed = line.trim()
  if (typed === '') return escapeOf(question).picks
  const picks = typed.split(/[\s,]+/).map((part) => optionOfKey(options, Number(part))?.id)
  const known = picks.every((pick) => pick !== undefined) && (picks.length === 1 || multiple === true)
  if (known) return [...new Set(picks)]
  const named = free
    ? options.find(({ label }) => label.toLowerCase() === typed.toLowerCase())?.id
    : labelled(options, typed)
  if (named !== undefined) return [named]
  // A number without an option was meant as a key, not as free text.
  return free && !/^\d$/.test(typed) ? [typed] : 'unclear'
}

/** The answer that termaite suggests; undefined if it suggests none. */
export function suggestedPicks({ suggests, marked, enter }: Pick<Question, 'suggests' | 'marked' | 'enter'>) {
  const picks = suggests ? (marked ?? (enter === undefined ? [] : [enter])) : []
  return picks.length > 0 ? [...picks] : undefined
}

/** How to answer a question by typing; `enter` says what an empty line does. */
export function unclearWords(question: Question, enter = escapeOf(question).says): string {
  const { options, multiple, ordered } = question
  const keys = optionKeys(options)
  const which = `${multiple ? 'numbers out of' : 'one of'} ${keys.join(', ')}${ordered ? ` ${orderWords(keys)}` : ''}`
  return `Type ${which}, or press Enter alone: ${enter}.`
}

/** How to type numbers if their order matters. */
export function orderWords(keys: readonly number[]): string {
  return `in the order that you want, such as ${keys.slice(0, 2).toReversed().join(' ')}`
}

/**
 * Interprets typed words as picks of a question: one option by its key, its label or the beginning of its label, several if the question
 * allows several, or free text. Undefined if nothing matches.
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

/** Whether a question accepts these picks: the ids of options, or one text if it allows free text. */
export function takesPicks(
  { options, multiple, free }: Pick<Question, 'options' | 'multiple' | 'free'>,
  picks: readonly string[],
): boolean {
  const [first, ...more] = picks
  if (first === undefined || (more.length > 0 && !multiple)) return false
  return picks.every((pick) => options.some(({ id }) => id === pick)) || (free === true && more.length === 0)
}

/** The options of a question as lines of text, each with its key, what it covers, and whether termaite suggests it. */
export function optionLines(question: Pick<Question, 'options' | 'marked' | 'enter' | 'suggests'>): string[] {
  const { options } = question
  const marked = suggestedPicks(question) ?? question.marked ?? []
  const keys = optionKeys(options)
  return options.map((option, at) => {
    const { id, label } = option
    const says = effectWords(option)
    return `  ${keys[at]} ${label}${says === undefined ? '' : ` (${says})`}${marked.includes(id) ? ' (suggested)' : ''}`
  })
}

/** Lists every answer that a question accepts. */
export function allowedAnswers({ options, multiple }: Pick<Question, 'options' | 'multiple'>): string {
  const keys = optionKeys(options)
  return `${multiple ? 'some' : 'one'} of ${options.map(({ label }, at) => `${keys[at]} ${label}`).join(' | ')}`
}

function optionOf({ options }: Pick<Question, 'options'>, word: string): string | undefined {
  if (word === '') return undefined
  // A number is always a key: the ids of options may be numbers too, which the person does not see.
  if (/^\d+$/.test(word)) return optionOfKey(options, Number(word))?.id
  return options.find(({ id }) => id === word)?.id ?? labelled(options, word)
}

/** The only option whose label is this word or begins with it. */
function labelled(options: readonly Option[], word: string): string | undefined {
  const typed = word.toLowerCase()
  const ways = [
    options.filter(({ label }) => label.toLowerCase() === typed),
    options.filter(({ label }) => label.toLowerCase().startsWith(typed)),
  ]
  const found = ways.find((way) => way.length > 0)
  return found?.length === 1 ? found[0]!.id : undefined
}
