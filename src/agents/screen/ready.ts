import type { Clock } from '../../base/clock.ts'
import type { Failure } from '../../core/talk/outcome.ts'
import type { Ask } from '../../core/talk/question.ts'
import type { Live } from '../../core/talk/entry.ts'
import type { Sight } from './eye.ts'
import type { Sitting } from './sitting.ts'
import type { ScreenSpec } from './spec.ts'
import { askDialog, dialogOn } from './dialogs.ts'
import { declined, leftEarly, strange } from './words.ts'

export type State = Extract<Live, { type: 'state' }>['state']

export type Waiting = {
  spec: ScreenSpec
  clock: Clock
  ask: Ask
  signal: AbortSignal
  /** A sign of life. */
  heard(): void
  state(state: State): Promise<void>
}

/** How long a screen that is not known may stand still; an empty one is only slow. */
const strangeMs = 20_000

/** How long a program that just began must draw nothing to be ready, and how long it is waited for that. */
const stillMs = 300
const mostDrawnMs = 2_000

/** Who leaves so soon after an answer leaves because of it. */
const leaveMs = 3_000

/** Waits until a prompt can be typed, and asks what the CLI asks on the way; undefined when the wait was broken off. */
export async function readied(
  sitting: Sitting,
  { spec, clock, ask, signal, heard, state }: Waiting,
): Promise<Sight | Failure | undefined> {
  const { eye, facts } = sitting
  const { ready, idle } = facts.reader
  const began = !sitting.ready
  let seen = !began || ready === undefined
  let drawnAt = -Infinity
  let answered = { text: '', at: -Infinity }
  let standsSince: number | undefined
  while (!signal.aborted) {
    const sight = await eye.look()
    const { screen, reading, quietMs, at } = sight
    if (sight.gone && at - answered.at < leaveMs) return declined(spec, answered.text)
    if (sight.gone) return leftEarly(spec, sight, began ? 'it was ready' : 'it could be asked')
    if (at - quietMs > drawnAt) heard()
    drawnAt = at - quietMs
    seen ||= ready?.test(screen.rows.join('\n')) ?? true
    const dialog =
      reading.state === 'asking' || reading.state === 'unknown' ? dialogOn(sight, spec.name, facts) : undefined
    if (dialog) {
      await state('asking')
      if (await askDialog(dialog, { name: spec.name, eye, facts, clock, ask, signal }))
        answered = { text: dialog.question.text, at: clock.now() }
      if (began) await state('starting')
      continue
    }
    // A program that is known by its ready mark alone is ready when it stands there.
    const stands = seen && (reading.state === 'idle' || (ready !== undefined && idle === undefined))
    if (stands) standsSince ??= at
    // Some draw their composer first, and what was said before or what they ask only then.
    const drawing = began && quietMs < stillMs && at - (standsSince ?? at) < mostDrawnMs
    sitting.ready ||= stands && !drawing
    if (sitting.ready && (reading.state === 'idle' || began)) return sight
    if (stands && drawing) {
      await eye.next(signal, stillMs - quietMs)
      continue
    }
    const shows = screen.rows.some((row) => row.trim() !== '')
    if (reading.state === 'unknown' && shows && quietMs >= strangeMs) return strange(spec, sight, eye.terminal.attach)
    await eye.next(signal)
  }
  return undefined
}
