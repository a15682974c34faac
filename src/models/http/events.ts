import { Lines } from '../../base/lines.ts'

/** LF, CRLF or CR; a CR at the very end may be half of a CRLF, and is waited for. */
const lineEnds = /\r\n|\n|\r(?!$)/

/** The data of each event of a text/event-stream, however its bytes are cut. */
export async function* eventData(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  let data: string[] = []
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split(lineEnds)
    rest = lines.pop()!
    for (const line of lines) {
      if (line.startsWith('data:')) data.push(line.slice(line[5] === ' ' ? 6 : 5))
      else if (line === '' && data.length > 0) {
        yield data.join('\n')
        data = []
      }
    }
  }
  // Some servers close without the blank line after their last event; a half line is never one.
  if (data.length > 0) yield data.join('\n')
}

/** Each line of a stream of JSON lines. */
export async function* lineData(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  const lines = new Lines()
  for await (const chunk of chunks) yield* lines.push(decoder.decode(chunk, { stream: true }))
  yield* lines.end()
}
