import type { Entry, Event } from '../../core/talk/entry.ts'
import type { Block, NewBlock } from './block.ts'
import { defined } from '../../base/defined.ts'
import { isAgentEvent } from './event-facts.ts'

/** The turn and the time of an event; `mint` gives the next key of a block. */
export type EventPlace = { turn: string; at: number; mint(): number }

export type Blocks = readonly Block[]

/** The most characters of one text that are held for the screen; the log has the whole text. */
const longest = 200_000

/** The held part of a text, and how many characters are left out. */
export function held(text: string): { text: string; more?: number } {
  return text.length <= longest ? { text } : { text: text.slice(0, longest), more: text.length - longest }
}

/** A block with its key, its turn, and the agent and the entry that it came from. */
export function placed(block: NewBlock, event: Event, place: EventPlace): Block {
  const { id } = event as Partial<Entry>
  return {
    key: place.mint(),
    turn: place.turn,
    ...defined({ by: event.by, entry: id }),
    ...block,
  }
}

/** The blocks with one more at their end. */
export function append(blocks: Blocks, block: NewBlock, event: Event, place: EventPlace): Blocks {
  return [...withSuccessor(blocks, event, place.turn), placed(block, event, place)]
}

/** Names the successor on the failed attempt before it: the first agent that speaks after the failure. */
function withSuccessor(blocks: Blocks, event: Event, turn: string): Blocks {
  const { by } = event
  if (by === undefined || !isAgentEvent(event)) return blocks
  const at = blocks.findLastIndex((block) => block.turn === turn && block.type === 'attempt')
  const tried = blocks[at]
  return tried?.type === 'attempt' && tried.next === undefined ? replaced(blocks, at, { ...tried, next: by }) : blocks
}

/** A copy of a list with another value at one place. */
export function replaced<T>(list: readonly T[], at: number, value: T): T[] {
  const copy = list.slice()
  copy[at] = value
  return copy
}

/** Changes the last block that `which` accepts. */
export function changed(blocks: Blocks, which: (block: Block) => boolean, change: (block: Block) => Block): Blocks {
  const at = blocks.findLastIndex(which)
  return at < 0 ? blocks : replaced(blocks, at, change(blocks[at]!))
}

export const isCall = (call: string) => (block: Block) => block.type === 'call' && block.call === call
