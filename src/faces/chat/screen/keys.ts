import { KeybindingsManager, TUI_KEYBINDINGS, isKeyRelease, matchesKey, setKeybindings } from '@earendil-works/pi-tui'

/** What the keys of the screen do, and whether they did: what the screen does not take goes to where the cursor is. */
export type Wishes = Record<'interrupt' | 'escape' | 'leave' | 'nextLeash' | 'openAll' | 'palette', () => boolean>

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
export function claimKeys(): void {
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
export function pressed(data: string, wishes: Wishes): boolean {
  if (isKeyRelease(data)) return false
  const key = (Object.keys(keys) as (keyof typeof keys)[]).find((each) => matchesKey(data, each))
  return key !== undefined && wishes[keys[key]]()
}
