import type { Asker } from '../../hub/model/machine-work.ts'
import { isPlainObject } from '../../base/plain-object.ts'
import { callerRoles } from '../../hub/model/access/hub-key.ts'

/**
 * The frames of every connection between two programs of termaite: between processes of one home, between a machine and its hub, and
 * between hubs. A connection carries many requests at once. One side asks and the other answers; which side asks is independent of
 * which side connected, because a machine behind NAT connects to its hub and is then asked by it. Output of terminals is sent in
 * binary frames, everything else in JSON. Every frame is read as if an enemy had sent it.
 */

/** The version of these frames, and the oldest one that this program still talks to. */
export type WireVersion = { version: number; oldest: number }
export const wireVersion: WireVersion = { version: 2, oldest: 2 }

/** The longest frame. A picture of a terminal and a page of a conversation fit into it. */
export const longestFrame = 2 * 1024 * 1024
/** How much of one stream may be in transit, or unread at a slow reader. */
export const windowBytes = 128 * 1024
/** The most requests and streams that one side may have open at once. */
export const mostAsked = 256
/** Longer reasons are cut, because a person reads them. */
const longestWords = 4_000

/** Why a request failed; `failed` covers every other reason. */
const failureKinds = ['missing', 'conflict', 'wrong', 'long', 'forbidden', 'busy', 'away', 'failed'] as const

type FailureKind = (typeof failureKinds)[number]

/** A request that was not carried out. The message is for a person. */
export class WireFailure extends Error {
  override name = 'WireFailure'
  readonly kind: FailureKind

  constructor(kind: FailureKind, message: string) {
    super(message)
    this.kind = kind
  }
}

/** The kind of an error that states why a request was refused, such as a HubError. */
export function failureKindOf(error: unknown): FailureKind {
  const { kind } = (error ?? {}) as { kind?: unknown }
  return failureKinds.find((each) => each === kind) ?? 'failed'
}

/** A piece of a terminal's output, as an item of a stream. */
export class OutputPiece {
  readonly at: number
  readonly bytes: Uint8Array

  constructor(at: number, bytes: Uint8Array) {
    this.at = at
    this.bytes = bytes
  }
}

/** The frames of the side that asks. */
export type AskingFrame =
  /**
   * `by` is missing between processes of one person. `machine` is set if the other side is a hub, which passes the request on to that
   * machine.
   */
  | { type: 'ask'; id: number; method: string; params: Record<string, unknown>; by?: Asker; machine?: string }
  /** The reader of a stream has consumed this many bytes. */
  | { type: 'more'; id: number; bytes: number }
  /** The asking side no longer wants the answer. */
  | { type: 'leave'; id: number }

/** The frames of the answering side. An answer consists of any number of items, followed by one `done` or `failed`. */
export type AnsweringFrame =
  | { type: 'item'; id: number; item: unknown }
  | { type: 'output'; id: number; at: number; bytes: Uint8Array }
  | { type: 'done'; id: number; result: unknown }
  | { type: 'failed'; id: number; kind: FailureKind; why: string }

/** The first frame of a side, before any request. */
type Greeting = { type: 'hello' | 'welcome' | 'refused' | 'proof'; [field: string]: unknown }

export type FrameData = string | Uint8Array

const headBytes = 12

/** A frame in the form in which it is sent; undefined if it is too long, or cannot be written as JSON. */
export function encodeFrame(frame: AskingFrame | AnsweringFrame | Greeting): FrameData | undefined {
  if (frame.type === 'output') return writtenOutput(frame)
  try {
    const text = JSON.stringify(frame)
    // A character is at most three bytes, so most texts need no counting.
    const fits = text.length * 3 <= longestFrame || new TextEncoder().encode(text).length <= longestFrame
    return fits ? text : undefined
  } catch {
    return undefined
  }
}

function writtenOutput({ id, at, bytes: output }: Extract<AnsweringFrame, { type: 'output' }>): Uint8Array | undefined {
  const bytes = new Uint8Array(headBytes + output.length)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, id)
  view.setFloat64(4, at)
  bytes.set(output, headBytes)
  return bytes.length > longestFrame ? undefined : bytes
}

export const isText = (value: unknown, longest: number): value is string =>
  typeof value === 'string' && value.length > 0 && value.length <= longest

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0

const isId = (value: unknown): value is number => isCount(value) && value > 0 && value <= 0xffff_ffff

/** The object in a JSON frame; undefined if the frame has no object. */
export function objectIn(data: FrameData | undefined): Record<string, unknown> | undefined {
  if (typeof data !== 'string') return undefined
  try {
    const found: unknown = JSON.parse(data)
    return isPlainObject(found) ? found : undefined
  } catch {
    return undefined
  }
}

/** The version in a greeting; undefined if it contains no version. */
export function versionIn({ version, oldest }: Record<string, unknown>): WireVersion | undefined {
  return isCount(version) && isCount(oldest) ? { version, oldest } : undefined
}

/** Which of two sides has to be updated before they can talk; undefined if they can talk now. */
export function olderSide(theirs: WireVersion): 'ours' | 'theirs' | undefined {
  if (theirs.version < wireVersion.oldest) return 'theirs'
  return theirs.oldest > wireVersion.version ? 'ours' : undefined
}

/** Parses a frame of the asking side; undefined if it is not one. */
export function readAsking(data: FrameData): AskingFrame | undefined {
  const found = objectIn(data)
  if (!found) return undefined
  const { type, id, method, params, by, machine, bytes } = found
  if (!isId(id)) return undefined
  if (type === 'leave') return { type, id }
  if (type === 'more') return isCount(bytes) && bytes > 0 && bytes <= longestFrame ? { type, id, bytes } : undefined
  if (type !== 'ask' || !isText(method, 64) || !isPlainObject(params)) return undefined
  const frame: Extract<AskingFrame, { type: 'ask' }> = { type, id, method, params }
  if (by !== undefined) {
    const asker = readAsker(by)
    if (!asker) return undefined
    frame.by = asker
  }
  if (machine !== undefined) {
    if (!isMachineName(machine)) return undefined
    frame.machine = machine
  }
  return frame
}

function readAsker(by: unknown): Asker | undefined {
  if (!isPlainObject(by)) return undefined
  const role = callerRoles.find((each) => each === by.role)
  return role !== undefined && isText(by.name, 200) ? { name: by.name, role } : undefined
}

/** Parses a frame of the answering side; undefined if it is not one. */
export function readAnswering(data: FrameData): AnsweringFrame | undefined {
  if (typeof data !== 'string') return readOutput(data)
  const found = objectIn(data)
  if (!found || !isId(found.id)) return undefined
  const { type, id, item, result, kind, why } = found
  if (type === 'item') return { type, id, item }
  if (type === 'done') return { type, id, result: result ?? null }
  if (type !== 'failed' || typeof why !== 'string') return undefined
  return { type, id, kind: failureKindOf({ kind }), why: shownWords(why) }
}

function readOutput(data: Uint8Array): AnsweringFrame | undefined {
  if (data.length < headBytes) return undefined
  const view = new DataView(data.buffer, data.byteOffset, data.length)
  const [id, at] = [view.getUint32(0), view.getFloat64(4)]
  return isId(id) && isCount(at) ? { type: 'output', id, at, bytes: data.subarray(headBytes) } : undefined
}

/** A text of the other side, made safe for display: without control characters, and not too long. */
export function shownWords(words: string, longest = longestWords): string {
  return words.slice(0, longest).replaceAll(unshown, '')
}

/** Control characters except tabs and line ends, and characters that reverse the direction of text. */
const unshown = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g

/** A machine's name: a valid host name without a slash, because the slash separates it from the names of items on the machine. */
export const isMachineName = (value: unknown): value is string =>
  typeof value === 'string' && /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/.test(value)
