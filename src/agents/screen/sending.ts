import type { ScreenFacts } from '../../core/work/profile.ts'
import type { Failure } from '../../core/talk/outcome.ts'
import type { Clock } from '../../base/clock.ts'
import type { Eye, Sight, Sought } from './eye.ts'
import type { Standing } from './composer.ts'
import { arrived, holds, standing } from './composer.ts'
import { echoRow } from './since.ts'

export type Sending = {
  name: string
  eye: Eye
  facts: ScreenFacts
  clock: Clock
  signal: AbortSignal
  sought: Sought
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
export async function emptied(sight: Sight, { eye, facts, clock, signal }: Sending): Promise<Sight> {
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
export async function send(text: string, before: Sight, sending: Sending): Promise<Failure | undefined> {
  const { eye, facts, clock, signal, sought } = sending
  await eye.terminal.paste(text)
  const came = (sight: Sight) => sight.reading.state === 'asking' || arrived(sight, text, facts, before.screen)
  const { sight } = await eye.until(came, arriveMs, signal, sought)
  await clock.sleep(pauseMs, signal)
  return enter(text, standing(sight.screen, text, facts), sending)
}

/** What was pasted before a crash: entered if it still stands in the composer, watched if it was taken, and never pasted again. */
export async function resumeSending(
  text: string,
  { screen, reading }: Sight,
  sending: Sending,
): Promise<Failure | undefined> {
  const { name, eye, facts, kept } = sending
  if (reading.state !== 'idle' || reading.by === 'fence') return undefined
  const now = standing(screen, text, facts)
  const stands = facts.composer ? (facts.composer(screen) ?? '') !== '' : now.found && holds(screen, text, facts, now)
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
export async function enter(text: string, then: Standing, sending: Sending): Promise<Failure | undefined> {
  const { name, eye, facts, signal, sought, kept } = sending
  const taken = async ({ screen, reading, gone }: Sight) =>
    gone !== undefined ||
    reading.by === 'fence' ||
    reading.state === 'asking' ||
    (reading.state === 'busy' && reading.by === 'pattern') ||
    !holds(screen, text, facts, then) ||
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
