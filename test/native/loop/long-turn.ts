import type { Entry, Event } from '../../../src/core/talk/entry.ts'
import type { Outcome } from '../../../src/core/talk/outcome.ts'
import type { Turn } from '../../../src/core/work/agent.ts'
import type { ModelMessage, ModelRequest } from '../../../src/core/work/model.ts'
import type { Tool } from '../../../src/core/work/tool.ts'
import type { ModelStep } from '../../models/scripted-model.ts'
import { HandClock } from '../../hand-clock.ts'
import { frameOf } from '../../../src/native/loop/model-messages.ts'
import { nativeAgent } from '../../../src/native/loop/native-loop.ts'
import { budget } from '../../../src/core/work/budget.ts'
import { Conversation } from '../../../src/core/work/conversation.ts'
import { leashPolicy } from '../../leash-policy.ts'
import { scriptedModel } from '../../models/scripted-model.ts'
import { memoryStore } from '../../../src/store/memory-store.ts'

export const longPrompt = 'Read every page from the first to the last, and tell me all codes in their order.'
export const typedMeanwhile = 'Close your answer with the word PINEAPPLE.'

/** Every page at this distance has a code, the first page among them. */
const codeEvery = 61
const codeOn = (page: number) => (page % codeEvery === 1 ? `CODE-${page}=${(page * 7919).toString(36)}` : '')

/** The answer that only a reader of every page can give. */
export const rightAnswer = (pages: number) =>
  [...Array(pages).keys()]
    .map((at) => codeOn(at + 1))
    .filter((code) => code !== '')
    .join(' ') + ' PINEAPPLE'

const pageReader = (pages: number): Tool => ({
  name: 'page_reader',
  description: 'Reads one page.',
  schema: { type: 'object', properties: { page: { type: 'number' } }, required: ['page'] },
  risk: 'read',
  parse: (input) => input,
  async run(input) {
    const { page } = input as { page: number }
    const last = page === pages ? ' This is the last page.' : ''
    return `Page ${page}. ${codeOn(page)}${last}\n${`line of page ${page}, `.repeat(60)}`
  },
})

const textOf = (message: ModelMessage) =>
  message.role === 'assistant' ? message.text + JSON.stringify(message.calls) : message.text

/** Every code that the request holds, in the order of their pages. */
function codesIn(messages: readonly ModelMessage[]): string {
  const found = messages.flatMap((message) => textOf(message).match(/CODE-\d+=\w+/g) ?? [])
  return [...new Set(found)].sort((a, b) => Number(/\d+/.exec(a)) - Number(/\d+/.exec(b))).join(' ')
}

const lastPage = (messages: readonly ModelMessage[]) =>
  Math.max(
    0,
    ...messages.flatMap((message) => [...textOf(message).matchAll(/Page (\d+)\./g)].map(([, at]) => Number(at))),
  )

export const asksForSummary = ({ messages }: ModelRequest) =>
  /^(The context window|Summarise)/.test(messages.at(-1)!.role === 'user' ? textOf(messages.at(-1)!) : '')

/** A model without a memory of its own: it knows what the request holds, and nothing else. */
function reader(request: ModelRequest): ModelStep[] {
  const { messages } = request
  const usage = { input: Math.ceil(JSON.stringify(request).length / 4), output: 20, source: 'reported' as const }
  const spent = { type: 'usage' as const, usage }
  if (asksForSummary(request))
    return [{ say: `Read so far: Page ${lastPage(messages)}. Codes: ${codesIn(messages)}` }, spent]
  const whole = messages.map(textOf).join('\n')
  if (!whole.includes(longPrompt)) return [{ say: 'I have lost the request.' }, spent]
  if (whole.includes('This is the last page.'))
    return [{ say: `${codesIn(messages)} ${/the word (\w+)/.exec(whole)?.[1] ?? ''}` }, spent]
  const page = lastPage(messages) + 1
  return [{ type: 'call', id: `c${page}`, tool: 'page_reader', input: { page } }, spent]
}

export type LongTurn = {
  outcome: Outcome
  requests: readonly ModelRequest[]
  events: Event[]
  /** The entries as a process that starts later reads them. */
  view: Entry[]
}

/** One turn of as many rounds as there are pages, kept in a log; `answer` replaces what the model says to a request. */
export async function longTurn(
  pages: number,
  window: number,
  o: {
    answer?(request: ModelRequest): ModelStep[] | undefined
    turn?: Partial<Pick<Turn, 'attended'>>
    history?: boolean
  } = {},
): Promise<LongTurn> {
  const model = scriptedModel([(request) => o.answer?.(request) ?? reader(request)], { window })
  const tools = [pageReader(pages)]
  const frame = frameOf('You read pages.', tools)
  const agent = nativeAgent({ name: 'native', model, tools, policy: leashPolicy, frame })
  const store = memoryStore()
  const parts = {
    log: store.log<Entry>('history'),
    blobs: store.blobs('output'),
    session: 's',
    clock: new HandClock(),
    owner: 'me',
    alive: () => true,
  }
  let steers = 0
  const world = {
    cwd: '/p',
    leash: 'read' as const,
    signal: new AbortController().signal,
    budget: budget({ steps: pages + 10 }),
    // The person types after the third step.
    steer: async () => (++steers === 3 ? [typedMeanwhile] : []),
    ...o.turn,
  }
  const events: Event[] = []
  for await (const event of new Conversation(parts).converse(agent, longPrompt, world)) events.push(event)
  const end = events.at(-1)
  if (end?.type !== 'end') throw new Error('the turn has no end')
  return { outcome: end.outcome, requests: model.requests, events, view: await new Conversation(parts).view() }
}

/** The bytes of a request, without the brackets that close it. */
export const bytesOf = ({ frame, messages }: ModelRequest) =>
  JSON.stringify([frame.system, frame.tools, messages]).slice(0, -2)

/** The part of each request that the request before it had too, from the second on; requests for a summary are left out. */
export function prefixShares(requests: readonly ModelRequest[]): number[] {
  const asked = requests.filter((request) => !asksForSummary(request)).map(bytesOf)
  return asked.slice(1).map((request, at) => {
    const before = asked[at]!
    let same = 0
    while (same < before.length && before[same] === request[same]) same++
    return same / before.length
  })
}
