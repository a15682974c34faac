import type { Clock } from '../../../base/clock.ts'
import type { ChatDesk } from '../chat-desk.ts'
import type { InputBox } from '../input/input-box.ts'
import { KeybindingsManager, TUI_KEYBINDINGS, isKeyRelease, matchesKey, setKeybindings } from '@earendil-works/pi-tui'
import { leashes } from '../../../core/work/agent.ts'

/** What the keys of the screen do, and whether they did: what the screen does not take goes to where the cursor is. */
export type KeyActions = Record<'interrupt' | 'escape' | 'leave' | 'nextLeash' | 'openAll' | 'palette', () => boolean>

const keys = {
  'ctrl+c': 'interrupt',
  escape: 'escape',
  'ctrl+d': 'leave',
  'shift+tab': 'nextLeash',
  'ctrl+o': 'openAll',
  f1: 'palette',
  'ctrl+k': 'palette',
} as const

/** Home and End belong to the text that is typed, and Ctrl+F finds, as everywhere else. */
export function bindKeys(): void {
  setKeybindings(
    new KeybindingsManager(TUI_KEYBINDINGS, {
      'tui.altScreen.top': 'ctrl+home',
      'tui.altScreen.bottom': 'ctrl+end',
      'tui.altScreen.search': ['ctrl+f', 'ctrl+shift+f'],
      'tui.editor.cursorRight': 'right',
      'tui.editor.cursorLineStart': ['home', 'ctrl+a'],
      'tui.editor.cursorLineEnd': ['end', 'ctrl+e'],
    }),
  )
}

/** Whether the screen took the key. */
export function pressKey(data: string, wishes: KeyActions): boolean {
  if (isKeyRelease(data)) return false
  const key = (Object.keys(keys) as (keyof typeof keys)[]).find((each) => matchesKey(data, each))
  return key !== undefined && wishes[keys[key]]()
}

export type TypingParts = {
  desk: ChatDesk
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
export function typingKeys({ desk, clock, input, ...screen }: TypingParts): KeyActions {
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
export function cardKeys(wishes: KeyActions): KeyActions {
  const its = () => false
  return { interrupt: wishes.interrupt, escape: its, leave: its, nextLeash: its, openAll: its, palette: its }
}
