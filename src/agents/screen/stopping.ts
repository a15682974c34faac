import type { Clock } from '../../base/clock.ts'
import type { Key } from '../../core/screen/terminal.ts'
import type { Sight } from './eye.ts'
import type { Sitting } from './sitting.ts'
import { waits } from './composer.ts'
import { dialogOn, keyGapMs } from './dialogs.ts'

/** How long a program may take to come to rest after the keys that stop it; one without marks shows that by its quiet. */
const restMs = 1_500
const quietRestMs = 2_200

/** How long a prompt that was taken may take to show. */
const beginMs = 1_500

const never = new AbortController().signal

/** Makes a program stop what it is at, by its own keys and then by Ctrl+C; one that does not is ended. */
export async function stopWork({ eye, facts }: Sitting, text: string, name: string): Promise<void> {
  const steps: (readonly Key[])[] = facts.reader.idle
    ? [facts.interrupt, facts.interrupt, ['Ctrl+C']]
    : [facts.interrupt, ['Ctrl+C']]
  // An interrupted prompt may come back to the composer: it is emptied before the next one.
  const rests = ({ screen, reading, gone }: Sight) =>
    gone !== undefined || (reading.state === 'idle' && (facts.composer !== undefined || waits(screen, text, facts)))
  // A prompt that was just taken may not show yet that it is worked on: keys that come before that stop nothing.
  if (facts.reader.busy)
    await eye.until(({ reading, gone }) => gone !== undefined || reading.state !== 'idle', beginMs, never)
  for (const keys of steps) {
    const sight = await eye.look()
    if (sight.gone) return
    const dialog = sight.reading.state === 'asking' ? dialogOn(sight, name, facts) : undefined
    for (const key of dialog?.keys() ?? keys) await eye.terminal.press(key)
    if ((await eye.until(rests, facts.reader.idle ? restMs : quietRestMs, never)).so) return
  }
  await eye.terminal.close()
}

/** How long a program may take to leave by itself. */
const leaveMs = 2_000

/** Ends what sits in a terminal: an idle program leaves by its own keys, so that it keeps its session. */
export async function endWork(sitting: Sitting, atRest: boolean, clock: Clock): Promise<void> {
  const terminal = sitting.terminal ?? (await sitting.found())
  if (!terminal) return
  if (atRest && sitting.terminal) await left(sitting, clock).catch(() => {})
  await terminal.close()
}

async function left({ eye, facts }: Sitting, clock: Clock): Promise<void> {
  if (facts.quit.length === 0 || eye.gone || (await eye.look()).reading.state !== 'idle') return
  const away = new AbortController()
  void eye.terminal.exited.then(() => away.abort())
  for (const key of facts.quit) {
    await eye.terminal.press(key)
    await clock.sleep(keyGapMs, away.signal)
  }
  await clock.sleep(leaveMs, away.signal)
}
