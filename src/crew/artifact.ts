import type { Answer } from '../core/talk/outcome.ts'
import type { Blobs } from '../core/talk/store.ts'
import type { Artifact } from './slot.ts'

/** What is longer is cut: it is given whole to other agents and to whoever fetches it. */
export const longestArtifact = 1024 * 1024

/** Keeps an answer as a slot's artifact. */
export async function keepArtifact(blobs: Blobs, turn: string, answer: Answer, fenced: boolean): Promise<Artifact> {
  const { body, bytes } = await beginning(blobs, answer)
  if (bytes <= longestArtifact) return { turn, ref: await blobs.put(body, 'text/plain'), fenced, truncated: false }
  const place = answer.whole && blobs.place(answer.whole)
  const notice = `\n[cut: this is the beginning of ${bytes} bytes${place ? `; the whole is in ${place}` : ''}]`
  const head = body.subarray(0, wholeLetters(body, longestArtifact - Buffer.byteLength(notice)))
  return {
    turn,
    ref: await blobs.put(Buffer.concat([head, Buffer.from(notice)]), 'text/plain'),
    fenced,
    truncated: true,
  }
}

/** No more of a long body is held in memory than can be kept. */
async function beginning(blobs: Blobs, { text, whole }: Answer): Promise<{ body: Buffer; bytes: number }> {
  if (!whole) {
    const body = Buffer.from(text)
    return { body, bytes: body.length }
  }
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of blobs.read(whole)) {
    chunks.push(chunk)
    length += chunk.length
    if (length > longestArtifact) break
  }
  return { body: Buffer.concat(chunks), bytes: whole.bytes }
}

/** The nearest place at or before `end` that is not inside a letter. */
function wholeLetters(body: Uint8Array, end: number): number {
  while (end > 0 && (body[end]! & 0xc0) === 0x80) end--
  return end
}
