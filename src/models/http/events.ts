import { Lines } from '../../base/lines.ts'

/** The data of each event of a text/event-stream, however its bytes are cut. */
export async function* eventData(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  let data: string[] = []
  for await (const chunk of chunks) {
    rest += decoder.decode(chunk, { stream: true })
    let from = 0
    for (let end = lineEnd(rest, from); end; end = lineEnd(rest, from)) {
      const line = rest.slice(from, end.at)
      from = end.next
      if (line.startsWith('data:')) data.push(line.slice(line[5] === ' ' ? 6 : 5))
      else if (line === '' && data.length > 0) {
        yield data.join('\n')
        data = []
      }
    }
    rest = rest.slice(from)
  }
  // Some servers close without the blank line after their last event; a half line is never one.
  if (data.length > 0) yield data.join('\n')
}

/** LF, CRLF or CR; a CR at the very end may be half of a CRLF, and is waited for. */
function lineEnd(text: string, from: number): { at: number; next: number } | undefined {
  const lf = text.indexOf('\n', from)
  const cr = text.indexOf('\r', from)
  if (cr < 0 || (lf >= 0 && lf < cr)) return lf < 0 ? undefined : { at: lf, next: lf + 1 }
  if (cr === text.length - 1) return undefined
  return { at: cr, next: text[cr + 1] === '\n' ? cr + 2 : cr + 1 }
}

/** Each line of a stream of JSON lines. */
export async function* lineData(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  const lines = new Lines()
  for await (const chunk of chunks) yield* lines.push(decoder.decode(chunk, { stream: true }))
  yield* lines.end()
}
