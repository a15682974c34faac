import type { Entry, Event } from '../../core/talk/entry.ts'
import type { Failure } from '../../core/talk/outcome.ts'
import type { Question } from '../../core/talk/question.ts'
import type { Block, CallBlock, NewBlock } from './block.ts'
import type { Blocks, EventPlace } from './block-list.ts'
import { defined } from '../../base/defined.ts'
import { summaryWords } from '../../core/talk/compaction.ts'
import { thumbNote } from '../../core/talk/judgement.ts'
import { remarkOf } from '../../core/talk/notice.ts'
import { failureSentence } from '../../core/talk/outcome.ts'
import { isAtWork, restingRows, rowsIn, withInner, withRowState } from './agent-rows.ts'
import { isAgentSpeech } from './block.ts'
import { append, changed, held, isCall, placed, replaced } from './block-list.ts'
import { called, withProgress, withResult } from './call-blocks.ts'
import { grown, withFailedSpeech, withoutLiveSpeech, withReply, withWords } from './speech-blocks.ts'

/** The blocks after one more event; blocks that the event does not touch stay the same objects. */
export function foldEvent(blocks: Blocks, event: Event, place: EventPlace): Blocks {
  if (isKnown(blocks, event)) return blocks
  const add = (block: NewBlock): Blocks => append(blocks, block, event, place)
  switch (event.type) {
    case 'prompt':
      return withPrompt(blocks, event, place)
    case 'steer':
      return add({ type: 'steer', text: held(event.text).text })
    case 'judgement':
      // Only the person's own judgement was shown on the screen.
      return event.source === 'person' ? add({ type: 'note', text: thumbNote(event) }) : blocks
    case 'summary':
      return add({ type: 'summary', title: summaryWords(event), text: held(event.text).text })
    case 'text':
    case 'thought':
      return grown(blocks, event.type === 'text' ? 'reply' : 'thought', event.delta, event, place)
    case 'reply':
      return withReply(blocks, event, place)
    case 'words':
      return event.from ? consultedWords(blocks, event, place) : withWords(blocks, event, place)
    case 'call':
      return called(blocks, event, place)
    case 'progress':
      return withProgress(blocks, event)
    case 'result':
      return changed(blocks, isCall(event.call), (call) => withResult(call as CallBlock, event, place.at))
    case 'attempt': {
      const { blocks: all, said } = withFailedSpeech(blocks, event, place)
      const words = said ? '' : (event.did?.lastWords ?? '')
      return append(all, { type: 'attempt', failure: event.failure, ms: event.ms, said: words }, event, place)
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
    default: {
      const remark = remarkOf(event)
      return remark === undefined ? blocks : add({ type: 'note', text: held(remark).text })
    }
  }
}

/** Whether the blocks already have this entry: a followed turn repeats its kept entries at first. */
function isKnown(blocks: Blocks, event: Event): boolean {
  const { id } = event as Partial<Entry>
  return id !== undefined && event.type !== 'end' && blocks.some((block) => block.entry === id)
}

/** Adds the prompt of a turn to the blocks. A turn has only one: the stored prompt replaces the one that was only sent. */
function withPrompt(blocks: Blocks, event: Extract<Event, { type: 'prompt' }>, place: EventPlace): Blocks {
  const prompt: NewBlock = { type: 'prompt', text: held(event.text).text }
  const at = blocks.findIndex((block) => block.type === 'prompt' && block.turn === place.turn)
  const known = blocks[at]
  if (!known) return append(blocks, prompt, event, place)
  return known.entry === undefined ? replaced(blocks, at, { ...placed(prompt, event, place), key: known.key }) : blocks
}

/** Replaces the plan of the turn, which has only one. */
function withPlan(blocks: Blocks, event: Extract<Event, { type: 'plan' }>, place: EventPlace): Blocks {
  const mine = (block: Block) => block.type === 'plan' && block.turn === place.turn && block.by === event.by
  if (blocks.some(mine)) return changed(blocks, mine, (plan) => ({ ...plan, items: event.items }) as Block)
  return append(blocks, { type: 'plan', items: event.items }, event, place)
}

/** The blocks after an answer. If an agent inside the turn asked, it continues. */
function answered(blocks: Blocks, { ask, picks }: Extract<Event, { type: 'answer' }>, { turn }: EventPlace): Blocks {
  const at = blocks.findLastIndex((block) => block.type === 'question' && block.ask === ask && block.state === 'open')
  const asked = blocks[at]
  if (asked?.type !== 'question') return blocks
  const all = replaced(blocks, at, { ...asked, state: picks ? 'answered' : 'unanswered', picks: picks ?? [] })
  const [role] = asked.question.from
  return role === undefined ? all : withRowState(all, turn, role, 'asking', 'working')
}

/** The blocks after words of an agent that was only consulted: they go to its row. */
function consultedWords(blocks: Blocks, event: Extract<Event, { type: 'words' }>, place: EventPlace): Blocks {
  const [role = '', ...deeper] = event.from ?? []
  const { from: _from, ...words } = event
  // The entries of an agent with its own conversation already hold its words.
  const isHeld = (block: Block) => block.type === 'reply' && block.entry !== undefined
  const own = blocks.filter(({ turn }) => turn === place.turn)
  if (rowsIn(own).some((row) => row.role === role && isAtWork(row) && row.blocks.some(isHeld))) return blocks
  const inner: Event = { type: 'inner', role, event: defined({ ...words, from: deeper.length ? deeper : undefined }) }
  const inside = withInner(blocks, inner, place, foldEvent)
  // A row that is already shown gets its final state from its own events.
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
  // Text that was streamed and never kept is not an answer; it becomes part of the failure.
  const { rest, said } = withoutLiveSpeech(blocks, place.turn)
  const failure = { ...outcome.failure, message: withoutAttempts(outcome.failure.message, rest, place.turn) }
  return append(rested(rest), { type: 'error', failure, said: outcome.unkept?.text ?? said }, event, place)
}

/** The wait that the person chose on the card about an exhausted quota. */
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

/** The agent that asks. A stored question is signed by termaite, so the blocks before it show which agent asked. */
function askerOf(blocks: readonly Block[], { agent }: Question, turn: string): string | undefined {
  return agent ?? blocks.findLast((block) => block.turn === turn && isAgentSpeech(block))?.by
}
