import type { Entry, Fact } from '../../src/core/talk/entry.ts'

/** Entries of one session, a second apart, with ids e1, e2 … */
export function entryMaker(session = 's') {
  let count = 0
  return (turn: string, by: string, fact: Fact): Entry => {
    count++
    return { id: `e${count}`, at: count * 1_000, by, session, turn, ...fact }
  }
}

/** A whole turn that `by` answered. */
export function answeredTurn(
  make: ReturnType<typeof entryMaker>,
  turn: string,
  prompt: string,
  by: string,
  text: string,
) {
  return [
    make(turn, 'user', { type: 'prompt', text: prompt }),
    make(turn, by, { type: 'reply', text }),
    make(turn, by, { type: 'end', outcome: { ok: true, text } }),
  ]
}

/** All that a stream yields, and what it returns. */
export async function drained<E, R>(stream: AsyncGenerator<E, R>): Promise<{ events: E[]; result: R }> {
  const events: E[] = []
  for (;;) {
    const next = await stream.next()
    if (next.done) return { events, result: next.value }
    events.push(next.value)
  }
}

export const idsOf = (entries: readonly Entry[]) => entries.map((entry) => entry.id)
