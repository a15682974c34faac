/**
 * Yields every event of a generator after `change`, and returns the generator's result: like a `yield*` that sees the events. Leaving
 * early ends the generator and waits for its clean-up.
 */
export async function* relay<In, Out, Result>(
  events: AsyncGenerator<In, Result> | Generator<In, Result>,
  change: (event: In) => Out,
): AsyncGenerator<Out, Result> {
  try {
    for (;;) {
      const next = await events.next()
      if (next.done) return next.value
      yield change(next.value)
    }
  } finally {
    // Does nothing to a generator that is finished; nobody sees the value.
    await events.return(undefined as Result)
  }
}

/** Runs a generator to its end, waiting for `each` on every event, and returns the generator's result. */
export async function drain<T, Result>(
  events: AsyncGenerator<T, Result>,
  each: (event: T) => unknown = () => {},
): Promise<Result> {
  try {
    for (;;) {
      const next = await events.next()
      if (next.done) return next.value
      await each(next.value)
    }
  } finally {
    await events.return(undefined as Result)
  }
}
