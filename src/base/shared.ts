/** A look that many want at once: whoever asks while one is under way shares the next, because it begins after they asked. */
export function shared<T>(look: () => Promise<T>): () => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  let next: Promise<T> | undefined
  const begin = () => {
    next = undefined
    const begun = look()
    last = begun.catch(() => {})
    return begun
  }
  return () => (next ??= last.then(begin))
}
