import type { Blobs } from '../core/talk/store.ts'
import type { Ledger } from './ledger.ts'
import type { Slot } from './slot.ts'
import { readText } from '../core/talk/store.ts'
import { fillPlaceholders, placeholders } from '../core/work/dependencies.ts'

/** A text with the answers of the slots that it depends on in their places; a slot without an answer gives nothing. */
export async function filled(text: string, slot: Slot, ledger: Ledger, blobs: Blobs): Promise<string> {
  const wanted = placeholders(text).filter((id) => slot.needs.includes(Number(id)))
  if (wanted.length === 0) return text
  const { slots } = await ledger.read()
  const outputs = new Map<string, string>()
  for (const id of wanted) {
    const ref = slots[Number(id)]?.artifact?.ref
    outputs.set(id, ref ? await readText(blobs, ref) : '')
  }
  return fillPlaceholders(text, (id) => outputs.get(id))
}
