import type { Clock } from '../../base/time/clock.ts'
import type { ChatDesk } from '../desk/chat-desk.ts'
import type { InputBox } from '../input/input-box.ts'
import type { KeyAction } from '../desk/keys.ts'
import type { Leash } from '../../core/work/agent.ts'
import { actionOf } from '../desk/keys.ts'

/** The actions of the screen's own keys; one that returns false leaves the key to the focused component. */
export type KeyActions = Record<KeyAction<'screen'>, () => boolean>

/** Runs the action of a key. Returns false if the screen does not take the key. */
export function pressKey(data: string, actions: KeyActions): boolean {
  const action = actionOf('screen', data)
  return action !== undefined && actions[action]()
}

type TypingParts = {
  desk: ChatDesk
  clock: Clock
  input: InputBox
  openAll(): void
  /** Shows or hides the agents that work inside the turn. */
  board(): void
  palette(): void
  /** Turns the page of a long card or of the transcript. Returns false if there is neither. */
  page(by: 1 | -1): boolean
  suspend(): void
  flash(words: string): void
  leave(): void
}

/** A second Ctrl+C within this time leaves the chat; a second Esc goes back to an earlier prompt. */
const twiceMs = 2000

/** The leash that the key sets next. A key pressed by habit never leads to `all`, which only /leash sets. */
const leashAfter: Record<Leash, Leash> = { read: 'ask', ask: 'edit', edit: 'read', all: 'read' }

/** The actions of the keys while the person types. */
export function typingKeys({ desk, clock, input, ...screen }: TypingParts): KeyActions {
  let interrupted = -Infinity
  let escaped = -Infinity
  return {
    interrupt: () => {
      const now = clock.elapsed()
      // A Ctrl+C that cleared a text does not count as the second of two.
      if (!input.clear()) {
        if (now - interrupted < twiceMs) screen.leave()
        else desk.cancel()
      }
      interrupted = now
      screen.flash('Ctrl+C again leaves')
      return true
    },
    // An open popup takes the key and closes itself.
    escape: () => {
      if (input.popupOpen()) return false
      if (input.leaveInsert()) return true
      const now = clock.elapsed()
      if (desk.cancel() || input.text() !== '') escaped = -Infinity
      else if (now - escaped < twiceMs) {
        escaped = -Infinity
        desk.submit('/rewind')
      } else {
        escaped = now
        screen.flash('Esc again goes back to an earlier prompt')
      }
      return true
    },
    // While text is typed, Ctrl+D deletes.
    leave: () => {
      if (input.text() !== '') return false
      screen.leave()
      return true
    },
    suspend: () => {
      screen.suspend()
      return true
    },
    background: () => {
      if (!desk.moveToBackground()) screen.flash('No running command can go to the background')
      return true
    },
    nextLeash: () => {
      desk.setLeash(leashAfter[desk.standing().leash])
      return true
    },
    openAll: () => {
      screen.openAll()
      return true
    },
    board: () => {
      screen.board()
      return true
    },
    palette: () => {
      screen.palette()
      return true
    },
    pageUp: () => screen.page(-1),
    pageDown: () => screen.page(1),
  }
}

/** While a card is open it has all keys except those that cancel, suspend and turn pages. */
export function cardKeys(actions: KeyActions): KeyActions {
  const none = () => false
  return { ...actions, escape: none, leave: none, nextLeash: none, openAll: none, board: none, palette: none }
}
