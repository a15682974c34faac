import { crc32 } from 'node:zlib'

/** One message of AWS's binary event stream (`application/vnd.amazon.eventstream`). */
type AwsMessage = { headers: Record<string, string>; payload: Buffer }

/** The length of the beginning of a message: two lengths and their checksum. */
const preludeBytes = 12
/** The prelude and the checksum at the end. */
const frameBytes = 16
/** The longest message that AWS sends. */
const mostBytes = 24 * 1024 * 1024

/** Thrown if the bytes of an event stream are damaged; the connection then counts as cut. */
class BrokenStream extends Error {}

/** Reads the messages of an event stream, however its bytes are split into chunks. An unfinished message at the end is dropped. */
export async function* awsMessages(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<AwsMessage> {
  let parts: Uint8Array[] = []
  let have = 0
  let need = preludeBytes
  for await (const chunk of chunks) {
    parts.push(chunk)
    have += chunk.length
    if (have < need) continue
    let rest = Buffer.concat(parts)
    while (rest.length >= need) {
      if (need === preludeBytes) {
        need = lengthOf(rest)
        continue
      }
      yield message(rest.subarray(0, need))
      rest = rest.subarray(need)
      need = preludeBytes
    }
    parts = [rest]
    have = rest.length
  }
}

function lengthOf(bytes: Buffer): number {
  const total = bytes.readUInt32BE(0)
  if (bytes.readUInt32BE(8) !== crc32(bytes.subarray(0, 8))) throw new BrokenStream('a message has a wrong checksum')
  if (total < frameBytes || total > mostBytes) throw new BrokenStream('a message has an impossible length')
  return total
}

function message(bytes: Buffer): AwsMessage {
  const end = bytes.length - 4
  const body = preludeBytes + bytes.readUInt32BE(4)
  if (bytes.readUInt32BE(end) !== crc32(bytes.subarray(0, end)))
    throw new BrokenStream('a message has a wrong checksum')
  if (body > end) throw new BrokenStream('a message has an impossible length')
  return { headers: headersIn(bytes.subarray(preludeBytes, body)), payload: bytes.subarray(body, end) }
}

/** The number of bytes of each type of value, by its number: true, false, byte, short, int and long; a timestamp (8) and a UUID (9). */
const widths: Record<number, number> = { 0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16 }
const textType = 7
const bytesType = 6

/** Reads the text headers; headers of other types are skipped, because no answer of a model depends on them. */
function headersIn(bytes: Buffer): Record<string, string> {
  const found: Record<string, string> = {}
  for (let at = 0; at < bytes.length;) {
    const nameEnd = at + 1 + bytes.readUInt8(at)
    const name = bytes.toString('utf8', at + 1, nameEnd)
    const type = bytes.readUInt8(nameEnd)
    const sized = type === textType || type === bytesType
    const start = nameEnd + (sized ? 3 : 1)
    const width = sized ? bytes.readUInt16BE(nameEnd + 1) : widths[type]
    if (width === undefined || start + width > bytes.length)
      throw new BrokenStream('a message has headers that end too early')
    if (type === textType) found[name] = bytes.toString('utf8', start, start + width)
    at = start + width
  }
  return found
}
