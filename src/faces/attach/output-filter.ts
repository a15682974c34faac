/**
 * What a program draws, as it may be shown on somebody else's terminal. What asks a terminal something is left out,
 * because the one that the program really sits in has answered; so is what would leave our own screen or wipe what the
 * person had before, and then all must be painted anew.
 */
export class OutputFilter {
  #held = ''
  #left: RegExp

  /** `untitled`: what the window is called is not the program's to say. */
  constructor(untitled = false) {
    this.#left = untitled ? new RegExp(`${left.source}|${title}`, 'g') : left
  }

  /** `again`: a new picture is needed, and nothing else. */
  push(bytes: Uint8Array): { bytes: Uint8Array; again: boolean } {
    const text = this.#held + Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
    const end = text.length - unfinished(text)
    this.#held = text.slice(end)
    let again = false
    const shown = text.slice(0, end).replaceAll(this.#left, (sequence: string, modes?: string) => {
      if (sequence === reset || modes?.split(';').some((mode) => otherScreen.has(mode))) again = true
      return modes === undefined ? '' : sequence
    })
    return { bytes: Buffer.from(again ? '' : shown, 'latin1'), again }
  }
}

const reset = '\u001bc'

const otherScreen = new Set(['47', '1047', '1049'])

/** One alternative for each thing that is left out; the first is looked into. */
const left = new RegExp(
  [
    // Modes, among which the other screen may be.
    '\\u001b\\[\\?([\\d;]+)([hl])',
    // Who are you? What is your state, your mode, your size, your version, your keyboard?
    '\\u001b\\[[>=]?[\\d;]*c',
    '\\u001b\\[\\??[\\d;]*n',
    '\\u001b\\[\\??[\\d;]*\\$p',
    '\\u001b\\[(?:1[13-9]|2[01])(?:;\\d+)*t',
    '\\u001b\\[>[\\d;]*q',
    '\\u001b\\[\\?u',
    // What are your colours, what is on your clipboard?
    '\\u001b\\](?:[45];\\d+|1\\d|52;[^;\\u0007\\u001b]*);\\?(?:\\u0007|\\u001b\\\\)',
    '\\u001bP[\\d;]*[$+]q[^\\u001b]*\\u001b\\\\',
    '\\u0005',
    // The person's own scrollback, and the whole of their terminal.
    '\\u001b\\[3J',
    reset,
  ].join('|'),
  'g',
)

const title = '\\u001b\\][012];[^\\u0007\\u001b]*(?:\\u0007|\\u001b\\\\)'

const longestSequence = 256

/** How much at the end may be the beginning of a sequence. */
function unfinished(text: string): number {
  const at = text.lastIndexOf('\u001b', text.length - 1)
  const begun = at < 0 ? '' : text.slice(at)
  // A string may end with an escape of its own.
  const opener = begun === '\u001b' ? text.lastIndexOf('\u001b', at - 1) : at
  const string = opener >= 0 && /^\u001b[\]P]/.test(text.slice(opener)) ? text.slice(opener) : begun
  const whole =
    string === '' ||
    /^\u001b\[[\d;:<=>?]*[ -/]*[@-~]/.test(string) ||
    /^\u001b[\]P][^]*?(?:\u0007|\u001b\\)/.test(string) ||
    /^\u001b[ -/]*[0-OQ-Z\\^-~]/.test(string)
  return whole || string.length > longestSequence ? 0 : string.length
}
