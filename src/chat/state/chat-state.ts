import type { Entry, Event } from '../../core/talk/entry.ts'
import type { Question } from '../../core/talk/question.ts'
import type { ChangedFiles, DeskEvent, Standing } from '../desk/chat-desk.ts'
import type { RunningTurn } from './running-turn.ts'
import type { Block, NewBlock } from '../transcript/block.ts'
import type { OrphanResults } from '../transcript/entry-blocks.ts'
import { defined } from '../../base/defined.ts'
import { advanceTurn } from './running-turn.ts'
import { heldSize } from '../transcript/block.ts'
import { foldEvent } from '../transcript/fold.ts'
import { blocksOfEntries } from '../transcript/entry-blocks.ts'

/** The words of a running slash command, as the working line shows them. */
export type CommandProgress = { of: string; words: string; since: number }

export type OpenQuestion = { ask: string; turn: string; question: Question; by?: string }

/**
 * Everything on the screen. The transcript is `done` followed by `live`: blocks that still change are in `live`,
 * so that one more word never copies the long list.
 */
export type ChatState = {
  done: readonly Block[]
  live: readonly Block[]
  running: readonly RunningTurn[]
  /** The first question is shown as a card; the others wait behind it. */
  asks: readonly OpenQuestion[]
  queue: readonly string[]
  /** The slash commands that say what they do, the one that began last at the end. */
  progress: readonly CommandProgress[]
  standing?: Standing
  /** Whether a conversation was opened; before that, commands may already have said something. */
  isOpen: boolean
  /** Whether the conversation was empty when it was opened; then the transcript begins with the welcome. */
  fresh: boolean
  /** Whether the session has entries before `oldest`. */
  more: boolean
  oldest?: string
  /** The turn without an end when the conversation was opened: another process may run it. */
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
  progress: [],
  isOpen: false,
  fresh: false,
  more: false,
  keys: 0,
  orphans: new Map(),
}

/** The state after one more event of the desk. */
export function nextState(state: ChatState, event: DeskEvent, now: number): ChatState {
  switch (event.type) {
    case 'opened':
      return opened(state, event.entries, event.more)
    case 'standing':
      return { ...state, standing: event.standing }
    case 'commands':
      return state
    case 'queue':
      return { ...state, queue: event.texts }
    case 'stopping':
      return { ...state, running: state.running.map((run) => ({ ...run, stopping: true })) }
    case 'progress':
      return { ...state, progress: withProgress(state.progress, event, now) }
    case 'said':
      return added(state, { type: 'told', text: event.text, how: event.how }, '')
    case 'closing':
      return added(state, { type: 'closing', closing: event.closing }, event.closing.turn)
    case 'sent':
      return withSent(state, event, now)
    case 'event':
      return happened(taken(state, event.sent, event.turn), event.turn, event.event, now)
  }
}

/**
 * The standing with the framework and the budget of the running turn, which say more than those of the next one, and with the agent that
 * would take the typed prompt, which may differ from the agent of an empty prompt.
 */
export function shownStanding(
  standing: Standing,
  { running, asks }: ChatState,
  { next = standing.next, now }: { next: string | undefined; now: number },
): Standing {
  const { phase, budget } = running.at(-1) ?? {}
  // The time of a budget does not advance while a question waits for the person.
  const since = budget && asks.length === 0 ? now - budget.at : 0
  return defined({
    ...standing,
    thinking: phase?.framework ?? standing.thinking,
    next,
    budget: budget && { allowed: budget.allowed, used: { ...budget.used, ms: budget.used.ms + since } },
  })
}

/** The state with earlier entries above the blocks it has. */
export function withEarlier(state: ChatState, entries: readonly Entry[], more: boolean): ChatState {
  const mint = keyMinter(state)
  const past = blocksOfEntries(entries, mint, state.orphans)
  const oldest = entries[0]?.id ?? state.oldest
  return {
    ...state,
    done: [...past.done, ...past.live, ...state.done],
    more,
    oldest,
    keys: mint(),
    orphans: past.orphans,
  }
}

/** The turns whose closing line does not show changes yet, newest first. */
export function uncountedTurns({ done, live }: ChatState): string[] {
  return [...done, ...live]
    .flatMap((block) => (block.type === 'closing' && block.closing.changed === undefined ? [block.turn] : []))
    .reverse()
}

/** The state with the changes of a turn in its closing line. */
export function withChanges(state: ChatState, turn: string, changed: ChangedFiles): ChatState {
  const counted = (block: Block): Block =>
    block.type === 'closing' && block.turn === turn ? { ...block, closing: { ...block.closing, changed } } : block
  const isHere = (blocks: readonly Block[]) => blocks.some((block) => counted(block) !== block)
  const { done, live } = state
  return {
    ...state,
    done: isHere(done) ? done.map(counted) : done,
    live: isHere(live) ? live.map(counted) : live,
  }
}

/** The state without its oldest blocks, if it has more than `most` blocks or more than `size` characters. They can be loaded again. */
export function withoutOldest(state: ChatState, most: number, size = Infinity): ChatState {
  const { done, live } = state
  let room = size
  const tooLarge = done.findLastIndex((block) => (room -= heldSize(block)) < 0)
  const over = Math.max(done.length + live.length - most, tooLarge + 1)
  if (over <= 0) return state
  // Earlier entries are loaded by the id of a kept entry, so the first remaining block must have one.
  const cut = state.done.findIndex((block, at) => at >= over && block.type === 'prompt' && block.entry !== undefined)
  if (cut <= 0) return state
  return { ...state, done: state.done.slice(cut), fresh: false, more: true, oldest: state.done[cut]!.entry! }
}

/** The state with an empty transcript; kept entries are untouched. */
export function cleared(state: ChatState): ChatState {
  const newest = state.live[0]?.entry
  const spoken = [...state.done, ...state.live].some(({ type }) => type === 'prompt')
  return {
    ...state,
    done: [],
    live: state.running.length > 0 ? state.live : [],
    fresh: state.fresh && !spoken,
    more: false,
    oldest: newest ?? state.oldest,
  }
}

function opened(state: ChatState, entries: readonly Entry[], more: boolean): ChatState {
  const mint = keyMinter(state)
  const { done, live, orphans } = blocksOfEntries(entries, mint)
  // A prompt may be sent before the page of its conversation is read: it stays until the kept one replaces it.
  const sent = state.live.filter(
    ({ type, entry, turn }) =>
      type === 'prompt' && entry === undefined && state.running.some((run) => run.turn === turn),
  )
  // A command may have answered before the first page was read.
  const early = state.isOpen ? [] : [...state.done, ...state.live].filter(({ type }) => type === 'told')
  return {
    ...emptyState,
    standing: state.standing,
    done: [...done, ...early],
    live: [...live, ...sent],
    isOpen: true,
    running: state.running.filter(({ turn }) => sent.some((prompt) => prompt.turn === turn)),
    asks: [
      // The question of a command belongs to no conversation: it stays open until somebody answers it.
      ...state.asks.filter(({ turn }) => turn === ''),
      ...live.flatMap((block) =>
        block.type === 'question' && block.state === 'open'
          ? [{ ask: block.ask, turn: block.turn, question: block.question, by: block.by }]
          : [],
      ),
    ],
    fresh: entries.length === 0 && !more,
    more,
    oldest: entries[0]?.id,
    queue: state.queue,
    progress: state.progress,
    unended: live[0]?.turn,
    keys: mint(),
    orphans,
  }
}

function withProgress(
  all: readonly CommandProgress[],
  { of, words }: Extract<DeskEvent, { type: 'progress' }>,
  now: number,
): readonly CommandProgress[] {
  const known = all.find((one) => one.of === of)
  if (words === undefined) return all.filter((one) => one !== known)
  return known ? all.map((one) => (one === known ? { ...one, words } : one)) : [...all, { of, words, since: now }]
}

/** Adds a prompt that is not kept yet, at the place of the future kept one, or removes it. */
function withSent(state: ChatState, event: Extract<DeskEvent, { type: 'sent' }>, now: number): ChatState {
  const { sent, text, starts } = event
  if (text !== undefined) {
    const run: RunningTurn = { turn: sent, since: now, calls: [], lastAt: now, files: [] }
    if (starts === 'command') run.command = true
    const running = starts ? [...state.running, run] : state.running
    return added({ ...state, running }, { type: 'prompt', text, by: 'user' }, sent)
  }
  const other = ({ turn }: { turn: string }) => turn !== sent
  const done = state.done.every(other) ? state.done : state.done.filter(other)
  return settledIfIdle({ ...state, done, live: state.live.filter(other), running: state.running.filter(other) })
}

/** Assigns a sent prompt to its turn. */
function taken(state: ChatState, sent: string | undefined, turn: string): ChatState {
  if (sent === undefined) return state
  const own = <T extends { turn: string }>(one: T): T => (one.turn === sent ? { ...one, turn } : one)
  // The page of the conversation may have been read after the prompt was kept.
  const isThere = state.live.some((block) => block.type === 'prompt' && block.turn === turn)
  const live = isThere ? state.live.filter((block) => block.turn !== sent) : state.live.map(own)
  return { ...state, live, running: state.running.map(own) }
}

function happened(state: ChatState, turn: string, event: Event, now: number): ChatState {
  const mint = keyMinter(state)
  const live = foldEvent(state.live, event, { turn, at: (event as Partial<Entry>).at ?? now, mint })
  const folded: ChatState = { ...state, live, asks: openQuestions(state.asks, live, turn, event), keys: mint() }
  if (turn === '') return settledIfIdle(folded)
  if (event.type === 'end' && turn === state.unended) folded.unended = undefined
  const was = state.running.find((run) => run.turn === turn)
  const run = advanceTurn(was, turn, event, now)
  const others = state.running.filter((other) => other !== was)
  return settledIfIdle({ ...folded, running: run ? [...others, run] : others })
}

function added(state: ChatState, block: NewBlock, turn: string): ChatState {
  const placed = { ...block, key: state.keys, turn }
  return settledIfIdle({ ...state, live: [...state.live, placed], keys: state.keys + 1 })
}

/** Moves `live` to `done` once no turn runs and no question is open: then no block changes any more. */
function settledIfIdle(state: ChatState): ChatState {
  const moving = state.running.length > 0 || state.asks.length > 0 || state.unended !== undefined
  if (moving || state.live.length === 0) return state
  return { ...state, done: [...state.done, ...state.live], live: [] }
}

function openQuestions(
  asks: readonly OpenQuestion[],
  live: readonly Block[],
  turn: string,
  event: Event,
): readonly OpenQuestion[] {
  switch (event.type) {
    case 'question': {
      const { by } = live.find((block) => block.type === 'question' && block.ask === event.ask) ?? event
      return [...asks.filter(({ ask }) => ask !== event.ask), { ask: event.ask, turn, question: event.question, by }]
    }
    case 'answer':
      return asks.filter(({ ask }) => ask !== event.ask)
    case 'end':
      return asks.filter((each) => each.turn !== turn)
    default:
      return asks
  }
}

/** Returns a function that mints the keys of new blocks, continuing from the state. */
function keyMinter(state: ChatState): () => number {
  let key = state.keys
  return () => key++
}
