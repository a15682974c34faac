import type { Writable } from 'node:stream'
import type { Dialect } from '../../core/work/profile.ts'
import type { Turn } from '../../core/work/agent.ts'

/** Hands over what is typed meanwhile, until the turn is over; whoever says nothing at once has nobody who types. */
export async function steering(
  dialect: Dialect,
  steer: Turn['steer'],
  stdin: Writable,
  over: AbortSignal,
): Promise<void> {
  while (dialect.steer && !over.aborted) {
    const typed = await steer(over)
    if (typed.length === 0) return
    // Loaded when something was typed: it costs a start more than our own code.
    const { randomUUID } = process.getBuiltinModule('node:crypto')
    for (const text of typed) stdin.write(dialect.steer(text, randomUUID()))
  }
}
