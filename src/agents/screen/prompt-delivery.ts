import type { ScreenFacts } from '../../core/profile/profile.ts'
import type { Failure } from '../../core/talk/outcome.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { ScreenSpec } from './screen-spec.ts'
import type { SoughtPrompt } from './journal-reader.ts'
import type { PastedPrompt } from './screen-answer.ts'
import type { ScreenWatcher, Sight, TurnMarks } from './screen-watcher.ts'
import type { Screen } from '../../core/screen/terminal.ts'
import type { Entry } from '../../core/talk/entry.ts'
import type { Turn } from '../../core/work/agent.ts'
import { chrome, echoRow, squeeze } from './screen-answer.ts'
import { idleRow } from '../../core/screen/reading.ts'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolder } from '../../base/files/files.ts'
import { randomName } from '../../base/id.ts'
import { fenceInstruction, fenceMarks } from '../../core/screen/fence.ts'
import { promptText, entryText } from '../../core/talk/transcript.ts'

/** A longer prompt is put into a file, and the agent is asked to read that file. */
const longestPaste = 32 * 1024

/** The text that is pasted for a turn, and its mark, if it has one. */
export type PreparedPrompt = SoughtPrompt & { remove(): Promise<void> }

type PromptParts = { temp: string; nonce: string; fence: boolean }

/** The prompt for an agent: unchanged if the agent knows the rest of the conversation, otherwise with the part that it missed. */
export function promptFor(
  turn: Turn,
  missed: readonly Entry[],
  { name, metaInstruction }: Pick<ScreenSpec, 'name' | 'metaInstruction'>,
): string {
  const { prompt, attempts, steered } = turn
  const known = attempts.length === 0 && steered.length === 0 && missed.every((entry) => entryText(entry) === '')
  if (!known) return promptText({ agent: name, prompt, history: missed, attempts, steered, metaInstruction }).trimEnd()
  return [prompt.trimEnd(), ...(metaInstruction === undefined ? [] : [metaInstruction])].join('\n\n')
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
      : `Read the file ${file} to its end and do what it says: it is my message, which is too long to paste.`
  return {
    text: fence ? `${body}\n\n${fenceInstruction(nonce)}` : body,
    ...(fence ? { mark: fenceMarks(nonce).close } : {}),
    remove: async () => (file === undefined ? undefined : rm(file, { force: true })),
  }
}

/** The last words of a pasted prompt, by which it is found on a screen. */
export function promptEnd(words: string, nonce: string, { fence }: { fence?: boolean }): string {
  return fence ? fenceInstruction(nonce) : words
}

type DeliveryParts = {
  name: string
  watcher: ScreenWatcher
  facts: ScreenFacts
  clock: Clock
  signal: AbortSignal
  marks: TurnMarks
  /** The mark that the terminal keeps with the paste. */
  nonce: string
  /** Called after the prompt was pasted: from then on the program may have received it. */
  pasted(): Promise<void>
  /** Whether the CLI's own journal contains the prompt. */
  kept(): Promise<boolean>
}

/** How long a paste may take to appear, and a prompt to be accepted. */
const arriveMs = 3_000
const takenMs = 3_000

/** Some programs take an Enter that follows a paste at once for a part of it. */
const pauseMs = 30

/** Nothing is typed for this long after a person's last key. */
const handsMs = 3_000

/**
 * Waits until the person stops typing, and empties the composer: an interrupted prompt may have returned to it, and a killed process may
 * have left a prompt there. If some text remains, nothing is pasted behind it. `last` is the previous prompt, which shows whether a
 * program without a known composer still contains it.
 */
export async function emptyComposer(
  sight: Sight,
  last: string | undefined,
  { name, watcher, facts, clock, signal }: DeliveryParts,
): Promise<{ before: Sight } | { failure: Failure }> {
  const full = (now: Sight) =>
    facts.composer ? (facts.composer(now.screen) ?? '') !== '' : last !== undefined && endsInput(now, last, facts)
  for (;;) {
    const left = handsMs - (await watcher.sinceKeyMs())
    if (left <= 0 || signal.aborted) break
    await clock.sleep(left, signal)
    sight = await watcher.look()
  }
  if (!full(sight) || signal.aborted) return { before: sight }
  for (const key of facts.clear ?? []) await watcher.terminal.press(key)
  const emptied = await watcher.until((now) => !full(now), facts.clear ? takenMs : 0, signal)
  if (emptied.so || signal.aborted) return { before: emptied.sight }
  const { attach } = watcher.terminal
  const place = attach === undefined ? 'in its terminal' : `in its terminal (${attach})`
  const message = `${name} did not get the prompt: its input still holds other text, to which the prompt would be added. Empty its input ${place}, and send the prompt again`
  return { failure: { kind: 'crash', message } }
}

/** Whether the input of a program without a known composer still contains a prompt: the cursor is right behind its last word. */
function endsInput(sight: Sight, text: string, facts: ScreenFacts): boolean {
  const { rows, cursor } = sight.screen
  return isUnsent(sight, text, facts) && cursor.col >= (rows[cursor.row]?.trimEnd().length ?? 0)
}

/** Pastes a prompt, presses Enter once the paste is visible, and checks that the program accepted it. */
export async function deliverPrompt(
  asked: PastedPrompt,
  before: Sight,
  sending: DeliveryParts,
): Promise<Failure | undefined> {
  const { watcher, facts, clock, signal, marks, nonce, pasted } = sending
  const { text } = asked
  await watcher.terminal.paste(text, false, nonce)
  await pasted()
  const arrived = (sight: Sight) => sight.reading.state === 'asking' || pasteArrived(sight, text, facts, before.screen)
  const first = await watcher.until(arrived, arriveMs, signal, marks)
  const sight = first.so ? first.sight : await lateArrival(text, first.sight, arrived, sending)
  asked.held = facts.composer?.(sight.screen)
  await clock.sleep(pauseMs, signal)
  return enter(text, pastePlace(sight.screen, text, facts), sending)
}

/** How long a program that restarts itself, or does not read input yet, may take until its input shows the paste. */
const restartMs = 20_000

/** The beginning of a paste as a terminal shows it when no program reads it. */
const unreadPaste = '^[[200~'

/**
 * Waits for a paste that is not visible yet. If a busy program reads an Enter together with the paste, the Enter counts as part of it. If
 * the paste was lost because the program was restarting itself, it is pasted once more: nothing was entered, and the input must be
 * visible and empty, so the prompt is not sent twice.
 */
async function lateArrival(
  text: string,
  seen: Sight,
  arrived: (sight: Sight) => boolean,
  { watcher, facts, signal, marks, nonce }: DeliveryParts,
): Promise<Sight> {
  const { composer } = facts
  if (!composer || seen.gone) return seen
  const lost = composer(seen.screen) === undefined || seen.screen.rows.some((row) => row.includes(unreadPaste))
  const listens = (sight: Sight) =>
    arrived(sight) ||
    (lost && sight.reading.state === 'idle' && composer(sight.screen) === '' && sight.quietMs >= stillMs * 10)
  const ready = await watcher.until(listens, restartMs, signal, marks)
  if (!ready.so || arrived(ready.sight)) return ready.sight
  await watcher.terminal.paste(text, false, nonce)
  return (await watcher.until(arrived, arriveMs, signal, marks)).sight
}

/** How long a prompt must be in the composer while nothing is drawn until it counts as stranded. */
const strandedMs = 2_000

/**
 * Enters a prompt that is still in the composer although Enter was pressed, because the program ignored that key. Only the prompt itself
 * is entered, never a person's text, and nothing while a person types. Returns whether Enter was pressed.
 */
export async function enterStranded(
  { screen, reading, quietMs, stretch, gone }: Sight,
  { text, held: pasted }: PastedPrompt,
  { watcher, facts }: Pick<DeliveryParts, 'watcher' | 'facts'>,
): Promise<boolean> {
  if (gone || reading.state !== 'idle' || quietMs < strandedMs * stretch) return false
  const held = facts.composer?.(screen) ?? ''
  if (held === '' || (held !== pasted && squeeze(held) !== squeeze(text))) return false
  if ((await watcher.sinceKeyMs()) < handsMs) return false
  await watcher.terminal.press('Enter')
  return true
}

/** Continues with a prompt that was pasted before a crash: enters it if it is still in the composer, and never pastes it again. */
export async function resumeDelivery(text: string, first: Sight, sending: DeliveryParts): Promise<Failure | undefined> {
  const { name, watcher, facts, signal, marks, kept } = sending
  const resting = ({ reading }: Sight) => reading.state === 'idle' && reading.by !== 'fence'
  const waits = (sight: Sight) =>
    isUnsent(sight, text, facts) ||
    (sight.reading.state === 'idle' && !facts.composer && echoesBelowIdle(sight.screen, text, facts))
  const inSight = async () => echoRow(await watcher.terminal.history(longAgo), { text }) >= 0 || (await kept())
  let sight = first
  // A program that draws slowly may have received the paste without showing it yet.
  if (resting(sight) && !waits(sight) && !(await inSight()))
    sight = (await watcher.until((now) => waits(now) || !resting(now), arriveMs, signal, marks)).sight
  if (waits(sight)) return enter(text, pastePlace(sight.screen, text, facts), sending)
  if (!resting(sight) || (await inSight())) return undefined
  return {
    kind: 'crash',
    message: `${name} is idle and does not show the prompt. termaite does not send a prompt twice by itself: look at its terminal, and send the prompt again if it was not answered`,
  }
}

/**
 * Whether a pasted prompt is in the composer and was not entered: the profile finds it there, or the cursor is still in the last row of
 * the text.
 */
export function isUnsent({ screen, reading }: Sight, text: string, { composer }: ScreenFacts): boolean {
  if (reading.by === 'fence' || (reading.by === 'pattern' && reading.state !== 'idle')) return false
  if (composer) return (composer(screen) ?? '') !== ''
  const echo = echoRow(screen.rows, { text })
  return echo >= 0 && screen.cursor.row === echo
}

function echoesBelowIdle(screen: Screen, text: string, { reader }: ScreenFacts): boolean {
  const echo = echoRow(screen.rows, { text })
  return echo >= 0 && echo >= idleRow(screen.rows, reader)
}

/** How many rows back to search for a prompt. */
const longAgo = 20_000

/** Presses Enter, a second time if the prompt is still in the composer, and never if something else is shown. */
async function enter(text: string, then: PastePlace, sending: DeliveryParts): Promise<Failure | undefined> {
  const { name, watcher, facts, signal, marks, kept } = sending
  const taken = async ({ screen, reading, gone }: Sight) =>
    gone !== undefined ||
    reading.by === 'fence' ||
    reading.state === 'asking' ||
    (reading.state === 'busy' && reading.by === 'pattern') ||
    !stillHolds(screen, text, facts, then) ||
    (await kept())
  for (let presses = 0; presses < 2 && !signal.aborted; presses++) {
    await watcher.terminal.press('Enter')
    const { so } = await watcher.until(taken, takenMs, signal, marks)
    if (so) return undefined
  }
  if (signal.aborted) return undefined
  return {
    kind: 'crash',
    message: `${name} did not take its prompt: Enter was pressed twice, and the text is still in its input. Look at its terminal to see why`,
  }
}

/** The position of a pasted text just before Enter, and the last row above the composer that contains text. */
type PastePlace = { row: string; cursor: number; above: string; below: number; found: boolean }

function pastePlace(screen: Screen, text: string, facts: ScreenFacts): PastePlace {
  const echo = echoRow(screen.rows, { text })
  const { row: cursor } = screen.cursor
  return {
    row: composerRow(screen, facts),
    cursor,
    above: rowAbove(screen, facts),
    below: cursor - echo,
    found: echo >= 0,
  }
}

/** Whether the composer still contains the paste: according to the profile, otherwise judged by the rows of the text and the cursor. */
function stillHolds(screen: Screen, text: string, facts: ScreenFacts, then: PastePlace): boolean {
  if (facts.composer) return (facts.composer(screen) ?? '') !== ''
  // If a program does not show typed text, it has accepted the paste once it prints something.
  if (!then.found)
    return (
      composerRow(screen, facts) === then.row &&
      screen.cursor.row === then.cursor &&
      rowAbove(screen, facts) === then.above
    )
  const echo = echoRow(screen.rows, { text })
  if (echo < 0 || echo < idleRow(screen.rows, facts.reader)) return false
  // A cursor that has moved to another row has left the text.
  return screen.cursor.row - echo <= then.below
}

/** How long the screen must stay unchanged after a paste that is displayed as something else. */
const stillMs = 100

/** Whether a paste is visible: as itself, or as the placeholder that the program shows instead. */
function pasteArrived({ screen, quietMs }: Sight, text: string, facts: ScreenFacts, before: Screen): boolean {
  if (facts.composer) return (facts.composer(screen) ?? '') !== ''
  const echo = echoRow(screen.rows, { text })
  if (echo >= 0 && echo !== echoRow(before.rows, { text })) return true
  return quietMs >= stillMs && composerRow(screen, facts) !== composerRow(before, facts)
}

/** Whether the program waits for the next prompt; an idle mark on the echo of the last prompt does not count. */
export function awaitsPrompt(screen: Screen, text: string, { composer, reader }: ScreenFacts): boolean {
  if (composer) return (composer(screen) ?? '') === ''
  const echo = echoRow(screen.rows, { text })
  return echo < 0 || !reader.idle || idleRow(screen.rows, reader) > echo
}

/** The row of the composer: the row of the idle mark, otherwise the row of the cursor. */
function composerRow(screen: Screen, facts: ScreenFacts): string {
  return screen.rows[composerIndex(screen, facts)] ?? ''
}

function composerIndex({ rows, cursor }: Screen, { reader }: ScreenFacts): number {
  const idle = idleRow(rows, reader)
  return idle < 0 ? cursor.row : idle
}

function rowAbove(screen: Screen, facts: ScreenFacts): string {
  return screen.rows.slice(0, composerIndex(screen, facts)).findLast((row) => !chrome.test(row)) ?? ''
}
