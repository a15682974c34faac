import type { Entry } from '../../core/talk/entry.ts'
import type { Framework } from '../../core/talk/framework.ts'
import { frameworkNames, frameworkUses } from '../../core/talk/framework.ts'
import { shortened } from './request-text.ts'

/** Only the beginning and the end of a long request are used: they usually state the wish. */
const longestRequest = 2000

/** The newest messages are enough to find the meaning of "it". */
const mostMessages = 6
const longestMessage = 400

/** The prompt that asks which framework a request needs, given the machine's capabilities and the conversation so far. */
export function labelPrompt(request: string, machine: string, history: readonly Entry[]): string {
  const before = recentMessages(history)
  return [
    ...(before.length > 0 ? ['The conversation so far:', ...before] : []),
    `Given this request: ${JSON.stringify(shortened(request, longestRequest))}`,
    'Which thinking framework is most appropriate?',
    ...frameworkNames.map((name) => `- ${name.toUpperCase()}: ${frameworkUses[name]}`),
    machine,
    'Do not act on the request. A request that one agent can simply do is DIRECT; the others cost more calls and time. Answer with one of these words and nothing else.',
  ].join('\n')
}

function recentMessages(history: readonly Entry[]): string[] {
  const said = history.flatMap((entry) => {
    if (entry.type === 'prompt') return [`person: ${line(entry.text)}`]
    return entry.type === 'reply' ? [`${entry.by}: ${line(entry.text)}`] : []
  })
  return said.slice(-mostMessages)
}

const line = (text: string) => JSON.stringify(shortened(text.trim(), longestMessage))

const names = frameworkNames.join('|')

/** Parses the chosen label from an answer; undefined if the answer does not single out one label. */
export function parseLabel(answer: string): Framework | undefined {
  const lines = answer.split('\n').map((line) => line.replace(/[^\w-]+/g, ' ').trim())
  // The last label alone on a line counts: an agent that reasons first decides at the end.
  const alone = lines.findLast((line) =>
    new RegExp(`^((the )?(answer|framework)( is)? )?(FW_)?(${names})$`, 'i').test(line),
  )
  if (alone !== undefined) return onlyLabel(alone, 'gi')
  // Labels in small letters may be ordinary words, as in "a script would be too direct".
  return (
    onlyLabel(
      answer.replaceAll(/\b(?:fw_)?\w+\b/g, (word) => (word === word.toUpperCase() ? word : ' ')),
      'gi',
    ) ?? onlyLabel(answer, 'gi')
  )
}

function onlyLabel(text: string, flags: string): Framework | undefined {
  const labelled = [...text.matchAll(new RegExp(`(?<![a-z])(?:FW_)?(${names})(?![a-z])`, flags))]
  const distinct = new Set(labelled.map((one) => one[1]!.toLowerCase() as Framework))
  return distinct.size === 1 ? [...distinct][0] : undefined
}
