import type { Event } from '../../core/talk/entry.ts'
import { cutMiddle } from '../../core/talk/body.ts'

/** Two processes talk only when their versions are equal; raised when an older side would misunderstand. */
export const version = 1

/** Readers drop a longer line, so writers cut it first. */
export const longestFrame = 1024 ** 2

/** The first line that a server sends. */
type Hello = { termaite: 'peer'; version: number; pid: number }

/** `leave` ends the stream of the request with its id. */
type Request = { id: number; method: string; params?: Record<string, unknown> }

/** A stream sends any number of events, or of a terminal's output, before it is done. */
type Reply =
  | { id: number; event: Event }
  | { id: number; drawn: DrawnBytes }
  | { id: number; done: unknown }
  | { id: number; error: string }

/** Output of a terminal at its position, in base 64. */
export type DrawnBytes = { at: number; bytes: string }

/** A frame as one line; undefined when it would be too long, or is no JSON. */
export function frameOf(frame: Hello | Request | Reply): string | undefined {
  const line = written(frame)
  return line !== undefined && line.length < longestFrame ? `${line}\n` : undefined
}

/** The frame of an event; a long event is cut and says where the whole of it is. */
export function eventFrame(id: number, event: Event): string {
  return (
    frameOf({ id, event }) ?? frameOf({ id, event: shortened(event) }) ?? frameOf({ id, event: placeholder(event) })!
  )
}

/** Reads a frame; undefined for a line that is none. */
export function readFrame(line: string): Record<string, unknown> | undefined {
  try {
    const frame: unknown = JSON.parse(line)
    return typeof frame === 'object' && frame !== null ? (frame as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

function shortened(event: Event): Event {
  const place = placeOf(event)
  const short = written(event, (_key, value) => (typeof value === 'string' ? cutMiddle(value, place) : value))
  return short === undefined ? placeholder(event) : (JSON.parse(short) as Event)
}

function placeholder(event: Event): Event {
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
