import type { OperationName, SentFields } from '../../../hub/model/operations/operations.ts'
import type { HubRequest } from './page-request.ts'
import { signal } from '@preact/signals'
import { HubRefusal, call } from './page-connection.ts'

/** The message of the hub's last refusal; shown until the next act. */
export const refused = signal('')

/** Sends a person's act to the hub, and calls `done` afterwards; shows a refusal instead. */
export function act<N extends OperationName>(to: HubRequest<N>, fields?: SentFields<N>, done = () => {}): void {
  refused.value = ''
  call(to, fields).then(done, (error: unknown) => {
    refused.value =
      error instanceof HubRefusal
        ? error.message
        : 'The hub cannot be reached, so nothing was sent. Try again when the page is connected.'
  })
}

/** A notice about an act of the person; `undo` undoes it. */
type Notice = { id: number; words: string; undo?: () => void }

export const notices = signal<readonly Notice[]>([])

/** How long a notice stays. */
const noticeMs = 10_000
/** How long an act that cannot be undone waits before it is sent. */
const graceMs = 6_000

let lastNotice = 0

export function tell(words: string, undo?: () => void): number {
  const id = ++lastNotice
  // Only the newest notices stay: each describes something that is already done.
  notices.value = [...notices.value.slice(-2), undo ? { id, words, undo } : { id, words }]
  setTimeout(() => dropNotice(id), noticeMs)
  return id
}

export function dropNotice(id: number): void {
  notices.value = notices.value.filter((notice) => notice.id !== id)
}

/** Undoes the newest act that can be undone. */
export function undoLast(): void {
  const last = notices.value.findLast(({ undo }) => undo)
  if (!last) return
  dropNotice(last.id)
  last.undo!()
}

/** Performs an act that another act can undo, offers that undo, and calls `done`. */
export function actWithUndo<N extends OperationName>(
  words: string,
  to: HubRequest<N>,
  fields: SentFields<N>,
  undo: () => void,
  done = () => {},
): void {
  act(to, fields, () => {
    tell(words, undo)
    done()
  })
}

const waiting = new Map<string, () => void>()

/** The names of the acts that wait to be sent. */
export const held = signal<ReadonlySet<string>>(new Set())

/**
 * Sends an act that cannot be undone after a few seconds, in which the person can still change their mind. Leaving the page sends it at
 * once. `name` identifies the act, so that it is shown as under way.
 */
export function actLater(name: string, words: string, send: () => void): void {
  waiting.get(name)?.()
  const notice = tell(words, () => over())
  const over = () => {
    clearTimeout(timer)
    waiting.delete(name)
    held.value = new Set(waiting.keys())
    dropNotice(notice)
  }
  const now = () => {
    over()
    send()
  }
  const timer = setTimeout(now, graceMs)
  waiting.set(name, now)
  held.value = new Set(waiting.keys())
}

globalThis.addEventListener?.('pagehide', () => {
  for (const send of [...waiting.values()]) send()
})
