import type { Clock } from '../../../base/clock.ts'
import type { Desk } from '../desk.ts'
import type { InputBox } from '../input/input.ts'
import type { Wishes } from './keys.ts'
import { leashes } from '../../../core/work/agent.ts'

export type WishParts = {
  desk: Desk
  clock: Clock
  input: InputBox
  openAll(): void
  palette(): void
  flash(words: string): void
  leave(): void
}

/** Two presses of Ctrl+C within this long leave. */
const twiceMs = 2000

/** What the keys mean while a person types. */
export function typing({ desk, clock, input, ...screen }: WishParts): Wishes {
  let interrupted = -Infinity
  return {
    interrupt: () => {
      const now = clock.now()
      // Whoever typed in between does not mean the second of two.
      if (!input.clear()) {
        if (now - interrupted < twiceMs) screen.leave()
        else desk.cancel()
      }
      interrupted = now
      screen.flash('Ctrl+C again leaves')
      return true
    },
    // A popup that is open closes itself.
    escape: () => {
      if (input.popupOpen()) return false
      desk.cancel()
      return true
    },
    // In a text it deletes.
    leave: () => {
      if (input.text() !== '') return false
      screen.leave()
      return true
    },
    nextLeash: () => {
      const at = leashes.indexOf(desk.standing().leash)
      desk.setLeash(leashes[(at + 1) % leashes.length]!)
      return true
    },
    openAll: () => {
      screen.openAll()
      return true
    },
    palette: () => {
      screen.palette()
      return true
    },
  }
}

/** While a card is open all keys are its own, but the one that stops everything. */
export function answering(wishes: Wishes): Wishes {
  const its = () => false
  return { interrupt: wishes.interrupt, escape: its, leave: its, nextLeash: its, openAll: its, palette: its }
}
