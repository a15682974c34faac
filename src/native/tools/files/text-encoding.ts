/**
 * How the bytes of a text file are decoded and encoded. A file is edited as a `draft`, a text that preserves every byte, so that
 * untouched bytes stay the same. `word` encodes a text for the draft; undefined if the encoding lacks a character.
 */
export type Encoding = {
  name: string
  /** The byte order mark at the beginning of the file. */
  mark: Buffer
  draft(body: Buffer): string
  bytes(draft: string): Buffer
  word(text: string): string | undefined
  shown(draft: string): string
}

const none = Buffer.alloc(0)
const same = (text: string) => text

const utf8: Encoding = {
  name: 'UTF-8',
  mark: none,
  draft: (body) => body.toString('utf8'),
  bytes: (draft) => Buffer.from(draft, 'utf8'),
  word: same,
  shown: same,
}

/** UTF-8 with invalid bytes: it is edited byte by byte, so that these bytes are preserved. */
const torn: Encoding = {
  name: 'UTF-8 with broken characters',
  mark: none,
  draft: (body) => body.toString('latin1'),
  bytes: (draft) => Buffer.from(draft, 'latin1'),
  word: (text) => Buffer.from(text, 'utf8').toString('latin1'),
  shown: (draft) => Buffer.from(draft, 'latin1').toString('utf8'),
}

const utf16: Encoding = {
  name: 'UTF-16 LE',
  mark: Buffer.from([0xff, 0xfe]),
  draft: (body) => body.toString('utf16le'),
  bytes: (draft) => Buffer.from(draft, 'utf16le'),
  word: same,
  shown: same,
}

const utf16be: Encoding = {
  ...utf16,
  name: 'UTF-16 BE',
  mark: Buffer.from([0xfe, 0xff]),
  draft: (body) => utf16.draft(swapBytes(body)),
  bytes: (draft) => utf16.bytes(draft).swap16(),
}

/** Windows-1252 has a character for every byte, so nothing is lost. */
const western: Encoding = {
  name: 'Windows-1252',
  mark: none,
  draft: (body) => new TextDecoder('windows-1252').decode(body),
  bytes: (draft) => Buffer.from(Array.from(draft, (char) => westernBytes().get(char)!)),
  word: (text) => (Array.from(text).every((char) => westernBytes().has(char)) ? text : undefined),
  shown: same,
}

let westernTable: Map<string, number> | undefined
function westernBytes(): Map<string, number> {
  const all = Uint8Array.from({ length: 256 }, (_, byte) => byte)
  return (westernTable ??= new Map(Array.from(western.draft(Buffer.from(all)), (char, byte) => [char, byte])))
}

/** Detects the encoding of a whole file; undefined if the file is not text. */
export function encodingOf(bytes: Buffer): Encoding | undefined {
  const marked = [utf16, utf16be].find(({ mark }) => bytes.subarray(0, 2).equals(mark))
  // An odd byte at the end would be lost.
  if (marked) return bytes.length % 2 === 0 ? marked : undefined
  if (bytes.includes(0)) return undefined
  const mark = bytes.subarray(0, 3).equals(utf8Mark) ? utf8Mark : none
  if (isUtf8(bytes)) return { ...utf8, mark }
  return characters.test(bytes.toString('latin1')) ? { ...torn, mark } : western
}

const utf8Mark = Buffer.from([0xef, 0xbb, 0xbf])

/** A valid multi-byte character; a file that contains one is meant to be UTF-8. */
const characters = /[\xc3-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}/

function isUtf8(bytes: Buffer): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return true
  } catch {
    return false
  }
}

/** Swaps byte pairs; drops an odd byte at the end. */
const swapBytes = (body: Buffer) => Buffer.from(body.subarray(0, body.length & ~1)).swap16()
