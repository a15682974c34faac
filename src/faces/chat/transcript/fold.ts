import { reportWords } from '../../../core/talk/notice.ts'
import type { Entry, EntryOf, Event } from '../../../core/talk/entry.ts'
import type { Failure } from '../../../core/talk/outcome.ts'
import type { Question } from '../../../core/talk/question.ts'
import type { Block, CallBlock, NewBlock, SpeechBlock } from './block.ts'
import { defined } from '../../../base/defined.ts'
import { thumbNote } from '../../../core/talk/judgement.ts'
import { summaryWords } from '../../../core/talk/compaction.ts'
import { isAtWork, restingRows, rowsIn, withInner, withRowState } from './agent-rows.ts'
import { isAgentSpeech, isOwnQuestion } from './block.ts'
import { fileChangesOf, isAgentEvent } from './event-facts.ts'
import { openFence } from './markdown/markdown-parts.ts'
import { mostShown } from './screen-text.ts'
import { failureSentence } from '../../../core/talk/outcome.ts'

/** The turn and the time of an event; `mint` gives the next key of a block. */
type EventPlace = { turn: string; at: number; mint(): number }

type Blocks = readonly Block[]

/** Characters of one text that are held for the screen; the log has the whole. */
const longest = 200_000
const longestOutput = 20_000

/** The blocks after one more event; blocks that the event does not touch stay the same objects. */
export function foldEvent(blocks: Blocks, event: Event, place: EventPlace): Blocks {
  if (isKnown(blocks, event)) return blocks
  const add = (block: NewBlock): Blocks => append(blocks, block, event, place)
  switch (event.type) {
    case 'prompt':
      return withPrompt(blocks, event, place)
    case 'steer':
    case 'note':
      return add({ type: event.type, text: held(event.text).text })
    case 'notification':
      return add({ type: 'note', text: held(reportWords(event)).text })
    case 'judgement':
      // Only the person's own judgement was said on the screen.
      return event.source === 'person' ? add({ type: 'note', text: thumbNote(event) }) : blocks
    case 'summary':
      return add({ type: 'summary', title: summaryWords(event), text: held(event.text).text })
    case 'text':
    case 'thought':
      return grown(blocks, event.type === 'text' ? 'reply' : 'thought', event.delta, event, place)
    case 'reply': {
      const { rest, at } = placeReply(blocks, event.text, event.by, place.turn)
      const reply: NewBlock = { type: 'reply', live: false, ...held(event.text) }
      if (at === undefined) return append(rest, reply, event, place)
      return replaced(rest, at, { ...placed(reply, event, place), key: rest[at]!.key })
    }
    case 'words':
      return event.from ? consultedWords(blocks, event, place) : withWords(blocks, event, place)
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
      const all = add(by === undefined ? asked : { ...asked, by })
      const [role] = event.question.from
      return role === undefined ? all : withRowState(all, place.turn, role, 'working', 'asking')
    }
    case 'answer':
      return answered(blocks, event, place)
    case 'plan':
      return withPlan(blocks, event, place)
    case 'inner':
      return withInner(blocks, event, place, foldEvent)
    case 'end':
      return ended(blocks, event, place)
    default:
      return blocks
  }
}

/** The blocks with the prompt of a turn, which has only one: the kept one takes the place of the one that was only sent. */
function withPrompt(blocks: Blocks, event: Extract<Event, { type: 'prompt' }>, place: EventPlace): Blocks {
  const prompt: NewBlock = { type: 'prompt', text: held(event.text).text }
  const at = blocks.findIndex((block) => block.type === 'prompt' && block.turn === place.turn)
  const known = blocks[at]
  if (!known) return append(blocks, prompt, event, place)
  return known.entry === undefined ? replaced(blocks, at, { ...placed(prompt, event, place), key: known.key }) : blocks
}

/** Whether the blocks have this entry: a turn that is followed repeats its kept entries at first. */
function isKnown(blocks: Blocks, event: Event): boolean {
  const { id } = event as Partial<Entry>
  return id !== undefined && event.type !== 'end' && blocks.some((block) => block.entry === id)
}

function placed(block: NewBlock, event: Event, place: EventPlace): Block {
  const { id } = event as Partial<Entry>
  return {
    key: place.mint(),
    turn: place.turn,
    ...defined({ by: event.by, entry: id }),
    ...block,
  }
}

function append(blocks: Blocks, block: NewBlock, event: Event, place: EventPlace): Blocks {
  return [...withSuccessor(blocks, event, place.turn), placed(block, event, place)]
}

/** Names the agent that took over on the failed attempt before it: the first that speaks after it. */
function withSuccessor(blocks: Blocks, event: Event, turn: string): Blocks {
  const { by } = event
  if (by === undefined || !isAgentEvent(event)) return blocks
  const at = blocks.findLastIndex((block) => block.turn === turn && block.type === 'attempt')
  const tried = blocks[at]
  return tried?.type === 'attempt' && tried.next === undefined ? replaced(blocks, at, { ...tried, next: by }) : blocks
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

/** The held part of a text, and how many characters are left out. */
function held(text: string): { text: string; more?: number } {
  return text.length <= longest ? { text } : { text: text.slice(0, longest), more: text.length - longest }
}

function grown(blocks: Blocks, type: SpeechBlock['type'], delta: string, event: Event, place: EventPlace): Blocks {
  if (delta === '') return blocks
  const at = blocks.findLastIndex((block) => block.turn === place.turn)
  const last = blocks[at]
  if (last?.type !== type || !last.live || last.by !== event.by)
    return append(blocks, { type, live: true, ...tailOf(delta) }, event, place)
  return replaced(blocks, at, { ...last, ...tailOf(last.text + delta, last.dropped) })
}

/**
 * The end of a text that grows, from the beginning of a line on, and how many characters before it were dropped. Much is
 * dropped at once, because everything that is left is laid out again. Code stays code: its fence is put before it again.
 */
function tailOf(text: string, dropped = 0): { text: string; dropped?: number } {
  if (text.length <= mostShown) return dropped > 0 ? { text, dropped } : { text }
  const least = text.length - mostShown * 0.75
  const line = text.indexOf('\n', least) + 1
  const from = line > 0 && line < least + longestLine ? line : /[\udc00-\udfff]/.test(text[least]!) ? least + 1 : least
  const fence = openFence(text.slice(0, from))
  const tail = text.slice(from)
  return { text: fence === undefined ? tail : `${fence}\n${tail}`, dropped: dropped + from }
}

const longestLine = 4000

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
  // The question about a call may come before the call itself, and stands below it all the same.
  const asked = (block: Block) => block.type === 'question' && block.state === 'open' && isOwnQuestion(block)
  const to = blocks.findLastIndex((block) => !asked(block)) + 1
  return [...append(blocks.slice(0, to), begun, event, place), ...blocks.slice(to)]
}

/** A call with its result. */
export function withResult(
  call: CallBlock,
  result: Pick<EntryOf<'result'>, 'ok' | 'text' | 'data'>,
  at: number,
): CallBlock {
  return {
    ...call,
    state: result.ok && (exitOf(result.data) ?? 0) === 0 ? 'ok' : 'failed',
    ...defined({ exit: exitOf(result.data), errors: errorsOf(result.data) }),
    ms: Math.max(0, at - call.since),
    output: held(result.text).text,
    changes: fileChangesOf(result.data),
  }
}

/** The exit code of a command, or the signal that ended it: one that ran and failed is a failure, although its tool succeeded. */
function exitOf(data: unknown): number | string | undefined {
  const exit = typeof data === 'object' && data !== null && 'exit' in data ? data.exit : undefined
  return typeof exit === 'number' || typeof exit === 'string' ? exit : undefined
}

/** The number of errors that a language server reported after the call. */
function errorsOf(data: unknown): number | undefined {
  const errors = typeof data === 'object' && data !== null && 'errors' in data ? data.errors : undefined
  return typeof errors === 'number' ? errors : undefined
}

/** Replaces the plan of the turn, which has only one. */
function withPlan(blocks: Blocks, event: Extract<Event, { type: 'plan' }>, place: EventPlace): Blocks {
  const mine = (block: Block) => block.type === 'plan' && block.turn === place.turn && block.by === event.by
  if (blocks.some(mine)) return changed(blocks, mine, (plan) => ({ ...plan, items: event.items }) as Block)
  return append(blocks, { type: 'plan', items: event.items }, event, place)
}

/**
 * The blocks after words that no reply holds: the text that was streamed is theirs and stays where it is; in a conversation that
 * was opened again it is added.
 */
function withWords(blocks: Blocks, event: Extract<Event, { type: 'words' }>, place: EventPlace): Blocks {
  const streamed = (block: Block): block is SpeechBlock =>
    block.type === 'reply' && block.entry === undefined && block.turn === place.turn && block.by === event.by
  if (event.call !== undefined) return withAside(blocks, event, place, streamed)
  const last = blocks.findLastIndex(streamed)
  const cut = defined({ cut: event.cut })
  if (last < 0) return append(blocks, { type: 'reply', live: false, ...held(event.text), ...cut }, event, place)
  const entry = defined({ entry: (event as Partial<Entry>).id })
  return blocks.map((block, at) =>
    streamed(block) ? { ...block, live: false, ...entry, ...(at === last ? cut : {}) } : block,
  )
}

/** The blocks with words that stand before a call. */
function withAside(
  blocks: Blocks,
  event: Extract<Event, { type: 'words' }>,
  place: EventPlace,
  streamed: (block: Block) => block is SpeechBlock,
): Blocks {
  const words = placed({ type: 'reply', live: false, ...held(event.text) }, event, place)
  const shown = blocks.findIndex((block) => streamed(block) && block.text.trim() === event.text)
  if (shown >= 0) return replaced(blocks, shown, { ...words, key: blocks[shown]!.key })
  const call = blocks.findIndex(isCall(event.call!))
  return call < 0 ? [...blocks, words] : [...blocks.slice(0, call), words, ...blocks.slice(call)]
}

/** The blocks after an answer; the agent inside the turn that asked, if one did, goes on. */
function answered(blocks: Blocks, { ask, picks }: Extract<Event, { type: 'answer' }>, { turn }: EventPlace): Blocks {
  const at = blocks.findLastIndex((block) => block.type === 'question' && block.ask === ask && block.state === 'open')
  const asked = blocks[at]
  if (asked?.type !== 'question') return blocks
  const all = replaced(blocks, at, { ...asked, state: picks ? 'answered' : 'unanswered', picks: picks ?? [] })
  const [role] = asked.question.from
  return role === undefined ? all : withRowState(all, turn, role, 'asking', 'working')
}

/** The blocks after words of an agent that was only consulted: they are in its row. */
function consultedWords(blocks: Blocks, event: Extract<Event, { type: 'words' }>, place: EventPlace): Blocks {
  const [role = '', ...deeper] = event.from ?? []
  const { from: _from, ...words } = event
  // The entries of an agent with a conversation of its own hold its words already.
  const isHeld = (block: Block) => block.type === 'reply' && block.entry !== undefined
  const own = blocks.filter(({ turn }) => turn === place.turn)
  if (rowsIn(own).some((row) => row.role === role && isAtWork(row) && row.blocks.some(isHeld))) return blocks
  const inner: Event = { type: 'inner', role, event: defined({ ...words, from: deeper.length ? deeper : undefined }) }
  const inside = withInner(blocks, inner, place, foldEvent)
  // A row that is already shown gets its end from its own events.
  if (rowsIn(inside).length === rowsIn(blocks).length) return inside
  return withRowState(inside, place.turn, role, 'working', event.cut ? 'stopped' : 'done')
}

function ended(blocks: Blocks, event: Extract<Event, { type: 'end' }>, place: EventPlace): Blocks {
  const { outcome } = event
  const rested = (all: Blocks) => all.map((block) => (block.turn === place.turn ? atRest(block) : block))
  if (outcome.ok) {
    const settled = rested(blocks)
    const has = (type: Block['type']) => settled.some((block) => block.turn === place.turn && block.type === type)
    // Without a prompt only the end of the turn was read, and the reply is among the earlier entries.
    if (!has('prompt') || has('reply') || outcome.text === '') return settled
    return append(settled, { type: 'reply', live: false, ...held(outcome.text) }, event, place)
  }
  const waits = chosenWait(blocks, outcome.failure, place.turn)
  if (waits) return append(rested(blocks), waits, event, place)
  // Text that was streamed and never kept is no answer, and becomes part of the failure.
  const { rest, said } = withoutSpeech(blocks, place.turn, ({ live }) => live)
  const failure = { ...outcome.failure, message: withoutAttempts(outcome.failure.message, rest, place.turn) }
  return append(rested(rest), { type: 'error', failure, said: outcome.unkept?.text ?? said }, event, place)
}

/** The wait that the person chose on the card about a spent quota. */
function chosenWait(blocks: Blocks, { kind, retryAt }: Failure, turn: string): NewBlock | undefined {
  if (kind !== 'quota' && kind !== 'busy') return undefined
  const asked = blocks.findLast((block) => block.turn === turn && block.type === 'question')
  if (asked?.type !== 'question' || asked.question.about !== 'quota' || !asked.picks.includes('wait')) return undefined
  const agent = asked.question.agent ?? asked.by ?? 'an agent'
  return { type: 'waits', agent, ...defined({ until: retryAt }) }
}

/** The message without the list of failed attempts, each of which has its own line above. */
function withoutAttempts(message: string, blocks: Blocks, turn: string): string {
  const tries = blocks.flatMap((block) => {
    if (block.type !== 'attempt' || block.turn !== turn) return []
    return [failureSentence(block.by ?? '', block.failure)]
  })
  const end = `: ${tries.join('; ')}`
  return tries.length > 0 && message.endsWith(end) ? message.slice(0, -end.length) : message
}

/** A block of a turn that is over, in which nothing changes any more. */
function atRest(block: Block): Block {
  switch (block.type) {
    case 'reply':
    case 'thought':
      return block.live ? { ...block, live: false } : block
    case 'call':
      return block.state === 'running' ? { ...block, state: 'stopped' } : block
    case 'question':
      return block.state === 'open' ? { ...block, state: 'unanswered' } : block
    case 'board': {
      const rows = restingRows(block.rows, atRest)
      return rows === block.rows ? block : { ...block, rows }
    }
    default:
      return block
  }
}

/** The agent that asks. A kept question is signed by termaite, so its agent is found by the blocks before it. */
function askerOf(blocks: readonly Block[], { agent }: Question, turn: string): string | undefined {
  return agent ?? blocks.findLast((block) => block.turn === turn && isAgentSpeech(block))?.by
}

/**
 * Finds the place of a kept reply among the streamed blocks: `at` is the live block that it replaces. Other streamed
 * text that the reply contains is removed, so that nothing is shown twice.
 */
function placeReply(
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
  // Of a long text only the end is held, after a fence that it may not have.
  const words = (block: SpeechBlock) => (block.dropped === undefined ? block.text : block.text.slice(-1000)).trim()
  const stays = (block: Block, at: number) =>
    !mine(block) || (at === last && acted < last) || !text.includes(words(block))
  const rest = blocks.filter(stays)
  return acted < last ? { rest, at: rest.indexOf(blocks[last]!) } : { rest }
}

/** Removes the speech that matches `what` since the last failed attempt of a turn, and returns its text as `said`. */
function withoutSpeech(
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
