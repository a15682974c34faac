import type { Answer } from '../core/talk/outcome.ts'
import type { Blobs } from '../core/talk/store.ts'
import type { SlotLedger } from './slot-ledger.ts'
import type { Artifact, Slot } from './slot.ts'
import { readText } from '../core/talk/store.ts'
import { fillPlaceholders, placeholders } from '../core/work/dependencies.ts'

/** A longer artifact is cut, because it is handed whole to other agents and to clients. */
export const longestArtifact = 1024 * 1024

/** Keeps an answer as a slot's artifact. */
export async function keepArtifact(blobs: Blobs, turn: string, answer: Answer, fenced: boolean): Promise<Artifact> {
  const { body, bytes } = await beginning(blobs, answer)
  if (bytes <= longestArtifact) return { turn, ref: await blobs.put(body, 'text/plain'), fenced, truncated: false }
  const place = answer.whole && blobs.place(answer.whole)
  const notice = `\n[cut: this is the beginning of ${bytes} bytes${place ? `; the whole is in ${place}` : ''}]`
  const head = body.subarray(0, characterEnd(body, longestArtifact - Buffer.byteLength(notice)))
  return {
    turn,
    ref: await blobs.put(Buffer.concat([head, Buffer.from(notice)]), 'text/plain'),
    fenced,
    truncated: true,
  }
}

/**
 * Replaces `{{slot_1.output}}` by the artifact of slot 1, with its secrets masked, for slots that this one depends on;
 * without an artifact by nothing.
 */
export async function withArtifacts(
  text: string,
  slot: Slot,
  { ledger, blobs, mask }: { ledger: SlotLedger; blobs: Blobs; mask(text: string): string },
): Promise<string> {
  const wanted = placeholders(text).filter((id) => slot.needs.includes(Number(id)))
  if (wanted.length === 0) return text
  const { slots } = await ledger.read()
  const outputs = new Map<string, string>()
  for (const id of wanted) {
    const ref = slots[Number(id)]?.artifact?.ref
    outputs.set(id, ref ? mask(await readText(blobs, ref)) : '')
  }
  return fillPlaceholders(text, (id) => outputs.get(id))
}

/** Reads no more of a long answer into memory than can be kept. */
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

/** The last position at or before `end` that is not inside a UTF-8 character. */
function characterEnd(body: Uint8Array, end: number): number {
  while (end > 0 && (body[end]! & 0xc0) === 0x80) end--
  return end
}
