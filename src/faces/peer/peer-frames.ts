import type { Event } from '../../core/talk/entry.ts'
import { cutMiddle } from '../../core/talk/body.ts'

/** Another one is only talked to when it speaks the same: this changes when an older side would misunderstand. */
export const version = 1

/** A longer line is no frame: whoever reads drops it, whoever writes cuts it before. */
export const longestFrame = 1024 ** 2

/** The first line of whoever serves. */
export type Hello = { termaite: 'peer'; version: number; pid: number }

/** `leave` ends the stream of the request with its id. */
export type Request = { id: number; method: string; params?: Record<string, unknown> }

/** A stream gives any number of events, or of what a terminal drew, before it is done. */
export type Reply =
  | { id: number; event: Event }
  | { id: number; drawn: DrawnBytes }
  | { id: number; done: unknown }
  | { id: number; error: string }

/** Bytes at their position, in base 64. */
export type DrawnBytes = { at: number; bytes: string }

/** One line, or nothing when it would be too long to be read, or cannot be written down. */
export function frameOf(frame: Hello | Request | Reply): string | undefined {
  const line = written(frame)
  return line !== undefined && line.length < longestFrame ? `${line}\n` : undefined
}

/** An event always has a frame: a long one is cut and says where the whole is. */
export function eventFrame(id: number, event: Event): string {
  return frameOf({ id, event }) ?? frameOf({ id, event: shorter(event) }) ?? frameOf({ id, event: instead(event) })!
}

/** What a line says; junk says nothing. */
export function readFrame(line: string): Record<string, unknown> | undefined {
  try {
    const frame: unknown = JSON.parse(line)
    return typeof frame === 'object' && frame !== null ? (frame as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

function shorter(event: Event): Event {
  const place = placeOf(event)
  const short = written(event, (_key, value) => (typeof value === 'string' ? cutMiddle(value, place) : value))
  return short === undefined ? instead(event) : (JSON.parse(short) as Event)
}

function instead(event: Event): Event {
  const where = placeOf(event)
  return {
    type: 'note',
    by: 'termaite',
    text: `a ${event.type} is too long to be shown here${where ? `: ${where}` : ''}`,
  }
}

function placeOf(event: Event): string | undefined {
  return 'id' in event && typeof event.id === 'string' ? `entry ${event.id} of the conversation` : undefined
}

function written(value: unknown, replace?: (key: string, value: unknown) => unknown): string | undefined {
  try {
    return JSON.stringify(value, replace)
  } catch {
    return undefined
  }
}
