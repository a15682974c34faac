/** One event of a stream: its name, its data, and its number if it has one. */
export type StreamEvent = { type: string; data: string; id?: string }

/**
 * Parses the events of a stream, however it is split into pieces; skips comments and events without a name. Calls `hear` for each piece,
 * even one without an event, because it shows that the hub is alive.
 */
export async function* streamEvents(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  hear: () => void = () => {},
): AsyncGenerator<StreamEvent> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      hear()
      if (done) return
      const parts = (rest + value).split('\n\n')
      rest = parts.pop() ?? ''
      for (const part of parts) {
        const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(part)?.[1]
        const [type, id] = [field('event'), field('id')]
        if (type === undefined) continue
        const event = { type, data: field('data') ?? '{}' }
        yield id === undefined ? event : { ...event, id }
      }
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}
