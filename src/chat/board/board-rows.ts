import type { EarlierWork } from '../../core/talk/command.ts'
import type { ChatState } from '../state/chat-state.ts'
import type { AgentRow, Block } from '../transcript/block.ts'
import type { EarlierRow } from './board-panel.ts'
import { defined } from '../../base/defined.ts'
import { rowsIn } from '../transcript/agent-rows.ts'
import { blocksOfEntries } from '../transcript/entry-blocks.ts'

type Blocks = readonly Block[]

/** The rows of the agents that work or worked inside turns. The search runs again only when the blocks have changed. */
export class BoardRows {
  #seen: Pick<ChatState, 'done' | 'live'> | undefined
  #rows: readonly AgentRow[] = []
  #turn = ''

  /** The rows of the newest turn that has any. */
  newest({ done, live }: Pick<ChatState, 'done' | 'live'>): readonly AgentRow[] {
    if (this.#seen?.done !== done || this.#seen.live !== live) {
      const isBoard = ({ type }: Block) => type === 'board'
      const blocks: Blocks = live.some(isBoard) ? live : done
      this.#turn = blocks.findLast(isBoard)?.turn ?? ''
      this.#rows = this.#turn === '' ? [] : rowsIn(blocks.filter(({ turn }) => turn === this.#turn))
      this.#seen = { done, live }
    }
    return this.#rows
  }

  /** The rows of one turn, as long as no newer turn has any rows. */
  of(turn: string, state: Pick<ChatState, 'done' | 'live'>): readonly AgentRow[] {
    const rows = this.newest(state)
    return turn === this.#turn ? rows : []
  }
}

/** Agents of earlier turns as rows. Their keys are negative, so that they never equal the key of a block of the conversation. */
export function earlierRows(works: readonly EarlierWork[]): EarlierRow[] {
  return works.map((work, at) => {
    const { role, by, status, since, ms, tokens, text } = work
    const key = -1 - at
    // Until the row is opened, it shows only the agent's handoff.
    const told: Block = { type: 'reply', key, turn: '', by, text, live: false }
    const row: AgentRow = defined({
      key,
      role,
      by,
      state: status === 'completed' ? 'done' : status,
      since,
      ms,
      tokens: tokens === undefined ? undefined : { used: tokens, source: 'reported' as const },
      blocks: [told],
    })
    let next = 0
    const events = async () => {
      const { done, live } = blocksOfEntries(await work.entries(), () => next++)
      return [...done, ...live]
    }
    return { row, events }
  })
}
