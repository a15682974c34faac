import type { Asker } from '../../core/work/machine-work.ts'
import { isPlainObject } from '../../base/plain-object.ts'
import { callerRoles } from '../../core/work/hub-key.ts'

/**
 * The words of a machine link: one WebSocket that carries many requests at once. One side asks and the other answers; who asks has
 * nothing to do with who connected, because a machine behind NAT connects to its hub and is then asked by it. Output of terminals is
 * sent in binary frames, everything else in JSON. Every frame is read as if an enemy had sent it.
 */

/** The path at which a machine links to its hub, and the path at which another hub of the same ledger does. */
export const linkPath = '/link'
export const relayPath = '/link/hub'

/** The version of these words. Two sides talk when each is at least as new as the oldest version that the other one knows. */
export const linkVersion = 1
export const oldestVersion = 1

/** The longest frame. A picture of a terminal and a page of a conversation fit into it. */
export const longestFrame = 2 * 1024 * 1024
/** How much of one stream may be on its way, or lie at a reader who is slow. */
export const windowBytes = 128 * 1024
/** The most requests and streams that one side asks for at once. */
export const mostAsked = 256
/** The longest reason that is read; the reader shows it to a person. */
const longestWords = 4_000

/** Why a request failed; `failed` stands for every other reason. */
const failureKinds = ['missing', 'conflict', 'wrong', 'long', 'forbidden', 'busy', 'away', 'failed'] as const

export type FailureKind = (typeof failureKinds)[number]

/** The frames of the side that asks. */
export type AskingFrame =
  /** `machine` is named where the other side is a hub, which passes the request on to that machine. */
  | { type: 'ask'; id: number; method: string; params: Record<string, unknown>; by: Asker; machine?: string }
  /** The reader of a stream has taken this many bytes. */
  | { type: 'more'; id: number; bytes: number }
  /** The asking side no longer wants the answer. */
  | { type: 'leave'; id: number }

/** The frames of the side that answers. An answer is any number of items, and then one `done` or `failed`. */
export type AnsweringFrame =
  | { type: 'item'; id: number; item: unknown }
  | { type: 'output'; id: number; at: number; bytes: Uint8Array }
  | { type: 'done'; id: number; result: unknown }
  | { type: 'failed'; id: number; kind: FailureKind; why: string }

/** A piece of a terminal's output, as an item of a stream. */
export class OutputPiece {
  readonly at: number
  readonly bytes: Uint8Array

  constructor(at: number, bytes: Uint8Array) {
    this.at = at
    this.bytes = bytes
  }
}

/** The first frame of a machine. */
export type Hello = {
  type: 'hello'
  version: number
  oldest: number
  /** The version of termaite. */
  termaite: string
  machine: string
  /** A secret of this machine for this hub alone, by which the hub knows the machine again under another key. */
  proof: string
  offers: string[]
  works: string[]
}

/**
 * The first frame of a hub, which lets the machine in or says why not. `retry`: whether it helps to try again later; `served`: the hub
 * runs on this very machine, which needs no link.
 */
export type Welcome =
  | { type: 'welcome'; version: number; termaite: string; machine: string }
  | { type: 'refused'; why: string; retry: boolean; served?: boolean }

const headBytes = 12

/** A frame as it is sent; undefined for one that is too long, or has no JSON. */
export function written(frame: AskingFrame | AnsweringFrame | Hello | Welcome): string | Uint8Array | undefined {
  if (frame.type === 'output') {
    const bytes = new Uint8Array(headBytes + frame.bytes.length)
    const view = new DataView(bytes.buffer)
    view.setUint32(0, frame.id)
    view.setFloat64(4, frame.at)
    bytes.set(frame.bytes, headBytes)
    return bytes.length > longestFrame ? undefined : bytes
  }
  try {
    const text = JSON.stringify(frame)
    // A character is at most three bytes, so that most texts need no counting.
    return text.length * 3 <= longestFrame || Buffer.byteLength(text) <= longestFrame ? text : undefined
  } catch {
    return undefined
  }
}

const isText = (value: unknown, longest: number): value is string =>
  typeof value === 'string' && value.length > 0 && value.length <= longest

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0

const isId = (value: unknown): value is number => isCount(value) && value > 0 && value <= 0xffff_ffff

function parsed(data: string): Record<string, unknown> | undefined {
  try {
    const found: unknown = JSON.parse(data)
    return isPlainObject(found) ? found : undefined
  } catch {
    return undefined
  }
}

/** Reads a frame of the side that asks; undefined where it is none. */
export function readAsking(data: string | Uint8Array): AskingFrame | undefined {
  const found = typeof data === 'string' ? parsed(data) : undefined
  if (!found) return undefined
  const { type, id, method, params, by, machine, bytes } = found
  if (!isId(id)) return undefined
  if (type === 'leave') return { type, id }
  if (type === 'more') return isCount(bytes) && bytes > 0 && bytes <= longestFrame ? { type, id, bytes } : undefined
  if (type !== 'ask' || !isText(method, 64) || !isPlainObject(params)) return undefined
  const asker = readAsker(by)
  if (!asker) return undefined
  if (machine === undefined) return { type, id, method, params, by: asker }
  return isMachineName(machine) ? { type, id, method, params, by: asker, machine } : undefined
}

function readAsker(by: unknown): Asker | undefined {
  if (!isPlainObject(by)) return undefined
  const role = callerRoles.find((each) => each === by.role)
  return role !== undefined && isText(by.name, 200) ? { name: by.name, role } : undefined
}

/** Reads a frame of the side that answers; undefined where it is none. */
export function readAnswering(data: string | Uint8Array): AnsweringFrame | undefined {
  if (typeof data !== 'string') return readOutput(data)
  const found = parsed(data)
  if (!found || !isId(found.id)) return undefined
  const { type, id, item, result, kind, why } = found
  if (type === 'item') return { type, id, item }
  if (type === 'done') return { type, id, result: result ?? null }
  if (type !== 'failed' || typeof why !== 'string') return undefined
  return { type, id, kind: failureKinds.find((each) => each === kind) ?? 'failed', why: shownWords(why) }
}

function readOutput(data: Uint8Array): AnsweringFrame | undefined {
  if (data.length < headBytes) return undefined
  const view = new DataView(data.buffer, data.byteOffset, data.length)
  const [id, at] = [view.getUint32(0), view.getFloat64(4)]
  return isId(id) && isCount(at) ? { type: 'output', id, at, bytes: data.subarray(headBytes) } : undefined
}

/** Words of the other side, fit to be shown: without control characters, and not too long. */
export function shownWords(words: string, longest = longestWords): string {
  return words.slice(0, longest).replaceAll(unshown, '')
}

/** Control characters except tabs and line ends, and those that turn the direction of text around. */
const unshown = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g

/** A machine's name: what a host name can be, without a slash, which separates it from the names of what is on it. */
export const isMachineName = (value: unknown): value is string =>
  typeof value === 'string' && /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/.test(value)

const areNames = (value: unknown): value is string[] =>
  Array.isArray(value) &&
  value.length <= 64 &&
  value.every((each) => typeof each === 'string' && /^[a-z0-9.-]{1,64}$/.test(each))

/** Reads the hello of a machine; a text says what is wrong with it. */
export function readHello(data: string | Uint8Array): Hello | string {
  const found = typeof data === 'string' ? parsed(data) : undefined
  if (found?.type !== 'hello') return 'The first frame of a machine has to be its hello.'
  const { version, oldest, termaite, machine, proof, offers, works } = found
  if (!isCount(version) || !isCount(oldest) || !isText(termaite, 64)) return 'The hello names no version.'
  if (!isMachineName(machine))
    return 'The name of a machine has 1 to 63 letters, digits, dots, hyphens and underscores, and begins with a letter or a digit.'
  if (typeof proof !== 'string' || !/^[0-9a-f]{64}$/.test(proof)) return 'The hello has no proof of the machine.'
  if (!areNames(offers) || !areNames(works)) return 'The hello does not say what the machine offers.'
  return { type: 'hello', version, oldest, termaite: shownWords(termaite), machine, proof, offers, works }
}

/** Reads the first frame of a hub; undefined where it is none. */
export function readWelcome(data: string | Uint8Array): Welcome | undefined {
  const found = typeof data === 'string' ? parsed(data) : undefined
  const { type, version, termaite, machine, why, retry, served } = found ?? {}
  if (type === 'refused')
    return typeof why === 'string'
      ? { type, why: shownWords(why), retry: retry === true, served: served === true }
      : undefined
  if (type !== 'welcome' || !isCount(version) || !isText(termaite, 64) || !isMachineName(machine)) return undefined
  return { type, version, termaite: shownWords(termaite), machine }
}

/** Why two versions cannot talk, for the person at the machine; undefined where they can. */
export function skewWords(machine: Pick<Hello, 'version' | 'oldest' | 'termaite'>, hub: string): string | undefined {
  if (machine.version < oldestVersion)
    return `termaite ${machine.termaite} on this machine is too old for the hub, which runs termaite ${hub}. Update this machine: npm install -g termaite@${hub}`
  if (machine.oldest > linkVersion)
    return `termaite ${machine.termaite} on this machine is too new for the hub, which runs termaite ${hub}. Update the hub first.`
  return undefined
}
