import type { Terminal } from '../core/screen/terminal.ts'
import type { Answer, Seen } from '../core/talk/outcome.ts'
import type { Entry } from '../core/talk/entry.ts'
import type { Blobs, Log } from '../core/talk/store.ts'
import type { CrewParts } from './crew-parts.ts'
import type { SlotLedger } from './slot-ledger.ts'
import type { Artifact, Slot, SlotState } from './slot.ts'
import { fenceMarks, findFence, nonceOf, unfolded } from '../core/screen/fence.ts'
import { defined } from '../base/defined.ts'
import { newId } from '../base/id.ts'
import { answerWords } from '../core/talk/outcome.ts'
import { plainPrompt } from '../core/talk/plain-prompt.ts'
import { readText } from '../core/talk/store.ts'
import { fillPlaceholders, placeholders } from '../core/work/dependencies.ts'
import { outcomeOf } from './interrupted-turn.ts'
import { blobsOf, logOf } from './slot-ledger.ts'
import { askedTurn, mayAnswer, nameOf, stateWords } from './slot.ts'

/** A longer artifact is cut, because other agents and clients get the whole text at once. */
export const longestArtifact = 1024 * 1024

/** Stores an answer as a slot's artifact. */
export async function keepArtifact(blobs: Blobs, turn: string, answer: Answer, seen?: Seen): Promise<Artifact> {
  const { body, truncated } = await artifactBody(blobs, answer, seen)
  return { turn, ref: await blobs.put(body, 'text/plain'), fenced: seen?.fenced === true, truncated }
}

/** The text of an answer as it is stored in an artifact, and whether a part of the answer is missing from it. */
async function artifactBody(blobs: Blobs, answer: Answer, seen?: Seen): Promise<{ body: Buffer; truncated: boolean }> {
  const isCut = seen?.whole === false
  const given = await beginning(blobs, answer)
  const body = isCut ? Buffer.concat([Buffer.from(headless), given.body]) : given.body
  const bytes = given.bytes + body.length - given.body.length
  if (bytes <= longestArtifact) return { body, truncated: isCut }
  const place = answer.whole && blobs.place(answer.whole)
  const notice = `\n[cut: this is the beginning of ${bytes} bytes${place ? `; the whole text is in ${place}` : ''}]`
  const head = body.subarray(0, characterEnd(body, longestArtifact - Buffer.byteLength(notice)))
  return { body: Buffer.concat([head, Buffer.from(notice)]), truncated: true }
}

/** The text of an artifact, in the form for callers. */
export type ArtifactText = { output: string; truncated: boolean; fenced: boolean }

/** The answer to a prompt; without one, an empty text with the state of the slot and its answer to an earlier prompt. */
export type SlotAnswer = ArtifactText | Unanswered
export type Unanswered = ArtifactText & { state: SlotState; why?: string; earlier: ArtifactText }

/** A slot with its answer to a prompt, or otherwise with its last answer to an earlier prompt. */
type AnsweredSlot = { slot: Slot; answer?: ArtifactText; earlier?: ArtifactText }

/** Reads the answer of a slot to its last prompt, or to the prompt of `turn`; undefined if there is no such slot. */
export async function answeredSlot(
  parts: CrewParts,
  ledger: SlotLedger,
  id: number,
  turn?: string,
): Promise<AnsweredSlot | undefined> {
  for (;;) {
    const before = await ledger.slot(id)
    if (!before) return undefined
    const asked = turn ?? askedTurn(before)
    const read = await answerTo(parts, ledger, before, asked)
    // Meanwhile a new prompt may have been sent or answered.
    const slot = await ledger.slot(id)
    if (!slot) return undefined
    if (turn !== undefined || (askedTurn(slot) === asked && slot.artifact?.turn === before.artifact?.turn))
      return { slot, ...read }
  }
}

/** The answer to the prompt of a turn, or the last one to an earlier prompt. */
async function answerTo(
  parts: CrewParts,
  ledger: SlotLedger,
  { id, artifact: kept, worker }: Slot,
  asked: string | undefined,
): Promise<Omit<AnsweredSlot, 'slot'>> {
  const { store, workspace } = parts
  const blobs = blobsOf(store, workspace)
  if (kept?.turn !== asked && asked !== undefined && !worker) {
    const answer = await answerInLog(logOf(store, workspace, id), blobs, asked)
    if (answer) return { answer }
  }
  const artifact = await trueArtifact(parts, ledger, id)
  if (!artifact) return {}
  const { truncated, fenced } = artifact
  const text = { output: await readText(blobs, artifact.ref), truncated, fenced }
  return artifact.turn === asked ? { answer: text } : { earlier: text }
}

/**
 * The answer of a slot for a caller, who never gets the answer to another prompt in its place; undefined if the slot has no answer at
 * all.
 */
export function slotAnswer({ slot: { state, why }, answer, earlier }: AnsweredSlot): SlotAnswer | undefined {
  if (answer || !earlier) return answer
  return defined({ output: '', truncated: false, fenced: false, state, why: why || undefined, earlier })
}

/** An answer as text. It begins with a note if it belongs to an earlier prompt, or was scraped from the screen. */
export function artifactText(id: number, answer: SlotAnswer): string {
  const words = ({ output, fenced }: ArtifactText) => answerWords(nameOf(id), output, fenced)
  if (!('earlier' in answer)) return words(answer)
  return `${unansweredWords(id, answer)} Its answer to an earlier prompt:\n${words(answer.earlier)}`
}

/** Says that the last prompt of a slot has no answer. */
export function unansweredWords(id: number, { state, why }: Unanswered): string {
  const isLate = mayAnswer({ state })
  return `${nameOf(id)} ${isLate ? 'has not answered its last prompt yet' : 'did not answer its last prompt'}: it is ${stateWords({ state, why, needs: [] })}.`
}

/** The answer to a prompt, read from the slot's log: the slot itself may lack it, because the disk was full or its keeper died. */
async function answerInLog(log: Log<Entry>, blobs: Blobs, turn: string): Promise<ArtifactText | undefined> {
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

/** How many of the last rows are searched for a fence. */
const mostRows = 20_000

/**
 * The artifact of a slot. If the agent was considered done too early, it may have marked its true answer since then: that answer replaces
 * the artifact, and the slot's log says so.
 */
async function trueArtifact(parts: CrewParts, ledger: SlotLedger, id: number): Promise<Artifact | undefined> {
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

/** The answer inside the fence of the artifact's turn, on the slot's present or last screen. */
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
 * Replaces `{{slot_1.output}}` by the answer of slot 1, with secrets masked, for the slots that this one depends on; by nothing if there
 * is no answer. The text says whether the answer belongs to an earlier prompt, or was scraped from the screen.
 */
export async function withArtifacts(
  text: string,
  slot: Slot,
  { answered, mask }: { answered(id: number): Promise<AnsweredSlot | undefined>; mask(text: string): string },
): Promise<string> {
  const wanted = placeholders(text).filter((id) => slot.needs.includes(Number(id)))
  if (wanted.length === 0) return text
  const outputs = new Map<string, string>()
  for (const id of wanted) {
    const found = await answered(Number(id))
    const answer = found && slotAnswer(found)
    outputs.set(id, answer ? mask(artifactText(Number(id), answer)) : '')
  }
  return plainPrompt(fillPlaceholders(text, (id) => outputs.get(id)))
}

/** Reads only as much of a long answer into memory as can be stored. */
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
