import type { Entry, EntryOf, Event } from '../../../core/talk/entry.ts'
import type { Failure } from '../../../core/talk/outcome.ts'
import type { Block, CallBlock, NewBlock, GroupBlock, SpeechBlock } from './block.ts'
import type { Question } from '../../../core/talk/question.ts'
import { isOwnQuestion, isAgentSpeech } from './block.ts'
import { authorOf, fileChangesOf, isAgentEvent } from './event-facts.ts'

/** Where an event belongs, and when it was. `mint` gives the next key. */
export type EventPlace = { turn: string; at: number; mint(): number }

type Blocks = readonly Block[]

/** More than this of one text is not held for the screen: the log has it. */
const longest = 200_000
const longestOutput = 20_000

/** The blocks after one more event. Only the blocks that it touches are other ones. */
export function foldEvent(blocks: Blocks, event: Event, place: EventPlace): Blocks {
  if (isKnown(blocks, event)) return blocks
  const add = (block: NewBlock): Blocks => append(blocks, block, event, place)
  switch (event.type) {
    case 'prompt':
      return blocks.some((block) => block.type === 'prompt' && block.turn === place.turn)
        ? blocks
        : add({ type: 'prompt', text: held(event.text).text })
    case 'steer':
    case 'note':
    case 'summary':
      return add({ type: event.type, text: held(event.text).text })
    case 'text':
    case 'thought':
      return grown(blocks, event.type === 'text' ? 'reply' : 'thought', event.delta, event, place)
    case 'reply': {
      const { rest, at } = placeReply(blocks, event.text, event.by, place.turn)
      const reply: NewBlock = { type: 'reply', live: false, ...held(event.text) }
      if (at === undefined) return append(rest, reply, event, place)
      return replaced(rest, at, { ...placed(reply, event, place), key: rest[at]!.key })
    }
    case 'call':
      return called(blocks, event, place)
    case 'progress':
      return changed(blocks, isCall(event.call), (call) => ({
        ...(call as CallBlock),
        output: ((call as CallBlock).output + event.delta).slice(-longestOutput),
      }))
    case 'result':
      return changed(blocks, isCall(event.call), (call) => withResult(call as CallBlock, event, place.at))
    case 'attempt': {
      const { rest, said } = withoutSpeech(blocks, place.turn, ({ live, by }) => live || by === event.by)
      const words = said || (event.did?.lastWords ?? '')
      return append(rest, { type: 'attempt', failure: event.failure, ms: event.ms, said: words }, event, place)
    }
    case 'question': {
      const by = askerOf(blocks, event.question, place.turn) ?? event.by
      const asked: NewBlock = { type: 'question', ask: event.ask, question: event.question, state: 'open', picks: [] }
      return add(by === undefined ? asked : { ...asked, by })
    }
    case 'answer':
      return changed(
        blocks,
        (block) => block.type === 'question' && block.ask === event.ask && block.state === 'open',
        (block) => ({ ...block, state: event.picks ? 'answered' : 'unanswered', picks: event.picks ?? [] }) as Block,
      )
    case 'plan':
      return planned(blocks, event, place)
    case 'inner':
      return grouped(blocks, event, place)
    case 'end':
      return ended(blocks, event, place)
    default:
      return blocks
  }
}

/** A turn that is followed begins with what is kept of it, which may be here already. */
function isKnown(blocks: Blocks, event: Event): boolean {
  const { id } = event as Partial<Entry>
  return id !== undefined && event.type !== 'end' && blocks.some((block) => block.entry === id)
}

function placed(block: NewBlock, event: Event, place: EventPlace): Block {
  const { id } = event as Partial<Entry>
  return {
    key: place.mint(),
    turn: place.turn,
    ...(event.by === undefined ? {} : { by: event.by }),
    ...(id === undefined ? {} : { entry: id }),
    ...block,
  } as Block
}

function append(blocks: Blocks, block: NewBlock, event: Event, place: EventPlace): Blocks {
  return [...handedOver(blocks, event, place.turn), placed(block, event, place)]
}

/** Whoever speaks first after a failed try is the one it went to. */
function handedOver(blocks: Blocks, event: Event, turn: string): Blocks {
  if (!isAgentEvent(event)) return blocks
  const at = blocks.findLastIndex((block) => block.turn === turn && block.type === 'attempt')
  const tried = blocks[at]
  return tried?.type === 'attempt' && tried.next === undefined
    ? replaced(blocks, at, { ...tried, next: event.by! })
    : blocks
}

function replaced(blocks: Blocks, at: number, block: Block): Blocks {
  const copy = blocks.slice()
  copy[at] = block
  return copy
}

function changed(blocks: Blocks, which: (block: Block) => boolean, change: (block: Block) => Block): Blocks {
  const at = blocks.findLastIndex(which)
  return at < 0 ? blocks : replaced(blocks, at, change(blocks[at]!))
}

const isCall = (call: string) => (block: Block) => block.type === 'call' && block.call === call

/** As much of a text as is held, and how many characters are not. */
function held(text: string): { text: string; more?: number } {
  return text.length <= longest ? { text } : { text: text.slice(0, longest), more: text.length - longest }
}

function grown(blocks: Blocks, type: SpeechBlock['type'], delta: string, event: Event, place: EventPlace): Blocks {
  if (delta === '') return blocks
  const at = blocks.findLastIndex((block) => block.turn === place.turn)
  const last = blocks[at]
  if (last?.type !== type || !last.live || last.by !== event.by)
    return append(blocks, { type, live: true, ...held(delta) }, event, place)
  const room = longest - last.text.length
  if (delta.length <= room) return replaced(blocks, at, { ...last, text: last.text + delta })
  return replaced(blocks, at, {
    ...last,
    text: last.text + delta.slice(0, room),
    more: (last.more ?? 0) + delta.length - room,
  })
}

function called(blocks: Blocks, event: Extract<Event, { type: 'call' }>, place: EventPlace): Blocks {
  const { call, tool, input } = event
  const at = blocks.findLastIndex(isCall(call))
  const known = blocks[at]
  if (known?.type === 'call') return replaced(blocks, at, { ...known, tool, input })
  const begun: NewBlock = {
    type: 'call',
    call,
    tool,
    input,
    state: 'running',
    since: place.at,
    output: '',
    changes: [],
  }
  // What is asked about a call may be heard before the call itself, and stands below it all the same.
  const asked = (block: Block) => block.type === 'question' && block.state === 'open' && isOwnQuestion(block)
  const to = blocks.findLastIndex((block) => !asked(block)) + 1
  return [...append(blocks.slice(0, to), begun, event, place), ...blocks.slice(to)]
}

/** A call with what came of it. */
export function withResult(
  call: CallBlock,
  result: Pick<EntryOf<'result'>, 'ok' | 'text' | 'data'>,
  at: number,
): CallBlock {
  return {
    ...call,
    state: result.ok && exitedWell(result.data) ? 'ok' : 'failed',
    ms: Math.max(0, at - call.since),
    output: held(result.text).text,
    changes: fileChangesOf(result.data),
  }
}

/** A command that ran and failed did not go well, although its tool did. */
function exitedWell(data: unknown): boolean {
  const exit = typeof data === 'object' && data !== null && 'exit' in data ? data.exit : 0
  return exit === 0
}

/** One plan a turn, where it was last spoken of. */
function planned(blocks: Blocks, event: Extract<Event, { type: 'plan' }>, place: EventPlace): Blocks {
  const mine = (block: Block) => block.type === 'plan' && block.turn === place.turn && block.by === event.by
  if (blocks.some(mine)) return changed(blocks, mine, (plan) => ({ ...plan, items: event.items }) as Block)
  return append(blocks, { type: 'plan', items: event.items }, event, place)
}

/** Whoever is asked again after its end begins anew. */
function grouped(blocks: Blocks, { role, event }: Extract<Event, { type: 'inner' }>, place: EventPlace): Blocks {
  const open = (block: Block) =>
    block.type === 'group' && block.turn === place.turn && block.role === role && block.state === 'running'
  const at = blocks.findLastIndex(open)
  const known = blocks[at]
  const group: GroupBlock =
    known?.type === 'group'
      ? known
      : { type: 'group', key: place.mint(), turn: place.turn, role, state: 'running', since: place.at, blocks: [] }
  const more = heard(group, event, place)
  return known ? replaced(blocks, at, more) : [...blocks, more]
}

function heard(group: GroupBlock, event: Event, place: EventPlace): GroupBlock {
  const blocks = foldEvent(group.blocks, event, place)
  const by = authorOf(event) ?? group.by
  if (event.type !== 'end') return { ...group, ...(by === undefined ? {} : { by }), blocks }
  const { outcome } = event
  const state = outcome.ok ? 'ok' : outcome.failure.kind === 'aborted' ? 'stopped' : 'failed'
  return { ...group, state, ms: Math.max(0, place.at - group.since), blocks }
}

function ended(blocks: Blocks, event: Extract<Event, { type: 'end' }>, place: EventPlace): Blocks {
  const { outcome } = event
  const rested = (all: Blocks) => all.map((block) => (block.turn === place.turn ? atRest(block) : block))
  if (outcome.ok) {
    const settled = rested(blocks)
    const has = (type: Block['type']) => settled.some((block) => block.turn === place.turn && block.type === type)
    // Without its prompt only the end of the turn was read, and the reply is further up.
    if (!has('prompt') || has('reply') || outcome.text === '') return settled
    return append(settled, { type: 'reply', live: false, ...held(outcome.text) }, event, place)
  }
  const waits = chosenWait(blocks, outcome.failure, place.turn)
  if (waits) return append(rested(blocks), waits, event, place)
  // What was streamed and never kept is no answer: it goes into the failure.
  const { rest, said } = withoutSpeech(blocks, place.turn, ({ live }) => live)
  const failure = { ...outcome.failure, message: untold(outcome.failure.message, rest, place.turn) }
  return append(rested(rest), { type: 'error', failure, said: outcome.unkept?.text ?? said }, event, place)
}

/** Whom the person chose to wait for, on the card that said whose quota is spent. */
function chosenWait(blocks: Blocks, { kind, retryAt }: Failure, turn: string): NewBlock | undefined {
  if (kind !== 'quota' && kind !== 'busy') return undefined
  const asked = blocks.findLast((block) => block.turn === turn && block.type === 'question')
  if (asked?.type !== 'question' || asked.question.about !== 'quota' || !asked.picks.includes('wait')) return undefined
  const agent = asked.question.agent ?? asked.by ?? 'an agent'
  return { type: 'waits', agent, ...(retryAt === undefined ? {} : { until: retryAt }) }
}

/** Each failed try stands above in a line of its own: a message that strings them together adds nothing. */
function untold(message: string, blocks: Blocks, turn: string): string {
  const tries = blocks.flatMap((block) => {
    if (block.type !== 'attempt' || block.turn !== turn) return []
    return [`${block.by ?? ''}: ${block.failure.kind}: ${block.failure.message}`]
  })
  const end = `: ${tries.join('; ')}`
  return tries.length > 0 && message.endsWith(end) ? message.slice(0, -end.length) : message
}

/** A block of a turn that is over: nothing in it moves any more. */
function atRest(block: Block): Block {
  switch (block.type) {
    case 'reply':
    case 'thought':
      return block.live ? { ...block, live: false } : block
    case 'call':
      return block.state === 'running' ? { ...block, state: 'stopped' } : block
    case 'question':
      return block.state === 'open' ? { ...block, state: 'unanswered' } : block
    case 'group':
      return block.state === 'running' ? { ...block, state: 'stopped', blocks: block.blocks.map(atRest) } : block
    default:
      return block
  }
}

/** Whose question it is: kept ones are signed by whoever keeps them. */
export function askerOf(blocks: readonly Block[], { agent }: Question, turn: string): string | undefined {
  return agent ?? blocks.findLast((block) => block.turn === turn && isAgentSpeech(block))?.by
}

/**
 * Where a kept reply belongs among what was streamed: `at` is the live text that it replaces.
 * What it holds as well goes, so that nothing is said twice.
 */
export function placeReply(
  blocks: readonly Block[],
  text: string,
  by: string | undefined,
  turn: string,
): { rest: readonly Block[]; at?: number } {
  const mine = (block: Block): block is SpeechBlock =>
    block.type === 'reply' && block.live && block.turn === turn && block.by === by
  const last = blocks.findLastIndex(mine)
  if (last < 0) return { rest: blocks }
  const acted = blocks.findLastIndex((block) => block.turn === turn && block.type === 'call')
  const stays = (block: Block, at: number) =>
    !mine(block) || (at === last && acted < last) || !text.includes(block.text.trim())
  const rest = blocks.filter(stays)
  return acted < last ? { rest, at: rest.indexOf(blocks[last]!) } : { rest }
}

/** The blocks without what was said since the last failed try of a turn, as far as it is of `what`, and that. */
export function withoutSpeech(
  blocks: readonly Block[],
  turn: string,
  what: (speech: SpeechBlock) => boolean,
): { rest: readonly Block[]; said: string } {
  const from = blocks.findLastIndex((block) => block.turn === turn && block.type === 'attempt')
  const goes = (block: Block, at: number) =>
    at > from && block.turn === turn && (block.type === 'reply' || block.type === 'thought') && what(block)
  const said = blocks.flatMap((block, at) => (goes(block, at) && block.type === 'reply' ? [block.text] : []))
  return { rest: blocks.filter((block, at) => !goes(block, at)), said: said.join('\n\n') }
}
