/**
 * Adapts the output of one terminal so that another can show it. Drops queries to the terminal, because the program's own terminal has
 * answered them, and drops everything that would leave the alternate screen or erase the person's scrollback; then the whole screen must
 * be drawn again.
 */
export class OutputFilter {
  #held = ''
  #dropped: RegExp

  /** `untitled`: also drops the titles that the program gives its window. */
  constructor(untitled = false) {
    this.#dropped = untitled ? new RegExp(`${dropped.source}|${title}`, 'g') : dropped
  }

  /** `repaint`: a new picture is needed, and there are no bytes. */
  push(bytes: Uint8Array): { bytes: Uint8Array; repaint: boolean } {
    const text = this.#held + Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
    const end = text.length - unfinishedLength(text)
    this.#held = text.slice(end)
    let repaint = false
    const shown = text.slice(0, end).replaceAll(this.#dropped, (sequence: string, modes?: string) => {
      if (sequence === reset || modes?.split(';').some((mode) => alternateScreen.has(mode))) repaint = true
      return modes === undefined ? '' : sequence
    })
    return { bytes: Buffer.from(repaint ? '' : shown, 'latin1'), repaint }
  }
}

const reset = '\u001bc'

const alternateScreen = new Set(['47', '1047', '1049'])

/** Sequences that are dropped, one alternative each; modes, the first one, are only inspected. */
const dropped = new RegExp(
  [
    // Modes, which may include the alternate screen.
    '\\u001b\\[\\?([\\d;]+)([hl])',
    // Queries for the terminal's identity, state, mode, size, version and keyboard.
    '\\u001b\\[[>=]?[\\d;]*c',
    '\\u001b\\[\\??[\\d;]*n',
    '\\u001b\\[\\??[\\d;]*\\$p',
    '\\u001b\\[(?:1[13-9]|2[01])(?:;\\d+)*t',
    '\\u001b\\[>[\\d;]*q',
    '\\u001b\\[\\?u',
    // Queries for the terminal's colours and its clipboard.
    '\\u001b\\](?:[45];\\d+|1\\d|52;[^;\\u0007\\u001b]*);\\?(?:\\u0007|\\u001b\\\\)',
    '\\u001bP[\\d;]*[$+]q[^\\u001b]*\\u001b\\\\',
    '\\u0005',
    // Sequences that wipe the person's scrollback, or reset their whole terminal.
    '\\u001b\\[3J',
    reset,
  ].join('|'),
  'g',
)

const title = '\\u001b\\][012];[^\\u0007\\u001b]*(?:\\u0007|\\u001b\\\\)'

const longestSequence = 256

/** How many characters at the end may be the beginning of a sequence. */
function unfinishedLength(text: string): number {
  const at = text.lastIndexOf('\u001b', text.length - 1)
  const begun = at < 0 ? '' : text.slice(at)
  // A string sequence may end with an escape character of its own.
  const opener = begun === '\u001b' ? text.lastIndexOf('\u001b', at - 1) : at
  const string = opener >= 0 && /^\u001b[\]P]/.test(text.slice(opener)) ? text.slice(opener) : begun
  const whole =
    string === '' ||
    /^\u001b\[[\d;:<=>?]*[ -/]*[@-~]/.test(string) ||
    /^\u001b[\]P][^]*?(?:\u0007|\u001b\\)/.test(string) ||
    /^\u001b[ -/]*[0-OQ-Z\\^-~]/.test(string)
  return whole || string.length > longestSequence ? 0 : string.length
}
