import type { Entry, Event } from '../../core/talk/entry.ts'
import type { Question } from '../../core/talk/question.ts'
import type { DeskEvent, Standing } from './chat-desk.ts'
import type { RunningTurn } from './running-turn.ts'
import type { Block, NewBlock } from './transcript/block.ts'
import type { OrphanResults } from './transcript/entry-blocks.ts'
import { advanceTurn } from './running-turn.ts'
import { foldEvent } from './transcript/fold.ts'
import { blocksOfEntries } from './transcript/entry-blocks.ts'

export type OpenQuestion = { ask: string; turn: string; question: Question; by?: string }

/**
 * All that is on the screen. The transcript is `done`, then `live`: what grows is in the short one,
 * so that a word more never copies the long one.
 */
export type ChatState = {
  done: readonly Block[]
  live: readonly Block[]
  running: readonly RunningTurn[]
  /** The first is the one that is asked; the others wait behind it. */
  asks: readonly OpenQuestion[]
  queue: readonly string[]
  standing?: Standing
  /** Whether nothing had been said when the conversation was opened: then it begins with the welcome. */
  fresh: boolean
  /** Whether there is more of the session above `oldest`. */
  more: boolean
  oldest?: string
  /** The turn that had no end when the conversation was opened: another process may be at it. */
  unended?: string
  keys: number
  orphans: OrphanResults
}

export const emptyState: ChatState = {
  done: [],
  live: [],
  running: [],
  asks: [],
  queue: [],
  fresh: false,
  more: false,
  keys: 0,
  orphans: new Map(),
}

/** The screen after one more happening. */
export function nextState(state: ChatState, happening: DeskEvent, now: number): ChatState {
  switch (happening.type) {
    case 'opened':
      return opened(state, happening.entries, happening.more)
    case 'standing':
      return { ...state, standing: happening.standing }
    case 'queue':
      return { ...state, queue: happening.texts }
    case 'stopping':
      return { ...state, running: state.running.map((run) => ({ ...run, stopping: true })) }
    case 'said':
      return added(state, { type: 'told', text: happening.text, how: happening.how }, '')
    case 'closing':
      return added(state, { type: 'closing', closing: happening.closing }, happening.closing.turn)
    case 'event':
      return happened(state, happening.turn, happening.event, now)
  }
}

/** The screen with more of the past above what it shows. */
export function withEarlier(state: ChatState, entries: readonly Entry[], more: boolean): ChatState {
  const mint = minter(state)
  const past = blocksOfEntries(entries, mint, state.orphans)
  const oldest = entries[0]?.id ?? state.oldest
  return {
    ...state,
    done: [...past.done, ...past.live, ...state.done],
    more,
    ...(oldest === undefined ? {} : { oldest }),
    keys: mint(),
    orphans: past.orphans,
  }
}

/** The screen without its oldest blocks, when there are more than that; they can be loaded again. */
export function withoutOldest(state: ChatState, most: number): ChatState {
  const over = state.done.length + state.live.length - most
  if (over <= 0) return state
  // Only a kept block can be the one before which the rest is loaded.
  const cut = state.done.findIndex((block, at) => at >= over && block.type === 'prompt' && block.entry !== undefined)
  if (cut <= 0) return state
  return { ...state, done: state.done.slice(cut), fresh: false, more: true, oldest: state.done[cut]!.entry! }
}

/** The screen without what was on it; nothing kept is touched. */
export function cleared(state: ChatState): ChatState {
  const newest = state.live[0]?.entry
  const spoken = [...state.done, ...state.live].some(({ type }) => type === 'prompt')
  return {
    ...state,
    done: [],
    live: state.running.length > 0 ? state.live : [],
    fresh: state.fresh && !spoken,
    more: false,
    ...(newest ? { oldest: newest } : {}),
  }
}

function opened(state: ChatState, entries: readonly Entry[], more: boolean): ChatState {
  const mint = minter(state)
  const { done, live, orphans } = blocksOfEntries(entries, mint)
  const { standing } = state
  return {
    ...emptyState,
    ...(standing === undefined ? {} : { standing }),
    done,
    live,
    asks: live.flatMap((block) =>
      block.type === 'question' && block.state === 'open'
        ? [askOf(block.turn, block.ask, block.question, block.by)]
        : [],
    ),
    fresh: entries.length === 0 && !more,
    more,
    ...(entries[0] ? { oldest: entries[0].id } : {}),
    queue: state.queue,
    ...(live[0] ? { unended: live[0].turn } : {}),
    keys: mint(),
    orphans,
  }
}

function happened(state: ChatState, turn: string, event: Event, now: number): ChatState {
  const mint = minter(state)
  const live = foldEvent(state.live, event, { turn, at: (event as Partial<Entry>).at ?? now, mint })
  const folded: ChatState = { ...state, live, asks: asked(state.asks, live, turn, event), keys: mint() }
  if (turn === '') return settledIfIdle(folded)
  if (event.type === 'end' && turn === state.unended) delete folded.unended
  const was = state.running.find((run) => run.turn === turn)
  const run = advanceTurn(was, turn, event, now)
  const others = state.running.filter((other) => other !== was)
  return settledIfIdle({ ...folded, running: run ? [...others, run] : others })
}

function added(state: ChatState, block: NewBlock, turn: string): ChatState {
  const placed = { ...block, key: state.keys, turn } as Block
  return settledIfIdle({ ...state, live: [...state.live, placed], keys: state.keys + 1 })
}

/** Once nothing runs and nothing is asked, nothing in the short list changes any more. */
function settledIfIdle(state: ChatState): ChatState {
  const moving = state.running.length > 0 || state.asks.length > 0 || state.unended !== undefined
  if (moving || state.live.length === 0) return state
  return { ...state, done: [...state.done, ...state.live], live: [] }
}

function asked(
  asks: readonly OpenQuestion[],
  live: readonly Block[],
  turn: string,
  event: Event,
): readonly OpenQuestion[] {
  switch (event.type) {
    case 'question': {
      const { by } = live.find((block) => block.type === 'question' && block.ask === event.ask) ?? event
      return [...asks.filter(({ ask }) => ask !== event.ask), askOf(turn, event.ask, event.question, by)]
    }
    case 'answer':
      return asks.filter(({ ask }) => ask !== event.ask)
    case 'end':
      return asks.filter((each) => each.turn !== turn)
    default:
      return asks
  }
}

const askOf = (turn: string, ask: string, question: Question, by?: string): OpenQuestion => ({
  ask,
  turn,
  question,
  ...(by === undefined ? {} : { by }),
})

function minter(state: ChatState): () => number {
  let key = state.keys
  return () => key++
}
