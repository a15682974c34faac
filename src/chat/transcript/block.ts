import type { Cut, FileChange, PlanItem } from '../../core/talk/entry.ts'
import type { SaidHow } from '../../core/talk/command.ts'
import type { Failure } from '../../core/talk/outcome.ts'
import type { Question } from '../../core/talk/question.ts'
import type { Closing } from '../desk/chat-desk.ts'
import { isPersonCommand } from '../../core/talk/entry.ts'

/** The fields of every block: `key` stays the same while the block changes, `entry` is the kept entry it began with. */
type Common = { key: number; turn: string; by?: string; entry?: string }

type TextBlock = Common & { type: 'prompt' | 'steer' | 'note'; text: string }
/** `title` says what the text is. */
type SummaryBlock = Common & { type: 'summary'; title: string; text: string }

/**
 * `live` while the text grows, or is not yet kept. `dropped` characters before the text and `more` after it are not held: a growing text
 * shows its end, a complete one its beginning. `cut` says why words that are not an answer were cut off; `failed`: its agent failed, and the
 * turn went on without it.
 */
export type SpeechBlock = Common & {
  type: 'reply' | 'thought'
  text: string
  live: boolean
  dropped?: number
  more?: number
  cut?: Cut
  failed?: true
}

export type CallBlock = Common & {
  type: 'call'
  call: string
  tool: string
  input: unknown
  state: 'running' | 'ok' | 'failed' | 'stopped'
  since: number
  ms?: number
  /** The output so far, then the result. */
  output: string
  /** The exit code of a command, or the signal that killed it, if the result has one. */
  exit?: number | string
  changes: readonly FileChange[]
  /** How many errors a language server reported after the call, if any. */
  errors?: number
}

/** A failed attempt; `said` are its last words if no block has them, and `next` is the agent that took over. */
export type AttemptBlock = Common & { type: 'attempt'; failure: Failure; ms: number; said: string; next?: string }

/** The end of a turn without an answer. `inside`: this is the turn of an agent inside the person's turn, which continues. */
export type ErrorBlock = Common & { type: 'error'; failure: Failure; said: string; inside?: true }

/** The end of a turn whose person chose to wait for an agent, which is not a failure. */
export type WaitBlock = Common & { type: 'waits'; agent: string; until?: number }

export type QuestionBlock = Common & {
  type: 'question'
  ask: string
  question: Question
  state: 'open' | 'answered' | 'unanswered'
  picks: readonly string[]
}

export type PlanBlock = Common & { type: 'plan'; items: readonly PlanItem[] }

/** The state of the work of an agent inside a turn. */
export type RowState = 'waiting' | 'working' | 'asking' | 'done' | 'partial' | 'failed' | 'stopped'

/** An agent that works inside a turn, with all its blocks: a worker, an advisor, a subagent, a racer. */
export type AgentRow = {
  key: number
  role: string
  by?: string
  state: RowState
  since: number
  ms?: number
  /** The tokens that the agent has used so far; `source` says how well the number is known. */
  tokens?: { used: number; source: 'reported' | 'estimated' }
  /** Whether the agent works in a terminal that a person can watch. */
  terminal?: true
  blocks: readonly Block[]
}

/** Agents that work inside a turn, one row each. */
export type BoardBlock = Common & { type: 'board'; rows: readonly AgentRow[] }

export type ClosingBlock = Common & { type: 'closing'; closing: Closing }

/** Output of a command, which is not kept. */
export type CommandBlock = Common & { type: 'told'; text: string; how: SaidHow }

export type Block =
  | TextBlock
  | SummaryBlock
  | SpeechBlock
  | CallBlock
  | AttemptBlock
  | ErrorBlock
  | WaitBlock
  | QuestionBlock
  | PlanBlock
  | BoardBlock
  | ClosingBlock
  | CommandBlock

/** A block before it has its place in the transcript. */
export type NewBlock = { [B in Block as B['type']]: Omit<B, 'key' | 'turn'> }[Block['type']]

/** The name under which termaite itself asks questions. */
export const ourselves = 'termaite'

/** Whether an agent asked the question itself, as part of its work. All other questions come from termaite and commands. */
export function isOwnQuestion({ by, question }: QuestionBlock): boolean {
  return by !== undefined && by !== ourselves && (question.about === 'permission' || question.about === 'choice')
}

/** Whether a block is an agent's own, shown under its name. */
export function isAgentSpeech(block: Block): boolean {
  return (
    block.by !== undefined &&
    !isPersonCommand(block) &&
    (['reply', 'thought', 'call', 'plan'].includes(block.type) ||
      // An open question is shown on its card.
      (block.type === 'question' && block.state !== 'open' && isOwnQuestion(block)))
  )
}

/** About how many characters a block holds. Its lines on the screen take several times as much memory. */
export function heldSize(block: Block): number {
  switch (block.type) {
    case 'call':
      return block.output.length
    case 'board':
      return block.rows.reduce((sum, { blocks }) => blocks.reduce((all, one) => all + heldSize(one), sum), 0)
    case 'attempt':
    case 'error':
      return block.said.length
    default:
      return 'text' in block ? block.text.length : 0
  }
}

/** Whether more words of the block may come. */
export function isGrowing(block: Block): boolean {
  return (block.type === 'reply' || block.type === 'thought') && block.live
}

/** Whether a click or Ctrl+O shows more of a block. */
export function canOpen(block: Block): boolean {
  switch (block.type) {
    case 'prompt':
    case 'steer':
      return block.text.length > 500 || block.text.includes('\n')
    case 'thought':
    case 'call':
    case 'board':
    case 'summary':
      return true
    case 'attempt':
    case 'error':
      return block.said !== ''
    default:
      return false
  }
}
