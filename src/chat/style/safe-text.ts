import { terminalText } from '../../base/text/ansi.ts'

/** The most characters of one text that are shown; a hint says how many more there are. */
export const mostShown = 64 * 1024

/**
 * Untrusted text made safe for the screen: control sequences are removed, characters that change the direction of the
 * line are shown by their number, and every character has the same width in every terminal.
 */
export function safeText(text: string): string {
  return terminalText(text)
    .replaceAll('\t', '    ')
    .replaceAll(/[\u2028\u2029]/g, '\n')
}

/** The safe text in one line. */
export function oneLine(text: string, most = 400): string {
  return safeText(text.slice(0, most * 4))
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, most)
}

/** The visible part of a text, and a hint about the rest. */
export function bounded(text: string, more = 0, most = mostShown): { text: string; rest?: string } {
  const over = Math.max(0, text.length - most) + more
  if (over === 0) return { text }
  const words = `… ${over} more characters; /copy or \`termaite sessions show\` has the whole`
  return { text: text.slice(0, most), rest: words }
}
