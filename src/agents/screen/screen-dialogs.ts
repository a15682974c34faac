import type { Clock } from '../../base/time/clock.ts'
import type { Dialog, ScreenFacts } from '../../core/profile/profile.ts'
import type { Screen } from '../../core/screen/terminal.ts'
import type { Ask } from '../../core/talk/question.ts'
import type { ScreenWatcher, Sight } from './screen-watcher.ts'
import { visibleQuestion } from '../visible-question.ts'

type Asking = { name: string; watcher: ScreenWatcher; facts: ScreenFacts; clock: Clock; ask: Ask; signal: AbortSignal }

/** Some programs take keys that come together for one key. */
export const keyGapMs = 40

/** How long a new dialog may not accept keys yet: it could mistake the key of a second dialog for its own. */
const deafMs = 400

/** How long a dialog may stay visible after its answer, and its pointer in place after a key that moves it. */
const goneMs = 5_000
const stepMs = 1_000

/** If a key was accepted, the program draws within this time. */
const heardMs = 1_500

/** The most keys to press for one answer: no menu is longer. */
const mostSteps = 30

/** The dialog that a screen shows; an unknown dialog is shown unchanged, to be answered in the terminal. */
export function dialogOn(sight: Sight, name: string, { dialog, reader }: ScreenFacts): Dialog | undefined {
  if (sight.gone) return undefined
  const known = dialog?.(sight.screen)
  if (known) return known
  return sight.reading.state === 'asking' && reader.asking ? unread(sight.screen, name) : undefined
}

/**
 * Asks the person the question of a dialog, and presses the keys of the answer. If the dialog is answered in the terminal itself, the
 * question is withdrawn. Resolves with whether we answered it.
 */
export async function askDialog(dialog: Dialog, asking: Asking): Promise<boolean> {
  const { name, watcher, facts, clock, ask, signal } = asking
  const seenAt = clock.elapsed()
  const withdrawn = new AbortController()
  const answered = new AbortController()
  let answer: { picks: string[] | undefined } | undefined
  void ask(visibleQuestion(dialog.question), AbortSignal.any([signal, withdrawn.signal])).then(
    (picks) => {
      answer = { picks }
      answered.abort()
    },
    () => answered.abort(),
  )
  const wake = AbortSignal.any([signal, answered.signal])
  while (!wake.aborted) {
    if (!same(dialogOn(await watcher.look(), name, facts), dialog)) break
    await watcher.next(wake)
  }
  withdrawn.abort()
  if (!answer || signal.aborted) return false
  await clock.sleep(Math.max(0, seenAt + deafMs - clock.elapsed()), signal)
  return press(dialog, answer.picks, asking)
}

/** Presses the keys of an answer, and stops when the dialog disappears, so that nothing is typed into another screen. */
async function press(dialog: Dialog, picks: string[] | undefined, asking: Asking): Promise<boolean> {
  const { name, watcher, facts, clock, signal } = asking
  for (let step = 0; step < mostSteps && !signal.aborted; step++) {
    const now = dialogOn(await watcher.look(), name, facts)
    if (!now || !same(now, dialog)) return step > 0
    const keys = now.keys(picks)
    const walks = keys.length > 1 && (keys[0] === 'Up' || keys[0] === 'Down')
    for (const key of walks ? keys.slice(0, 1) : keys) {
      await watcher.terminal.press(key)
      await clock.sleep(keyGapMs, signal)
    }
    if (!walks) {
      const gone = (sight: Sight) => !same(dialogOn(sight, name, facts), dialog)
      const { so, sight } = await watcher.until(gone, heardMs, signal)
      // A program that drew nothing ignored the key; a program that drew gets more time, and never the same key twice.
      if (so || sight.quietMs < heardMs) break
      continue
    }
    // The last key is pressed only after the pointer reached the option.
    const moved = (sight: Sight) => dialogOn(sight, name, facts)?.keys(picks).length !== keys.length
    await watcher.until(moved, stepMs, signal)
  }
  await watcher.until((sight) => !same(dialogOn(sight, name, facts), dialog), goneMs, signal)
  return true
}

/** Whether two dialogs ask the same question; the option under the pointer does not matter. */
function same(a: Dialog | undefined, b: Dialog): boolean {
  const asked = ({ question: { enter: _, ...question } }: Dialog) => JSON.stringify(question)
  return a !== undefined && asked(a) === asked(b)
}

const shownRows = 20

function unread({ rows }: Screen, name: string): Dialog {
  const text = rows
    .filter((row) => row.trim() !== '')
    .slice(-shownRows)
    .join('\n')
  return {
    question: {
      about: 'choice',
      text: `${name} asks a question in its terminal. Answer it there, or decline it here.`,
      from: [],
      shows: [{ type: 'text', text }],
      options: [{ id: 'decline', label: `Decline it: press Escape in the terminal of ${name}`, means: 'no' }],
    },
    keys: () => ['Escape'],
  }
}
