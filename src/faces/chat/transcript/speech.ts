import type { Event } from '../../../core/talk/entry.ts'
import type { Question } from '../../../core/talk/question.ts'
import type { Block, Speech } from './block.ts'
import { speaks } from './block.ts'

type Blocks = readonly Block[]

const own = new Set<Event['type']>(['text', 'thought', 'reply', 'call', 'progress', 'result', 'plan', 'attempt'])

/** Whether an event is an agent's own doing; the others are the person's, or termaite's. */
export function isAgents(event: Event): boolean {
  return event.by !== undefined && own.has(event.type)
}

/** Whose doing it is, or who says that it has begun. */
export function whoOf(event: Event): string | undefined {
  return isAgents(event) || event.type === 'state' ? event.by : undefined
}

/** Whose question it is: kept ones are signed by whoever keeps them. */
export function askerOf(blocks: Blocks, { agent }: Question, turn: string): string | undefined {
  return agent ?? blocks.findLast((block) => block.turn === turn && speaks(block))?.by
}

/**
 * Where a kept reply belongs among what was streamed: `at` is the live text that it replaces.
 * What it holds as well goes, so that nothing is said twice.
 */
export function settledReply(
  blocks: Blocks,
  text: string,
  by: string | undefined,
  turn: string,
): { rest: Blocks; at?: number } {
  const mine = (block: Block): block is Speech =>
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
export function swallowed(
  blocks: Blocks,
  turn: string,
  what: (speech: Speech) => boolean,
): { rest: Blocks; said: string } {
  const from = blocks.findLastIndex((block) => block.turn === turn && block.type === 'attempt')
  const goes = (block: Block, at: number) =>
    at > from && block.turn === turn && (block.type === 'reply' || block.type === 'thought') && what(block)
  const said = blocks.flatMap((block, at) => (goes(block, at) && block.type === 'reply' ? [block.text] : []))
  return { rest: blocks.filter((block, at) => !goes(block, at)), said: said.join('\n\n') }
}
