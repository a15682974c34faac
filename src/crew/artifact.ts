import type { Terminal } from '../core/screen/terminal.ts'
import type { Answer, Seen } from '../core/talk/outcome.ts'
import type { Entry } from '../core/talk/entry.ts'
import type { Blobs, Log } from '../core/talk/store.ts'
import type { CrewParts } from './crew-parts.ts'
import type { SlotLedger } from './slot-ledger.ts'
import type { Artifact, Slot } from './slot.ts'
import { fenceMarks, findFence, nonceOf, unfolded } from '../core/screen/fence.ts'
import { newId } from '../base/id.ts'
import { plainPrompt } from '../core/talk/plain-prompt.ts'
import { readText } from '../core/talk/store.ts'
import { fillPlaceholders, placeholders } from '../core/work/dependencies.ts'
import { outcomeOf } from './interrupted-turn.ts'
import { blobsOf, logOf } from './slot-ledger.ts'

/** A longer artifact is cut, because it is handed whole to other agents and to clients. */
export const longestArtifact = 1024 * 1024

/** Keeps an answer as a slot's artifact. */
export async function keepArtifact(blobs: Blobs, turn: string, answer: Answer, seen?: Seen): Promise<Artifact> {
  const { body, truncated } = await artifactBody(blobs, answer, seen)
  return { turn, ref: await blobs.put(body, 'text/plain'), fenced: seen?.fenced === true, truncated }
}

/** The text of an answer as an artifact has it, and whether a part of the answer is missing there. */
async function artifactBody(blobs: Blobs, answer: Answer, seen?: Seen): Promise<{ body: Buffer; truncated: boolean }> {
  const isCut = seen?.whole === false
  const given = await beginning(blobs, answer)
  const body = isCut ? Buffer.concat([Buffer.from(headless), given.body]) : given.body
  const bytes = given.bytes + body.length - given.body.length
  if (bytes <= longestArtifact) return { body, truncated: isCut }
  const place = answer.whole && blobs.place(answer.whole)
  const notice = `\n[cut: this is the beginning of ${bytes} bytes${place ? `; the whole is in ${place}` : ''}]`
  const head = body.subarray(0, characterEnd(body, longestArtifact - Buffer.byteLength(notice)))
  return { body: Buffer.concat([head, Buffer.from(notice)]), truncated: true }
}

/** The text of an artifact, as it is handed out. */
export type ArtifactText = { output: string; truncated: boolean; fenced: boolean }

/** The answer to a prompt, read from the log of its slot: the slot itself may not have it, because the disk was full or its keeper died. */
export async function answerInLog(log: Log<Entry>, blobs: Blobs, turn: string): Promise<ArtifactText | undefined> {
  const entries: Entry[] = []
  for await (const { item } of log.back()) {
    if (item?.turn !== turn) continue
    entries.unshift(item)
    if (item.type === 'prompt') break
  }
  const outcome = outcomeOf(turn, entries)
  if (!outcome?.ok) return undefined
  const { body, truncated } = await artifactBody(blobs, outcome, outcome.seen)
  return { output: body.toString(), truncated, fenced: outcome.seen?.fenced === true }
}

const headless = '[cut: the beginning of this answer has scrolled out of the terminal and is lost]\n'

/** How many rows are looked through for a fence. */
const mostRows = 20_000

/**
 * The artifact of a slot. An agent that was considered done too early may have marked its true answer since then: that answer replaces the
 * artifact, and the slot's log says so.
 */
export async function trueArtifact(parts: CrewParts, ledger: SlotLedger, id: number): Promise<Artifact | undefined> {
  const { store, workspace, clock } = parts
  const slot = await ledger.slot(id)
  if (!slot?.artifact || slot.artifact.fenced) return slot?.artifact
  const blobs = blobsOf(store, workspace)
  const { turn } = slot.artifact
  const text = await lateAnswer(slot, slot.artifact, slot.terminal && (await parts.find(slot.terminal.id)), blobs)
  if (text === undefined) return slot.artifact
  const artifact = await keepArtifact(blobs, turn, { text }, { fenced: true, by: 'fence' })
  const edited = await ledger.edit(id, (now) => {
    if (now.artifact?.turn !== turn || now.artifact.fenced) return undefined
    return { ...now, artifact, last: now.last && { ...now.last, by: 'fence' } }
  })
  if (edited?.artifact?.ref.sha !== artifact.ref.sha) return edited?.artifact
  const at = clock.now()
  const words = `${slot.agent} marked its answer after this turn had been taken for finished: the marked answer is its artifact now.`
  const { session } = slot
  await logOf(store, workspace, id).append({
    type: 'note',
    text: words,
    id: newId(at),
    at,
    by: 'termaite',
    session,
    turn,
  })
  return artifact
}

/** The answer inside the fence of the artifact's turn, on the screen of the slot as it is now or as it was last. */
async function lateAnswer(
  { screen }: Slot,
  artifact: Artifact,
  terminal: Terminal | undefined,
  blobs: Blobs,
): Promise<string | undefined> {
  const rows = terminal
    ? await terminal.history(mostRows).catch(() => [])
    : screen
      ? (await readText(blobs, screen)).split('\n')
      : []
  const cols = (await terminal?.screen().catch(() => undefined))?.cols
  return findFence(unfolded(rows, cols).join('\n'), fenceMarks(nonceOf(artifact.turn)))?.answer
}

/**
 * Replaces `{{slot_1.output}}` by the artifact of slot 1, with its secrets masked, for slots that this one depends on;
 * without an artifact by nothing.
 */
export async function withArtifacts(
  text: string,
  slot: Slot,
  {
    artifact,
    blobs,
    mask,
  }: { artifact(id: number): Promise<Artifact | undefined>; blobs: Blobs; mask(text: string): string },
): Promise<string> {
  const wanted = placeholders(text).filter((id) => slot.needs.includes(Number(id)))
  if (wanted.length === 0) return text
  const outputs = new Map<string, string>()
  for (const id of wanted) {
    const ref = (await artifact(Number(id)))?.ref
    outputs.set(id, ref ? mask(await readText(blobs, ref)) : '')
  }
  return plainPrompt(fillPlaceholders(text, (id) => outputs.get(id)))
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
