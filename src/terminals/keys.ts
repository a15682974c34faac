import type { Key } from '../core/screen/terminal.ts'

/** A key by its name: what a terminal sends for it, and what tmux calls it. */
const named: Record<string, { bytes: string; tmux: string }> = {
  Enter: { bytes: '\r', tmux: 'Enter' },
  Escape: { bytes: '\u001b', tmux: 'Escape' },
  Tab: { bytes: '\t', tmux: 'Tab' },
  'Shift+Tab': { bytes: '\u001b[Z', tmux: 'BTab' },
  Space: { bytes: ' ', tmux: 'Space' },
  Backspace: { bytes: '\u007f', tmux: 'BSpace' },
  Delete: { bytes: '\u001b[3~', tmux: 'DC' },
  Up: { bytes: '\u001b[A', tmux: 'Up' },
  Down: { bytes: '\u001b[B', tmux: 'Down' },
  Right: { bytes: '\u001b[C', tmux: 'Right' },
  Left: { bytes: '\u001b[D', tmux: 'Left' },
  Home: { bytes: '\u001b[H', tmux: 'Home' },
  End: { bytes: '\u001b[F', tmux: 'End' },
  PageUp: { bytes: '\u001b[5~', tmux: 'PPage' },
  PageDown: { bytes: '\u001b[6~', tmux: 'NPage' },
}

const known = (key: Key) => (Object.hasOwn(named, key) ? named[key] : undefined)

const controlled = (key: Key) => /^Ctrl\+([A-Z])$/.exec(key)?.[1]

/** The bytes a terminal sends for a key; `application` is how a program asked for its cursor keys. */
export function keyBytes(key: Key, application = false): string {
  const letter = controlled(key)
  if (letter) return String.fromCharCode(letter.charCodeAt(0) - 64)
  const bytes = known(key)?.bytes ?? key
  return application ? bytes.replace(/^\u001b\[([A-DFH])$/, '\u001bO$1') : bytes
}

/** What tmux calls a key; undefined for what is only a text. */
export function tmuxKey(key: Key): string | undefined {
  const letter = controlled(key)
  return letter ? `C-${letter.toLowerCase()}` : known(key)?.tmux
}

/** One bracketed paste: a text that holds the closing mark cannot end it early and go on as keys. */
export function pasteBytes(text: string): string {
  return `\u001b[200~${pasteText(text)}\u001b[201~`
}

/** Lines end as Enter does; marks lose what makes them marks, and nothing else: taken out whole, they could put another together. */
export function pasteText(text: string): string {
  return text.replaceAll(/\r\n|\n/g, '\r').replaceAll(/\u001b+(?=\[20[01]~)|\u009b+(?=20[01]~)/g, '')
}

/** For a program that does not know pastes: no byte of it acts as a control key, but the ends of its lines. */
export function typedText(text: string): string {
  return pasteText(text).replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g, '')
}
