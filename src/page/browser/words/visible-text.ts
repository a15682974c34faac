/** A part of a text: visible text, or the code of one character that a person would not see. */
type TextPart = { words: string } | { code: number }

/**
 * Characters that are invisible or that move other text: control characters, direction marks, spaces without width, fillers, tags, and
 * characters that break lines. They can make a program look different from what it does. Tab and newline are kept, as are the joiner of
 * emoji and variation selectors.
 */
const unseen =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]|[\u{1d173}-\u{1d17a}\u{e0000}-\u{e007f}]|(?<!\p{Extended_Pictographic}[\ufe0f\u{1f3fb}-\u{1f3ff}]?)\u200d/gu

const names: Readonly<Record<number, string>> = {
  0x00: 'null',
  0x08: 'backspace',
  0x0d: 'carriage return',
  0x1b: 'escape',
  0xad: 'soft hyphen',
  0x061c: 'Arabic letter mark',
  0x200b: 'space without width',
  0x200c: 'non-joiner without width',
  0x200d: 'joiner without width',
  0x200e: 'left-to-right mark',
  0x200f: 'right-to-left mark',
  0x2028: 'line separator',
  0x2029: 'paragraph separator',
  0x202a: 'left-to-right embedding',
  0x202b: 'right-to-left embedding',
  0x202c: 'end of a change of direction',
  0x202d: 'left-to-right override',
  0x202e: 'right-to-left override',
  0x2060: 'word joiner',
  0x2066: 'left-to-right isolate',
  0x2067: 'right-to-left isolate',
  0x2068: 'isolate of any direction',
  0x2069: 'end of an isolate',
  0xfeff: 'byte order mark',
}

/** Splits a text, so that invisible characters can be shown by their names. */
export function textParts(text: string): TextPart[] {
  const parts: TextPart[] = []
  let from = 0
  for (const { 0: found, index } of text.matchAll(unseen)) {
    if (index > from) parts.push({ words: text.slice(from, index) })
    parts.push({ code: found.codePointAt(0)! })
    from = index + found.length
  }
  if (from < text.length) parts.push({ words: text.slice(from) })
  return parts
}

const short: Readonly<Record<number, string>> = { 0x00: 'NUL', 0x07: 'BEL', 0x08: 'BS', 0x0d: 'CR', 0x1b: 'ESC' }

/** The name of a character in a few plain letters, which every font has: "ESC", "U+202E". */
export function codeSign(code: number): string {
  return short[code] ?? `U+${code.toString(16).toUpperCase().padStart(4, '0')}`
}

export function codeName(code: number): string {
  const sign = `U+${code.toString(16).toUpperCase().padStart(4, '0')}`
  const name = names[code]
  return name === undefined ? `${sign}: an invisible character` : `${sign}: ${name}`
}
