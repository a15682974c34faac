import type { Key } from '../core/screen/terminal.ts'

const named: Record<string, string> = {
  Enter: '\r',
  Escape: '\u001b',
  Tab: '\t',
  Up: '\u001b[A',
  Down: '\u001b[B',
  Right: '\u001b[C',
  Left: '\u001b[D',
}

/** The bytes a terminal sends for a key. */
export function keyBytes(key: Key): string {
  const letter = /^Ctrl\+([A-Z])$/.exec(key)?.[1]
  if (letter) return String.fromCharCode(letter.charCodeAt(0) - 64)
  return named[key] ?? key
}

/** One bracketed paste: a text that holds the closing mark cannot end it early and go on as keys. */
export function pasteBytes(text: string): string {
  return `\u001b[200~${text.replaceAll(/\u001b\[20[01]~/g, '')}\u001b[201~`
}
