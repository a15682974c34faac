import type { ScreenFacts } from '../../core/work/profile.ts'
import type { Failure } from '../../core/talk/outcome.ts'
import type { Clock } from '../../base/clock.ts'
import type { ScreenWatcher, Sight, TurnMarks } from './screen-watcher.ts'
import type { Screen } from '../../core/screen/terminal.ts'
import type { Entry } from '../../core/talk/entry.ts'
import type { Turn } from '../../core/work/agent.ts'
import { echoRow } from './screen-answer.ts'
import { idleRow } from '../../core/screen/reading.ts'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolder } from '../../base/files.ts'
import { randomName } from '../../base/id.ts'
import { fenceInstruction } from '../../core/screen/fence.ts'
import { promptText, entryText } from '../../core/talk/transcript.ts'

export type DeliveryParts = {
  name: string
  eye: ScreenWatcher
  facts: ScreenFacts
  clock: Clock
  signal: AbortSignal
  sought: TurnMarks
  /** Whether the CLI's own journal has the prompt. */
  kept(): Promise<boolean>
}

/** How long a paste may take to be seen, and a prompt to be taken. */
const arriveMs = 3_000
const takenMs = 3_000

/** Some programs take an Enter that comes right behind a paste for a part of it. */
const pauseMs = 30

/** So long after a person's last key nothing is typed. */
const handsMs = 3_000

/** A composer that nobody types into and that holds nothing: an interrupted prompt may have come back to it. */
export async function emptyComposer(sight: Sight, { eye, facts, clock, signal }: DeliveryParts): Promise<Sight> {
  const full = ({ screen }: Sight) => (facts.composer?.(screen) ?? '') !== ''
  for (;;) {
    const left = (await eye.terminal.touched()) + handsMs - clock.now()
    if (left <= 0 || signal.aborted) break
    await clock.sleep(left, signal)
    sight = await eye.look()
  }
  if (!full(sight) || !facts.clear || signal.aborted) return sight
  for (const key of facts.clear) await eye.terminal.press(key)
  return (await eye.until((now) => !full(now), takenMs, signal)).sight
}

/** Pastes a prompt, enters it once it is seen to be there, and looks whether it was taken; a failure says what was seen instead. */
export async function deliverPrompt(text: string, before: Sight, sending: DeliveryParts): Promise<Failure | undefined> {
  const { eye, facts, clock, signal, sought } = sending
  await eye.terminal.paste(text)
  const came = (sight: Sight) => sight.reading.state === 'asking' || pasteArrived(sight, text, facts, before.screen)
  const { sight } = await eye.until(came, arriveMs, signal, sought)
  await clock.sleep(pauseMs, signal)
  return enter(text, pastePlace(sight.screen, text, facts), sending)
}

/** What was pasted before a crash: entered if it still stands in the composer, watched if it was taken, and never pasted again. */
export async function resumeDelivery(
  text: string,
  { screen, reading }: Sight,
  sending: DeliveryParts,
): Promise<Failure | undefined> {
  const { name, eye, facts, kept } = sending
  if (reading.state !== 'idle' || reading.by === 'fence') return undefined
  const now = pastePlace(screen, text, facts)
  const stands = facts.composer
    ? (facts.composer(screen) ?? '') !== ''
    : now.found && stillHolds(screen, text, facts, now)
  if (stands) return enter(text, now, sending)
  const shown = echoRow(await eye.terminal.history(longAgo), text) >= 0 || (await kept())
  if (shown) return undefined
  return {
    kind: 'crash',
    message: `${name} does not show its prompt, and it is not sent twice: it is idle, send it again`,
  }
}

/** So many rows back a prompt is looked for. */
const longAgo = 20_000

/** Enters what stands in the composer: a second time if the first was not heard, and never where something else is shown. */
export async function enter(text: string, then: PastePlace, sending: DeliveryParts): Promise<Failure | undefined> {
  const { name, eye, facts, signal, sought, kept } = sending
  const taken = async ({ screen, reading, gone }: Sight) =>
    gone !== undefined ||
    reading.by === 'fence' ||
    reading.state === 'asking' ||
    (reading.state === 'busy' && reading.by === 'pattern') ||
    !stillHolds(screen, text, facts, then) ||
    (await kept())
  for (let presses = 0; presses < 2 && !signal.aborted; presses++) {
    await eye.terminal.press('Enter')
    const { so } = await eye.until(taken, takenMs, signal, sought)
    if (so) return undefined
  }
  if (signal.aborted) return undefined
  return {
    kind: 'crash',
    message: `${name} did not take its prompt: it was pasted and entered twice, and stands in its composer`,
  }
}

/** Where a pasted text stood just before Enter. */
export type PastePlace = { row: string; below: number; found: boolean }

export function pastePlace(screen: Screen, text: string, facts: ScreenFacts): PastePlace {
  const echo = echoRow(screen.rows, text)
  return { row: composerRow(screen, facts), below: screen.cursor.row - echo, found: echo >= 0 }
}

/** Whether the composer still holds what was pasted: asked of the profile, else seen by where the text and the cursor are. */
export function stillHolds(screen: Screen, text: string, facts: ScreenFacts, then: PastePlace): boolean {
  if (facts.composer) return (facts.composer(screen) ?? '') !== ''
  if (!then.found) return composerRow(screen, facts) === then.row
  const echo = echoRow(screen.rows, text)
  if (echo < 0 || echo < idleRow(screen.rows, facts.reader)) return false
  // The cursor went on to another row, or stayed with the text.
  return screen.cursor.row - echo <= then.below
}

/** How long nothing is drawn behind a paste that is shown as something else. */
const stillMs = 100

/** Whether a paste is in sight: as itself, or as whatever the program puts in its place. */
export function pasteArrived({ screen, quietMs }: Sight, text: string, facts: ScreenFacts, before: Screen): boolean {
  if (facts.composer) return (facts.composer(screen) ?? '') !== ''
  const echo = echoRow(screen.rows, text)
  if (echo >= 0 && echo !== echoRow(before.rows, text)) return true
  return quietMs >= stillMs && composerRow(screen, facts) !== composerRow(before, facts)
}

/** Whether the program waits for the next prompt: an idle mark that is only the echo's own does not say so. */
export function awaitsPrompt(screen: Screen, text: string, { composer, reader }: ScreenFacts): boolean {
  if (composer) return (composer(screen) ?? '') === ''
  const echo = echoRow(screen.rows, text)
  return echo < 0 || !reader.idle || idleRow(screen.rows, reader) > echo
}

/** The row that what is typed stands on: that of the idle mark, else that of the cursor. */
function composerRow({ rows, cursor }: Screen, { reader }: ScreenFacts): string {
  const idle = idleRow(rows, reader)
  return rows[idle < 0 ? cursor.row : idle] ?? ''
}

/** Longer ones are put into a file, and the agent is told to read it. */
const longestPaste = 32 * 1024

/** What is pasted for a turn, and the text by which a journal knows it. */
export type PreparedPrompt = { text: string; mark: string; remove(): Promise<void> }

type PromptParts = { temp: string; nonce: string; fence: boolean }

/** A prompt as the agent is told it: as it was typed where it knows the rest, else with what it missed. */
export function promptFor(turn: Turn, missed: readonly Entry[], name: string): string {
  const { prompt, attempts, steered } = turn
  const known = attempts.length === 0 && steered.length === 0 && missed.every((entry) => entryText(entry) === '')
  const words = known ? prompt : promptText({ agent: name, prompt, history: missed, attempts, steered })
  return words.trimEnd()
}

export async function preparePrompt(words: string, { temp, nonce, fence }: PromptParts): Promise<PreparedPrompt> {
  const file = Buffer.byteLength(words) > longestPaste ? join(temp, `prompt-${nonce}-${randomName()}.md`) : undefined
  if (file !== undefined) {
    makeFolder(temp)
    await writeFile(file, `${words}\n`, { mode: 0o600 })
  }
  const body =
    file === undefined
      ? words
      : `Read the file ${file} to its end and do what it says: it is my message, which is too long to be pasted.`
  return {
    text: fence ? `${body}\n\n${fenceInstruction(nonce)}` : body,
    mark: fence ? nonce : longestLine(body),
    remove: async () => (file === undefined ? undefined : rm(file, { force: true })),
  }
}

const longestMark = 200

/** Without a nonce a prompt is known by the line of it that says most. */
function longestLine(text: string): string {
  return text
    .split('\n')
    .reduce((longest, line) => (line.trim().length > longest.length ? line.trim() : longest), '')
    .slice(0, longestMark)
}
