import type { Clock } from '../../../base/clock.ts'
import type { Framework } from '../../../core/talk/framework.ts'
import type { SystemSpec } from '../../../core/work/system-spec.ts'
import type { RuleMatch } from './framework-rules.ts'
import type { Request } from './request-text.ts'
import { frameworkNames, frameworkUses } from '../../../core/talk/framework.ts'
import { match } from './framework-rules.ts'
import { opens, requestOf, shortened, sign } from './request-text.ts'
import { select } from './select.ts'

/** Asks an agent about an ambiguous request: it answers in words, throws, or says nothing until the signal aborts. */
export type SelectorQuestion = {
  ask(prompt: string, signal: AbortSignal): Promise<string>
  clock: Clock
  signal?: AbortSignal
  /** How long the person waits for the answer. */
  ms?: number
}

/** `by`: decided by the words of the request, by an agent that was asked, or by neither. */
export type FrameworkChoice = RuleMatch & { by: 'words' | 'agent' | 'default' }

/** Frameworks that are kept for a follow-up; the others are not worth their cost there. */
const keptForFollowUp = new Set<Framework>(['direct', 'reflect'])

/** Chooses a framework by the words of a request, otherwise by asking an agent; a follow-up costs no call. Never throws. */
export async function chooseFramework(
  request: string,
  spec: () => Promise<SystemSpec>,
  asking?: SelectorQuestion,
  followsUp = false,
): Promise<FrameworkChoice> {
  const { ambiguous, ...selected } = select(request)
  if (followsUp && !keptForFollowUp.has(selected.framework) && isFollowUp(requestOf(request)))
    return { ...match('direct', 0.8, 'a follow-up'), by: 'words' }
  if (!ambiguous) return { ...selected, by: 'words' }
  if (followsUp) return { ...match('direct', 0, 'a follow-up'), by: 'default' }
  const framework = asking && parseLabel((await askAgent(request, spec, asking)) ?? '')
  return framework ? { ...match(framework, 0.7, 'an agent was asked'), by: 'agent' } : { ...unknown, by: 'default' }
}

/** A wrong guess at any other framework costs calls and time; this one costs nothing, and every agent can still think by itself. */
const unknown = match('direct', 0, 'nothing says otherwise')

async function askAgent(
  request: string,
  spec: () => Promise<SystemSpec>,
  { ask, clock, signal, ms = 8000 }: SelectorQuestion,
): Promise<string | undefined> {
  if (signal?.aborted) return undefined
  const over = new AbortController()
  const until = signal ? AbortSignal.any([signal, over.signal]) : over.signal
  const late = clock.sleep(ms, until).then(() => undefined)
  const answer = async () => ask(labelPrompt(request, await spec()), until)
  try {
    return await Promise.race([answer(), late])
  } catch {
    return undefined
  } finally {
    over.abort()
  }
}

/** A longer request says itself what it is about. */
const longestFollowUp = 8

/** Words that stand for something that was said before; "this app" names a thing of its own, "this" alone does not. */
const refers = sign(
  'it|its|them|they|again|instead|too|as well|(do |try )?the same|another one|the (others?|rest|remaining ones)',
  'the (first|second|third|fourth|last|next|previous|former|latter|other|old|new) (one|ones|option|approach|way|idea|version)',
  '(this|that|these|those)(?= ( *[.,;:!?]| *$|(and|as|at|better|by|did|does|do|down|fail\\w*|faster|first|for|from|in|into|is|are|was|were|now|off|on|out|so|to|too|up|with|work\\w*) ))',
)
const wonders = opens(
  '(and|but|so|why|why not|how|how so|how come|really|what else|anything else|what now|what then) [.?!]',
)

/** Whether a few words only make sense after the conversation before them: they need no framework. */
const isFollowUp = ({ text, words }: Request) => words.length <= longestFollowUp && (refers(text) || wonders(text))

/** The beginning and the end of a long request say what it wants. */
const longestRequest = 2000

/** The prompt names what is installed, which decides whether a request is one step or has several ways. */
export function labelPrompt(request: string, { binaries, runtimes }: SystemSpec): string {
  const installed = [...Object.keys(runtimes), ...Object.keys(binaries)].sort()
  return [
    `Given this request: ${JSON.stringify(shortened(request, longestRequest))}`,
    'Which thinking framework is most appropriate?',
    ...frameworkNames.map((name) => `- ${name.toUpperCase()}: ${frameworkUses[name]}`),
    `Installed on this machine: ${installed.join(', ') || 'nothing that is known'}.`,
    'Do not act on the request. Answer with one of these words and nothing else.',
  ].join('\n')
}

const names = frameworkNames.join('|')

/** Reads the chosen label from an answer; undefined when no one label stands out. */
export function parseLabel(answer: string): Framework | undefined {
  const lines = answer.split('\n').map((line) => line.replace(/[^\w-]+/g, ' ').trim())
  // The last label alone on a line counts: an agent that reasons first decides at the end.
  const alone = lines.findLast((line) =>
    new RegExp(`^((the )?(answer|framework)( is)? )?(FW_)?(${names})$`, 'i').test(line),
  )
  if (alone !== undefined) return onlyLabel(alone, 'gi')
  // Labels in small letters may be ordinary words: "a script would be too direct".
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
