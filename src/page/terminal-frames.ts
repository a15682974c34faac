import type { TerminalRow } from '../core/screen/machine-terminals.ts'

/**
 * The frames of the socket that carries all terminals of a page. A channel is one terminal that the page shows; the page chooses its
 * number. Pictures and output are binary frames, everything else is JSON.
 */

/** The path of the socket, and the name of its protocol. The page offers its secret as a second protocol. */
export const terminalsPath = '/api/terminals/socket'
export const terminalsProtocol = 'termaite-terminals'
/** The code and the reason with which the hub closes a connection whose sign-in or key is no longer valid. */
export const signedOut = 4401
export const signedOutReason = 'the sign-in or the key is no longer valid'

/** The frames that a page sends. */
export type PageFrame =
  /** `above`: how many of the rows that have scrolled off the screen the pictures include. */
  | { type: 'open'; channel: number; id: string; above: number }
  | { type: 'close'; channel: number }
  /** How many of the channel's bytes the page has drawn since it was opened. */
  | { type: 'seen'; channel: number; bytes: number }
  | { type: 'take'; channel: number }
  | { type: 'give'; channel: number }
  /** Changes the size of the terminal; only a page that has its keyboard can do that. */
  | { type: 'size'; channel: number; cols: number; rows: number }
  | { type: 'keys'; channel: number; text: string }
  | { type: 'paste'; channel: number; text: string }
  /** The terminals that the page shows as small previews. */
  | { type: 'preview'; ids: string[] }

/** The frames that the hub sends besides pictures and output. */
export type HubFrame =
  | { type: 'terminals'; rows: TerminalRow[] }
  | { type: 'preview'; id: string; rows: string[] }
  /** The page draws more slowly than the program: a picture follows once the page has drawn everything that it received. */
  | { type: 'behind'; channel: number }
  /** Who has the keyboard of the terminal; nobody if `name` is missing. */
  | { type: 'holder'; channel: number; name?: string; yours: boolean }
  /** The program has exited. If the agent is started again in the same terminal, a picture follows. */
  | { type: 'ended'; channel: number; code?: number; signal?: number }
  /** There is no such terminal, or it does not exist yet. */
  | { type: 'missing'; channel: number }
  | { type: 'refused'; channel?: number; why: string }
  /** Shows the page that the connection is alive. */
  | { type: 'beat' }

export type DrawnFrame =
  | { type: 'picture'; channel: number; cols: number; rows: number; bytes: Uint8Array }
  | { type: 'output'; channel: number; bytes: Uint8Array }

const headBytes = 9
const pictureMark = 1

/** Encodes a picture or output as bytes: the kind, the channel, the size of the screen (0 for output), and the content. */
export function drawnBytes(frame: DrawnFrame): Uint8Array {
  const bytes = new Uint8Array(headBytes + frame.bytes.length)
  const view = new DataView(bytes.buffer)
  view.setUint8(0, frame.type === 'picture' ? pictureMark : 0)
  view.setUint32(1, frame.channel)
  if (frame.type === 'picture') {
    view.setUint16(5, frame.cols)
    view.setUint16(7, frame.rows)
  }
  bytes.set(frame.bytes, headBytes)
  return bytes
}

/** Decodes a binary frame; undefined if the bytes are not a frame. */
export function readDrawn(frame: Uint8Array): DrawnFrame | undefined {
  if (frame.length < headBytes) return undefined
  const view = new DataView(frame.buffer, frame.byteOffset, frame.length)
  const channel = view.getUint32(1)
  const bytes = frame.subarray(headBytes)
  if (view.getUint8(0) !== pictureMark) return { type: 'output', channel, bytes }
  return { type: 'picture', channel, cols: view.getUint16(5), rows: view.getUint16(7), bytes }
}

/** Parses a page's frame; undefined if the text is not a frame. */
export function readPageFrame(text: string): PageFrame | undefined {
  let found: Record<string, unknown>
  try {
    found = JSON.parse(text) as Record<string, unknown>
  } catch {
    return undefined
  }
  if (typeof found !== 'object' || found === null) return undefined
  const isCount = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0
  const { type, channel, id, above, bytes, cols, rows, text: typed, ids } = found
  if (type === 'preview')
    return Array.isArray(ids) && ids.every((each) => typeof each === 'string') ? { type, ids } : undefined
  if (!isCount(channel) || Number(channel) > 0xffff_ffff) return undefined
  if (type === 'open' ? typeof id !== 'string' || !isCount(above) : type === 'seen' && !isCount(bytes)) return undefined
  if ((type === 'keys' || type === 'paste') && typeof typed !== 'string') return undefined
  if (type === 'size' && !(isSide(cols) && isSide(rows))) return undefined
  return pageTypes.has(String(type)) ? (found as PageFrame) : undefined
}

const isSide = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 2 && Number(value) <= 1_000

const pageTypes = new Set(['open', 'close', 'seen', 'take', 'give', 'size', 'keys', 'paste'])
