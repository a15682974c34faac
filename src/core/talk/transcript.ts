import type { Attempt, Cut, Entry, EntryOf } from './entry.ts'
import type { Failure } from './outcome.ts'
import { isPersonCommand } from './entry.ts'

/**
 * A turn as one text, for an agent that reads a pipe. The text only grows at its end from turn to turn, so that the provider's cache of
 * its beginning stays valid; instructions come after the messages.
 */
type TranscriptRequest = {
  agent: string
  prompt: string
  history: readonly Entry[]
  attempts: readonly (Attempt & { by: string })[]
  /** Text that was typed during the failed attempts. */
  steered: readonly string[]
  metaInstruction?: string
}

/**
 * The instruction after every prompt. It is short, because every prompt pays for it; a format that the person asked for takes precedence.
 */
export const metaInstruction =
  'Format permitting, finally summarize actions and conclusions, comprehensively in proportion to work.'

export function promptText(asked: TranscriptRequest): string {
  const parts = [
    ...asked.history.map(entryText),
    message('user', asked.prompt),
    ...asked.steered.map((text) => message('user', text)),
    ...asked.attempts.map((a) => attempt(a)),
  ].filter((part) => part !== '')
  const tail = [
    parts.length > 1
      ? `The messages above are one conversation between a user and several agents in this project; you are ${asked.agent}. ${whatToAnswer(asked)}`
      : '',
    asked.attempts.length > 0 ? triedBefore(asked) : '',
    asked.metaInstruction ?? '',
  ].filter((part) => part !== '')
  return [...parts, ...(tail.length ? ['', tail.join('\n')] : [])].join('\n') + '\n'
}

/** A prompt without one of its paragraphs, for an agent that gets the paragraph in another way. */
export const withoutPart = (prompt: string, part: string | undefined): string =>
  part ? prompt.replace(`\n\n${part}`, () => '') : prompt

function whatToAnswer({ steered }: TranscriptRequest): string {
  if (steered.length === 0) return 'Answer the last message from the user.'
  return `Answer the last ${steered.length + 1} messages from the user: they are one request, and the later ones were typed while it was worked on.`
}

function triedBefore({ agent, attempts }: TranscriptRequest): string {
  const own = attempts.every(({ by }) => by === agent)
  const [who, did] = own
    ? ['You tried the last message before', 'you']
    : ['Another agent tried the last message before you', 'it']
  return `${who} and failed. Changes that ${did} made are still in place: check what is already done before you do it again.`
}

/** Returns one entry in the form for an agent; entries that only termaite needs (usage, threads, ends) are ''. */
export function entryText(entry: Entry): string {
  switch (entry.type) {
    case 'prompt':
    case 'steer':
      return message('user', entry.text)
    case 'reply':
      return message(entry.by, entry.text)
    case 'words':
      return entry.from || !entry.cut ? '' : wordsText(entry, entry.cut)
    case 'summary':
      return tag(
        'summary',
        entry.step === undefined ? '' : ` of="the first ${entry.step} steps of the work on the request above"`,
        entry.text,
      )
    case 'attempt':
      return attempt(entry)
    case 'call':
      return tag(
        'call',
        ` by="${attribute(entry.by)}" tool="${attribute(entry.tool)}"`,
        bounded(inputText(entry.input), 600),
      )
    case 'result':
      if (isPersonCommand(entry)) return tag('result', ' by="user"', withEnds(entry.text))
      return tag('result', entry.ok ? '' : ' failed="true"', bounded(entry.text, 600))
    case 'changes':
      return tag('note', '', entry.text)
    case 'end':
      return entry.outcome.ok ? '' : tag('note', '', endWords(entry.outcome.failure))
    default:
      return ''
  }
}

/** The end of a turn without an answer, as text for the agent of the next turn. */
function endWords({ kind, message }: Failure): string {
  if (kind !== 'unfinished') return `This turn ended without an answer: ${message}`
  return `This turn was ${message}. What it did by then is still in place: look at it before you do more.`
}

/** Tells an agent how another agent's words were cut off. */
const ending: Record<Cut, string> = {
  person: 'by the user',
  limit: 'by a limit',
  crash: 'by a crash',
  failure: 'by a failure',
}

/** How much of a text that is not an answer an agent gets: its beginning, and its end. */
const longestWords = { head: 2_000, tail: 6_000 }

function wordsText({ by, text }: EntryOf<'words'>, cut: Cut): string {
  const { head, tail } = longestWords
  const left = text.length - head - tail
  const told = left <= 0 ? text : `${text.slice(0, head)}[… ${left} characters left out …]${text.slice(-tail)}`
  return tag('message', ` from="${attribute(by)}" cut_off="${ending[cut]}"`, told)
}

function attempt(tried: Attempt & { by: string }): string {
  const did = tried.did
  const lines = [
    `${tried.failure.kind}: ${tried.failure.message}`,
    did?.calls.length ? `tool calls: ${did.calls.join('; ')}` : '',
    did?.files.length ? `files changed: ${did.files.join(', ')}` : '',
    did?.lastWords ? `last words: ${did.lastWords}` : '',
  ]
  return tag('attempt', ` by="${attribute(tried.by)}"`, lines.filter((line) => line !== '').join('\n'))
}

function message(from: string, text: string): string {
  return tag('message', ` from="${attribute(from)}"`, text)
}

/**
 * Puts a body into a tag. The body can neither close its own tag nor open a message, so that no agent can speak in another's name. Only
 * these tags are escaped: the `<summary>` of an HTML page stays unchanged.
 */
export function tag(name: string, attributes: string, body: string): string {
  const forged = new RegExp(`<(?=\\s*/\\s*${name}\\b|\\s*message\\s+from\\b)`, 'gi')
  return `<${name}${attributes}>\n${body.replaceAll(forged, '<\\')}\n</${name}>`
}

export const attribute = (value: string) => value.replaceAll(/["<>\n]/g, '_')

function inputText(input: unknown): string {
  return typeof input === 'string' ? input : (JSON.stringify(input) ?? '')
}

/** How much of the output of a person's own command an agent gets: its beginning, and more of its end. */
const [headTold, tailTold] = [2000, 6000]

function withEnds(text: string): string {
  const cut = text.length - headTold - tailTold
  return cut <= 0 ? text : `${text.slice(0, headTold)}[… ${cut} characters left out …]${text.slice(-tailTold)}`
}

function bounded(text: string, limit: number): string {
  return text.length <= limit ? text : `${text.slice(0, limit)}[… ${text.length - limit} characters more]`
}
