import type { Event } from '../../core/talk/entry.ts'
import type { Outcome } from '../../core/talk/outcome.ts'
import type { AgentRow, Block, BoardBlock, RowState } from './block.ts'
import type { Blocks, EventPlace } from './block-list.ts'
import { defined } from '../../base/defined.ts'
import { ourselves } from './block.ts'
import { replaced } from './block-list.ts'
import { authorOf } from './event-facts.ts'

/** Adds an event to the blocks of an agent, as `foldEvent` does. */
type Fold = (blocks: Blocks, event: Event, place: EventPlace) => Blocks

/** Whether more events of the agent may come. */
export const isAtWork = ({ state }: Pick<AgentRow, 'state'>): boolean =>
  state === 'waiting' || state === 'working' || state === 'asking'

/** All agents that work or worked inside the turns of these blocks, in their order. */
export const rowsIn = (blocks: Blocks): AgentRow[] =>
  blocks.flatMap((block) => (block.type === 'board' ? block.rows : []))

/**
 * Adds the event of an agent that works inside the turn to its row. An agent that is asked again gets a new row: on the board
 * where agents still work, or on the last block if that is a board, else on a new board.
 */
export function withInner(
  blocks: Blocks,
  { role, event }: Extract<Event, { type: 'inner' }>,
  place: EventPlace,
  fold: Fold,
): Blocks {
  const mine = (block: Block): block is BoardBlock => block.type === 'board' && block.turn === place.turn
  const isOpen = (row: AgentRow) => row.role === role && isAtWork(row)
  const known = blocks.findLastIndex((block) => mine(block) && block.rows.some(isOpen))
  if (known >= 0) {
    const board = blocks[known] as BoardBlock
    const at = board.rows.findLastIndex(isOpen)
    return replaced(blocks, known, {
      ...board,
      rows: replaced(board.rows, at, extended(board.rows[at]!, event, place, fold)),
    })
  }
  const begun: AgentRow = { key: place.mint(), role, state: 'working', since: place.at, blocks: [] }
  const row = extended(begun, event, place, fold)
  const last = blocks.length - 1
  const open = blocks.findLastIndex((block) => mine(block) && block.rows.some(isAtWork))
  const at = open >= 0 ? open : blocks[last] && mine(blocks[last]) ? last : -1
  if (at < 0) return [...blocks, { type: 'board', key: place.mint(), turn: place.turn, rows: [row] }]
  const board = blocks[at] as BoardBlock
  return replaced(blocks, at, { ...board, rows: [...board.rows, row] })
}

function extended(row: AgentRow, event: Event, place: EventPlace, fold: Fold): AgentRow {
  const blocks = fold(row.blocks, event, place)
  if (event.type === 'attempt') {
    // The agent that failed no longer works; the next agent is not known yet.
    const { by: _failed, ...rest } = row
    return { ...rest, blocks }
  }
  const author = authorOf(event)
  // termaite itself checks the work of an agent and brings it back; that does not make it the agent of the row.
  const by = author === undefined || author === ourselves ? row.by : author
  switch (event.type) {
    case 'state': {
      const state = event.state === 'held' ? 'waiting' : event.state === 'asking' ? 'asking' : 'working'
      // The time of an agent that waited starts with its work.
      const since = row.state === 'waiting' && state !== 'waiting' ? place.at : row.since
      return { ...row, ...defined({ by, terminal: event.terminal }), state, since }
    }
    case 'usage':
      return { ...row, tokens: withUsage(row.tokens, event) }
    case 'end':
      return {
        ...row,
        ...defined({ by }),
        state: endState(event.outcome, event.status),
        ms: Math.max(0, place.at - row.since),
        blocks: blocks.map((block) => (block.type === 'error' ? { ...block, inside: true } : block)),
      }
    default:
      return { ...row, ...defined({ by }), state: row.state === 'waiting' ? 'working' : row.state, blocks }
  }
}

function withUsage(was: AgentRow['tokens'], { input, output, source }: Extract<Event, { type: 'usage' }>) {
  const exact = source === 'reported' && was?.source !== 'estimated'
  return { used: (was?.used ?? 0) + input + output, source: exact ? ('reported' as const) : ('estimated' as const) }
}

function endState(outcome: Outcome, status: Extract<Event, { type: 'end' }>['status']): RowState {
  if (status) return status === 'completed' ? 'done' : status
  if (outcome.ok) return 'done'
  return outcome.failure.kind === 'aborted' || outcome.failure.kind === 'unfinished' ? 'stopped' : 'failed'
}

/** Changes the state of an agent's newest row in the state `from` to `to`. */
export function withRowState(blocks: Blocks, turn: string, role: string, from: RowState, to: RowState): Blocks {
  const isIt = (row: AgentRow) => row.role === role && row.state === from
  const at = blocks.findLastIndex((block) => block.type === 'board' && block.turn === turn && block.rows.some(isIt))
  const board = blocks[at]
  if (board?.type !== 'board') return blocks
  const row = board.rows.findLastIndex(isIt)
  return replaced(blocks, at, { ...board, rows: replaced(board.rows, row, { ...board.rows[row]!, state: to }) })
}

/** The rows of a turn that is over, in which nothing changes any more. */
export function restingRows(rows: readonly AgentRow[], atRest: (block: Block) => Block): readonly AgentRow[] {
  if (!rows.some(isAtWork)) return rows
  return rows.map((row) => (isAtWork(row) ? { ...row, state: 'stopped', blocks: row.blocks.map(atRest) } : row))
}
