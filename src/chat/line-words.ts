import { toolDeed, toolWords } from '../core/data/tool-words.ts'
import { remarkOf } from '../core/talk/notice.ts'
import type { Entry, Event } from '../core/talk/entry.ts'
import type { Command } from '../core/talk/command.ts'
import type { Failure } from '../core/talk/outcome.ts'
import type { Question } from '../core/talk/question.ts'
import type { Closing, Standing } from './desk/chat-desk.ts'
import { summaryWords } from '../core/talk/compaction.ts'
import { roleLabel } from '../core/talk/framework.ts'
import { cutWords } from '../core/talk/shown-words.ts'
import { localTime } from '../base/time/local-time.ts'
import { escapeOf, optionKeys, orderWords } from '../core/talk/consent.ts'
import { questionText, readableText } from '../questions/question-text.ts'
import { isPersonCommand } from '../core/talk/entry.ts'
import { toldWords } from './transcript/blocks/command-output-lines.ts'
import { commandUsage, findCommands } from './desk/command-search.ts'
import { duration, lineCounts, retryWords, thoughtWords, tokens } from './style/numbers.ts'
import { inputSummary } from './transcript/call-input.ts'

/** The text for an event of a turn; undefined for an event that is not printed. */
export function eventWords(event: Event, now: number): string | undefined {
  switch (event.type) {
    case 'reply':
      return `${event.by ?? 'agent'} says:\n${event.text}`
    case 'words':
      // Only an answer and the rest of an answer that was cut off are printed.
      if (event.from || !event.cut) return undefined
      return `${event.by ?? 'agent'} says (${cutWords[event.cut]}):\n${event.text}`
    case 'summary':
      return `${summaryWords(event)}.`
    case 'phase':
      return `${event.framework}: ${event.words}`
    case 'inner':
      return innerWords(event)
    case 'waiting':
      return event.until === undefined ? undefined : retryWords(event, now)
    case 'attempt':
      return `${event.by ?? 'agent'} failed: ${event.failure.message}`
    case 'result':
      return isPersonCommand(event) ? `${event.text || 'The command printed nothing.'}\n${toldWords}` : undefined
    case 'call':
      if (isPersonCommand(event)) return undefined
      return [
        `${event.by ?? 'agent'} ${toolDeed(event.tool) ?? `uses ${toolWords(event.tool)}`}`,
        inputSummary(event.input),
      ]
        .filter((part) => part !== '')
        .join(': ')
    case 'end': {
      if (event.outcome.ok) return undefined
      const { failure, unkept } = event.outcome
      const words = endWords(failure)
      return unkept ? `${words}\n${unkept.text}` : words
    }
    default:
      return remarkOf(event)
  }
}

/** The end of an agent that works inside the turn; its steps are not printed. */
function innerWords({ role, event }: Extract<Event, { type: 'inner' }>): string | undefined {
  if (event.type !== 'end') return undefined
  const { outcome, status } = event
  const who = roleLabel(role)
  if (status === 'partial') return `${who} has done a part of its task.`
  if (outcome.ok && status !== 'failed') return `${who} is done.`
  return outcome.ok ? `${who} could not do its task.` : `${who} stopped: ${outcome.failure.message}`
}

function endWords({ kind, message }: Failure): string {
  if (kind === 'unfinished') return `The turn was ${message}. Nothing is lost: send "go on" to continue.`
  return `${kind === 'aborted' ? 'Cancelled' : 'The turn failed'}: ${message}`
}

export async function questionWords(question: Question, by?: string): Promise<string> {
  const { secret, agent } = question
  const how = [
    answerWay(question),
    // The terminal itself shows the typed text.
    `Enter alone: ${readableText(escapeOf(question).says)}.${secret ? ' What you type is visible here.' : ''}`,
  ]
  return `${agent ?? by ?? 'termaite'} asks:\n${await questionText(question)}\n${how.join('. ')}`
}

function answerWay({ options, multiple, ordered, free }: Question): string {
  if (options.length === 0) return 'Answer in your own words'
  const numbers = `${multiple ? 'numbers' : 'a number'}${ordered ? ` ${orderWords(optionKeys(options))}` : ''}`
  return `Answer with ${numbers}${free ? ', or in your own words' : ''}`
}

export function answerWords(question: Question, picks: readonly string[] | undefined): string {
  const labels = picks?.map((pick) => question.options.find(({ id }) => id === pick)?.label ?? pick)
  return labels === undefined ? 'The question was not answered.' : `The answer was: ${labels.join(', ')}`
}

export function closingWords({ by, why, ms, thought, changed, tokens: used, source = 'estimated' }: Closing): string {
  const parts = [
    `Done${by === undefined ? '' : ` by ${by}${why === undefined ? '' : ` (${why})`}`} in ${duration(ms)}`,
    ...(thought ? [`thinking: ${thoughtWords(thought).join(' with ')}`] : []),
    ...(changed ? [`${changed.files} ${changed.files === 1 ? 'file' : 'files'} changed ${lineCounts(changed)}`] : []),
    ...(used === undefined ? [] : [tokens(used, source)]),
  ]
  return `${parts.join(', ')}.`
}

/** The last answer of a conversation that is continued. */
export function openedWords(entries: readonly Entry[]): string {
  const last = entries.findLast((entry) => entry.type === 'reply')
  if (entries.length === 0) return 'A new conversation. Type a request, or /help.'
  return last?.type === 'reply' ? `The last answer, by ${last.by}:\n${last.text}` : 'There is no answer yet.'
}

export function waitingWords(now: Standing['waiting']): string {
  if (!now) return 'No request is waiting any more.'
  return `The request waits for ${now.agent} until ${localTime(now.until)} and is sent then; Ctrl+C cancels it.`
}

/** The commands that the palette would show. */
export function commandWords(commands: readonly Command[], typed: string): string {
  const found = findCommands(commands, typed)
  if (found.length === 0) return `No command matches /${typed}; /help lists them all.`
  return found.map((command) => `${commandUsage(command)}: ${command.help}`).join('\n')
}

/** The keys of the plain chat, which are those of the line editor below it. */
export const lineKeys = [
  'Enter sends the line, or answers the question.',
  'Tab completes a command after /.',
  'Up and Down recall earlier lines.',
  'Ctrl+C clears the line, then cancels the turn or command; twice within 2 s leaves termaite.',
  'Ctrl+D leaves when the line is empty.',
  'Ctrl+Z suspends termaite; fg in the shell brings it back.',
  'A line that begins with ! runs in your shell; the next agent sees its output.',
  'A line that begins with # is a note for AGENTS.md; you see the change first.',
].join('\n')

/** A text without code fences, which a screen reader would read aloud. */
export function unfenced(text: string): string {
  return text.replaceAll(/^(?:`{3,}|~{3,})[\w-]*\n?/gm, '').trimEnd()
}
