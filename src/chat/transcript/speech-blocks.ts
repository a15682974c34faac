import type { Entry, Event } from '../../core/talk/entry.ts'
import type { Block, NewBlock, SpeechBlock } from './block.ts'
import type { Blocks, EventPlace } from './block-list.ts'
import { defined } from '../../base/defined.ts'
import { append, held, isCall, placed, replaced } from './block-list.ts'
import { openFence } from './markdown/markdown-parts.ts'
import { mostShown } from '../style/safe-text.ts'

/** The blocks after one more piece of a reply or a thought that streams. */
export function grown(
  blocks: Blocks,
  type: SpeechBlock['type'],
  delta: string,
  event: Event,
  place: EventPlace,
): Blocks {
  if (delta === '') return blocks
  const at = blocks.findLastIndex((block) => block.turn === place.turn)
  const last = blocks[at]
  if (last?.type !== type || !last.live || last.by !== event.by)
    return append(blocks, { type, live: true, ...tailOf(delta) }, event, place)
  return replaced(blocks, at, { ...last, ...tailOf(last.text + delta, last.dropped) })
}

/**
 * The end of a growing text, from the beginning of a line, and how many characters before it were dropped. Much is dropped at once,
 * because the rest is laid out again. Code stays code: its fence is put before it again.
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

/**
 * The blocks after words that no reply holds. Streamed text stays in place and becomes these words; in a conversation that was opened
 * again the words are added.
 */
export function withWords(blocks: Blocks, event: Extract<Event, { type: 'words' }>, place: EventPlace): Blocks {
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

/** The blocks with words that come before a call. */
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

/** The blocks after a kept reply, which replaces its streamed text. */
export function withReply(blocks: Blocks, event: Extract<Event, { type: 'reply' }>, place: EventPlace): Blocks {
  const { rest, at } = placeReply(blocks, event.text, event.by, place.turn)
  const reply: NewBlock = { type: 'reply', live: false, ...held(event.text) }
  if (at === undefined) return append(rest, reply, event, place)
  return replaced(rest, at, { ...placed(reply, event, place), key: rest[at]!.key })
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
  // A long block has lost its beginning, so only its end is looked for in the reply.
  const words = (block: SpeechBlock) => (block.dropped === undefined ? block.text : block.text.slice(-1000)).trim()
  const stays = (block: Block, at: number) =>
    !mine(block) || (at === last && acted < last) || !text.includes(words(block))
  const rest = blocks.filter(stays)
  return acted < last ? { rest, at: rest.indexOf(blocks[last]!) } : { rest }
}

/** Removes the speech that matches `what` since the last failed attempt of a turn, and returns its text as `said`. */
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
