import type { Failure } from '../../core/talk/outcome.ts'
import type { Leash } from '../../core/work/agent.ts'
import type { Sight } from './eye.ts'
import type { Waiting } from './ready.ts'
import type { Came, Sitting } from './sitting.ts'
import { wordsOf } from '../../base/words.ts'
import { readied } from './ready.ts'
import { endedOf } from './words.ts'

export type Seated = { came: Came; sight: Sight } | { failure: Failure }

/** Takes the seat and waits until it can be typed to; undefined when the wait was broken off. */
export async function takeSeat(
  sitting: Sitting,
  thread: string | undefined,
  leash: Leash,
  waiting: Waiting,
): Promise<Seated | undefined> {
  try {
    const first = await once(sitting, await sitting.sit(thread, leash), waiting)
    if (!first || !('failure' in first) || !sitting.eye.gone) return first
    // Whoever watches it saw it leave as well, and decides whether another one is opened.
    if (waiting.signal.aborted) return undefined
    // It had left before anyone came: it is begun again, or goes on with its thread.
    if (first.came === 'there') return await once(sitting, await sitting.sit(thread, leash), waiting)
    const lost = waiting.spec.profile?.lostThread?.(endedOf(await sitting.eye.look())) === true
    if (first.came !== 'resumed' || !lost) return first
    return await once(sitting, await sitting.anew(), waiting)
  } catch (error) {
    return { failure: { kind: 'crash', message: `${waiting.spec.name} got no terminal: ${wordsOf(error)}` } }
  }
}

async function once(sitting: Sitting, came: Came, waiting: Waiting) {
  if (came !== 'there') await waiting.state('starting')
  const seen = await readied(sitting, waiting)
  return seen && ('kind' in seen ? { came, failure: seen } : { came, sight: seen })
}
