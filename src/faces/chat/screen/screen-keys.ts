import type { Clock } from '../../../base/clock.ts'
import type { ChatDesk } from '../chat-desk.ts'
import type { InputBox } from '../input/input-box.ts'
import { KeybindingsManager, TUI_KEYBINDINGS, isKeyRelease, matchesKey, setKeybindings } from '@earendil-works/pi-tui'
import { leashes } from '../../../core/work/agent.ts'

/** The actions of the screen's own keys; one that returns false leaves the key to the focused component. */
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

/** Leaves Home and End to the text that is typed, and lets Ctrl+F search, as everywhere else. */
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

/** Runs the action of a key; false where the screen does not take it. */
export function pressKey(data: string, actions: KeyActions): boolean {
  if (isKeyRelease(data)) return false
  const key = (Object.keys(keys) as (keyof typeof keys)[]).find((each) => matchesKey(data, each))
  return key !== undefined && actions[keys[key]]()
}

type TypingParts = {
  desk: ChatDesk
  clock: Clock
  input: InputBox
  openAll(): void
  palette(): void
  flash(words: string): void
  leave(): void
}

/** A second Ctrl+C within this time leaves. */
const twiceMs = 2000

/** The actions of the keys while the person types. */
export function typingKeys({ desk, clock, input, ...screen }: TypingParts): KeyActions {
  let interrupted = -Infinity
  return {
    interrupt: () => {
      const now = clock.now()
      // Ctrl+C that cleared a text is not the second of two.
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
      desk.cancel()
      return true
    },
    // In a text Ctrl+D deletes.
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

/** While a card is open it has all keys except the one that cancels. */
export function cardKeys(actions: KeyActions): KeyActions {
  const none = () => false
  return { interrupt: actions.interrupt, escape: none, leave: none, nextLeash: none, openAll: none, palette: none }
}
