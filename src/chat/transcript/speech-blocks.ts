import type { Entry, Event } from '../../core/talk/entry.ts'
import type { Block, NewBlock, SpeechBlock } from './block.ts'
import type { Blocks, EventPlace } from './block-list.ts'
import { defined } from '../../base/defined.ts'
import { endsOfPieces, splitAtCalls } from '../../core/talk/call-places.ts'
import { append, held, isCall, placed, replaced } from './block-list.ts'
import { isGrowing } from './block.ts'
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
 * The blocks after text that is in no reply. Streamed text stays in place and becomes this text; in a reopened conversation the text is
 * added.
 */
export function withWords(blocks: Blocks, event: Extract<Event, { type: 'words' }>, place: EventPlace): Blocks {
  if (event.call !== undefined) return withAside(blocks, event, place)
  const streamed = streamedBy(event, place)
  const last = blocks.findLastIndex(streamed)
  const cut = defined({ cut: event.cut })
  if (last < 0) return amongCalls(blocks, event, place, cut)
  return blocks.map((block, at) => (streamed(block) ? { ...asPart(block, event), ...(at === last ? cut : {}) } : block))
}

/** Says whether a block is text that an agent streamed in this turn and that no kept fact contains yet. */
function streamedBy({ by }: Event, { turn }: EventPlace) {
  return (block: Block): block is SpeechBlock =>
    block.type === 'reply' && block.entry === undefined && block.turn === turn && block.by === by
}

/** A streamed text that a kept fact contains now. */
const asPart = (block: SpeechBlock, event: Event): SpeechBlock => ({
  ...block,
  live: false,
  ...defined({ entry: (event as Partial<Entry>).id }),
})

/** The blocks with words that come before a call. */
function withAside(
  blocks: Blocks,
  event: Extract<Event, { type: 'words' }>,
  place: EventPlace,
  cut: Pick<SpeechBlock, 'cut'> = {},
): Blocks {
  const words = placed({ type: 'reply', live: false, ...held(event.text), ...cut }, event, place)
  const streamed = streamedBy(event, place)
  const shown = blocks.findIndex((block) => streamed(block) && block.text.trim() === event.text)
  if (shown >= 0) return replaced(blocks, shown, { ...words, key: blocks[shown]!.key })
  const call = blocks.findIndex(isCall(event.call!))
  return call < 0 ? [...blocks, words] : [...blocks.slice(0, call), words, ...blocks.slice(call)]
}

/** The blocks after a stored reply. Its parts that were streamed between calls stay in their places. */
export function withReply(blocks: Blocks, event: Extract<Event, { type: 'reply' }>, place: EventPlace): Blocks {
  const reply = (text: string): NewBlock => ({ type: 'reply', live: false, ...held(text) })
  const isMine = streamedBy(event, place)
  const streamed = (block: Block): block is SpeechBlock => isMine(block) && block.live
  const shown = blocks.flatMap((block, at) => (streamed(block) ? [{ block, at }] : []))
  const last = shown.at(-1)
  if (!last) return amongCalls(blocks, event, place)
  const isLastWord = blocks.findLastIndex((block) => block.turn === place.turn && block.type === 'call') < last.at
  const ends = endsOfPieces(
    event.text,
    shown.map(({ block }) => block.text),
  )
  const first = ends.findIndex((end) => end !== undefined)
  // If streamed text differs from the stored text, it is removed wherever the reply contains it, so that nothing is shown twice.
  const isOther = (block: Block) => !streamed(block) || !isIn(event.text, block)
  if (first < 0 && event.calls) return amongCalls(blocks.filter(isOther), event, place)
  const rest = first < 0 ? blocks.filter((block) => isOther(block) || (isLastWord && block === last.block)) : blocks
  const parts = first < 0 ? [] : shown.slice(first)
  const from = isLastWord ? (ends.at(-2) ?? 0) : (ends.at(-1) ?? 0)
  const text = from === 0 ? event.text : event.text.slice(from).replace(leadingBlanks, '')
  const settled = rest.map((block) =>
    parts.some((part) => part.block === block) ? asPart(block as SpeechBlock, event) : block,
  )
  if (!isLastWord && text.trim() !== '') return append(settled, reply(text), event, place)
  const { key } = last.block
  return isLastWord
    ? settled.map((block) => (block.key === key ? { ...placed(reply(text), event, place), key } : block))
    : settled
}

/** Whether a text contains a block's text. A long block has lost its beginning, so only its end is searched for. */
const isIn = (text: string, { dropped, ...block }: SpeechBlock) =>
  text.includes((dropped === undefined ? block.text : block.text.slice(-1000)).trim())

/** White space before a text, without the indentation of its first line. */
const leadingBlanks = /^(?:\s*\n|[^\S\n]+)/

/** The blocks with a text in a conversation that was opened again: the agent's text before each of its calls, and then the rest. */
function amongCalls(
  blocks: Blocks,
  event: Extract<Event, { type: 'reply' | 'words' }>,
  place: EventPlace,
  cut: Pick<SpeechBlock, 'cut'> = {},
): Blocks {
  const isHere = (call: string) => blocks.some((block) => block.turn === place.turn && isCall(call)(block))
  const calls = event.whole ? [] : (event.calls ?? []).filter(({ call }) => isHere(call))
  const { said, rest } = splitAtCalls(event.text, calls)
  const parts = said.map((text, at) => ({ text: text.trim(), call: calls[at]!.call })).filter(({ text }) => text !== '')
  const isWhole = parts.length > 0 && rest.trim() === ''
  const all = parts.reduce((before, part, at) => {
    const words = { ...event, ...part, type: 'words' as const }
    return withAside(before, words, place, isWhole && at === parts.length - 1 ? cut : {})
  }, blocks)
  if (isWhole) return all
  const text = parts.length > 0 ? rest.replace(leadingBlanks, '') : rest
  return append(all, { type: 'reply', live: false, ...held(text), ...cut }, event, place)
}

/** The blocks of a turn whose agent failed: its text stays in place, dimmed. `said` is whether there is any text. */
export function withFailedSpeech(
  blocks: Blocks,
  { by }: Event,
  { turn }: EventPlace,
): { blocks: Blocks; said: boolean } {
  const from = blocks.findLastIndex((block) => block.turn === turn && block.type === 'attempt')
  let said = false
  const all = blocks.map((block, at): Block => {
    const isSpeech = block.type === 'reply' || block.type === 'thought'
    if (at <= from || block.turn !== turn || !isSpeech || !(block.live || block.by === by)) return block
    said ||= block.type === 'reply'
    return { ...block, live: false, failed: true }
  })
  return { blocks: all, said }
}

/** Removes the speech of a turn that is still live, and returns its text as `said`. */
export function withoutLiveSpeech(blocks: Blocks, turn: string): { rest: Blocks; said: string } {
  const goes = (block: Block): block is SpeechBlock => block.turn === turn && isGrowing(block)
  const said = blocks.flatMap((block) => (goes(block) && block.type === 'reply' ? [block.text] : []))
  return { rest: blocks.filter((block) => !goes(block)), said: said.join('\n\n') }
}
