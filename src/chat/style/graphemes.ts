/**
 * The characters and words of a text. These functions replace those that the screen's library creates when it is loaded; see
 * scripts/chat-library.ts. Node's own are slow at every start of the chat: about 30 ms to make the first segmenter, and as long for the
 * first character that is compared with all emoji. Most texts need neither.
 */

/**
 * Texts in which every letter is a character of its own: Latin, punctuation, currencies, arrows, lines, blocks, signs, Braille.
 * Marks that join other letters, and letters outside of the basic plane, are not among them.
 */
const plain = /^[\x20-\x7e\xa0-\xac\xae-\u02ff\u2010-\u2027\u2030-\u205e\u20a0-\u20bf\u2190-\u2bff]*$/

type Segmenter = { segment(text: string): Iterable<Intl.SegmentData> }

let graphemes: Intl.Segmenter | undefined
let words: Intl.Segmenter | undefined

export const graphemeSegmenter: Segmenter = {
  segment: (text) =>
    plain.test(text)
      ? Array.from({ length: text.length }, (_, index) => ({ segment: text[index]!, index, input: text }))
      : (graphemes ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' })).segment(text),
}

export const wordSegmenter: Segmenter = {
  segment: (text) => (words ??= new Intl.Segmenter(undefined, { granularity: 'word' })).segment(text),
}

/** Whether one character is an emoji by itself; the letters that form flags are emoji only in pairs. */
const singleEmoji = /^[\p{Emoji_Presentation}--\p{Regional_Indicator}]$/v

let emoji: RegExp | undefined

/** Whether a character is an emoji that is meant for interchange. */
export const rgiEmojiRegex = {
  test: (character: string): boolean =>
    character.length > String.fromCodePoint(character.codePointAt(0) ?? 0).length
      ? (emoji ??= new RegExp('^\\p{RGI_Emoji}$', 'v')).test(character)
      : singleEmoji.test(character),
}
