import type { Key } from '../../core/screen/terminal.ts'
import { cleanText } from '../../base/text/ansi.ts'

/** Each named key: the bytes that a terminal sends for it, and its name in tmux. */
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

/** The bytes that a terminal sends for a key; `application` is the cursor-key mode that a program can request. */
export function keyBytes(key: Key, application = false): string {
  const letter = controlled(key)
  if (letter) return String.fromCharCode(letter.charCodeAt(0) - 64)
  const bytes = known(key)?.bytes ?? key
  return application ? bytes.replace(/^\u001b\[([A-DFH])$/, '\u001bO$1') : bytes
}

/** The name of a key in tmux; undefined if the key is plain text. */
export function tmuxKey(key: Key): string | undefined {
  const letter = controlled(key)
  return letter ? `C-${letter.toLowerCase()}` : known(key)?.tmux
}

/** One bracketed paste. A text that contains the closing mark cannot end the paste early, so no part of it is taken for keys. */
export function pasteBytes(text: string): string {
  return `\u001b[200~${pasteText(text)}\u001b[201~`
}

/**
 * The body of a paste: plain text, whose lines end like a press of Enter. It contains no escape sequence and no control key, because a
 * program without bracketed paste would take a Ctrl+C or Ctrl+D in a text for the key, and a terminal below it an OSC 52 for a command.
 */
export function pasteText(text: string): string {
  return cleanText(text).replaceAll('\n', '\r')
}
