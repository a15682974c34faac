/** Far more than any of these waits needs, also on a busy machine: one that is in vain fails and does not hang. */
const patienceMs = 60_000
const pauseMs = 10

/**
 * Waits for something that happens outside of this process and that no event tells of: looks again and again until
 * there is something to see, and gives that back. Where there is an event (an exit, a line, a change of a file), a test
 * waits for the event.
 */
export async function until<T>(look: () => T | Promise<T>): Promise<Exclude<T, false | undefined>> {
  for (const end = performance.now() + patienceMs; ;) {
    const seen = await look()
    if (seen !== false && seen !== undefined) return seen as Exclude<T, false | undefined>
    if (performance.now() > end) throw new Error(`waited in vain for ${look}`)
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}
