import type { ITheme } from '@xterm/xterm'
import { Terminal } from '@xterm/xterm'

keepStylesToPolicy()

type ScreenWires = {
  /** The person pressed keys while they have the terminal's keyboard. */
  typed(text: string): void
  /** The person asked, by the keyboard, to leave the terminal. */
  leave(): void
  link(address: string): void
  titled(title: string): void
}

const usualFont = 14
const [leastFont, mostFont] = [9, 15]
/** A terminal with many rows has letters of at least this size, and the page is scrolled instead. */
const readableFont = 11
const mostOfWindow = 0.75
/** How many rows above the screen a page keeps. */
export const rowsAbove = 1_000

const light: ITheme = {
  background: '#ffffff',
  foreground: '#14191f',
  cursor: '#1a5fd0',
  cursorAccent: '#ffffff',
  selectionBackground: '#b7d0f7',
  black: '#14191f',
  red: '#b3261e',
  green: '#14713a',
  yellow: '#8a5300',
  blue: '#1a5fd0',
  magenta: '#8b2fa8',
  cyan: '#0b6b7a',
  white: '#8a929b',
  brightBlack: '#55606c',
  brightRed: '#c8372e',
  brightGreen: '#1b8347',
  brightYellow: '#9a6100',
  brightBlue: '#2f70e0',
  brightMagenta: '#9c45b8',
  brightCyan: '#15808f',
  brightWhite: '#d5dbe1',
}

const dark: ITheme = {
  background: '#0f1317',
  foreground: '#e6eaee',
  cursor: '#8ab4ff',
  cursorAccent: '#0f1317',
  selectionBackground: '#2f4a73',
  black: '#1d242b',
  red: '#ff9a92',
  green: '#6fdc9a',
  yellow: '#f0b65a',
  blue: '#8ab4ff',
  magenta: '#dba6f2',
  cyan: '#73d5e3',
  white: '#d5dbe1',
  brightBlack: '#7f8b97',
  brightRed: '#ffb3ad',
  brightGreen: '#93e8b4',
  brightYellow: '#f7cd8a',
  brightBlue: '#aecbff',
  brightMagenta: '#e8c3f7',
  brightCyan: '#9be3ed',
  brightWhite: '#ffffff',
}

const prefersDark = matchMedia('(prefers-color-scheme: dark)')

/**
 * A terminal in the page. It has the size of its owner's terminal and draws the same output. It answers none of the program's queries,
 * because the owner's terminal has answered them: it only sends what the person types.
 */
export class TerminalScreen {
  #terminal: Terminal
  #parent: HTMLElement
  #over = new AbortController()
  #isAlone: boolean
  #holds = false
  #reads = false
  #control = false

  /** `isAlone`: no other terminal is open, so this one can also be drawn a second time for screen readers. */
  constructor(parent: HTMLElement, label: string, isAlone: boolean, wires: ScreenWires) {
    const terminal = new Terminal({
      allowProposedApi: false,
      altClickMovesCursor: false,
      cursorBlink: false,
      disableStdin: true,
      fontFamily: getComputedStyle(parent).getPropertyValue('--mono'),
      fontSize: usualFont,
      // A link printed by a program may lead anywhere, so its address is shown before it is opened.
      linkHandler: { activate: (_, address) => wires.link(address) },
      logLevel: 'off',
      minimumContrastRatio: 4.5,
      screenReaderMode: isAlone,
      scrollback: rowsAbove,
      theme: prefersDark.matches ? dark : light,
    })
    this.#terminal = terminal
    this.#parent = parent
    this.#isAlone = isAlone
    ignoreQuestions(terminal)
    terminal.open(parent)
    terminal.textarea?.setAttribute('aria-label', label)
    terminal.onData((text) => {
      if (!this.#holds) return
      const [first = ''] = text
      wires.typed(this.#control && text.length === 1 ? controlKey(first) : text)
      this.#control = false
    })
    terminal.onTitleChange((title) => wires.titled(title))
    terminal.attachCustomKeyEventHandler((event) => this.#key(event, wires))
    const { signal } = this.#over
    const sized = new ResizeObserver(() => this.fit())
    sized.observe(parent)
    signal.addEventListener('abort', () => sized.disconnect())
    prefersDark.addEventListener('change', () => (terminal.options.theme = prefersDark.matches ? dark : light), {
      signal,
    })
  }

  /** Draws a picture that replaces everything drawn before. */
  picture(cols: number, rows: number, bytes: Uint8Array, done: () => void): void {
    const { active } = this.#terminal.buffer
    const up = active.baseY - active.viewportY
    // Earlier output is drawn first, so the reset must be written after it instead of being called.
    this.#terminal.write('\u001bc', () => {
      if (this.#terminal.cols !== cols || this.#terminal.rows !== rows) this.#terminal.resize(cols, rows)
    })
    this.#terminal.write(bytes, () => {
      if (up > 0) this.#terminal.scrollLines(-up)
      requestAnimationFrame(() => this.fit())
      done()
    })
  }

  draw(bytes: Uint8Array, done: () => void): void {
    this.#terminal.write(bytes, done)
  }

  /** Whether the person has the keyboard: only then can they type. */
  set holds(holds: boolean) {
    this.#holds = holds
    this.#control = false
    this.#terminal.options.disableStdin = !holds
    this.#terminal.options.cursorInactiveStyle = holds ? 'outline' : 'none'
    this.#setReading()
  }

  /** Whether a screen reader reads the rows even while the person types. */
  set reads(reads: boolean) {
    this.#reads = reads
    this.#setReading()
  }

  /** While xterm exposes the rows to a screen reader, it accepts no text that comes without keystrokes, such as emoji. */
  #setReading(): void {
    this.#terminal.options.screenReaderMode = this.#reads || (this.#isAlone && !this.#holds)
  }

  focus(): void {
    this.#terminal.focus()
  }

  /** Combines the next key with Ctrl, as a keyboard with that key would. */
  control(): void {
    this.#control = true
    this.focus()
  }

  /** The bytes that a program expects for a key, by the key's name. */
  bytesOf(key: 'Up' | 'Down' | 'Left' | 'Right' | 'Escape' | 'Tab' | 'Enter'): string {
    const arrow = { Up: 'A', Down: 'B', Right: 'C', Left: 'D' }[key as string]
    if (arrow !== undefined) return `\u001b${this.#terminal.modes.applicationCursorKeysMode ? 'O' : '['}${arrow}`
    return { Escape: '\u001b', Tab: '\t', Enter: '\r' }[key as string]!
  }

  /** Chooses the letter size with which the whole width fits into the page, as long as it is readable. */
  fit(): void {
    const { options } = this.#terminal
    const screen = this.#parent.querySelector<HTMLElement>('.xterm-screen')
    if (!screen || screen.clientWidth === 0) return
    const font = options.fontSize ?? usualFont
    const across = (font * this.#parent.clientWidth) / screen.clientWidth
    const down = (font * innerHeight * mostOfWindow) / screen.clientHeight
    const fitting = Math.floor(Math.min(across, Math.max(down, readableFont)) * 2) / 2
    options.fontSize = Math.min(mostFont, Math.max(leastFont, fitting))
  }

  dispose(): void {
    this.#over.abort()
    this.#terminal.dispose()
  }

  /** Returning false keeps a key from the terminal and leaves it to the page. */
  #key(event: KeyboardEvent, { leave }: ScreenWires): boolean {
    const leaves = (event.ctrlKey && event.key === ']') || (event.shiftKey && event.key === 'Escape')
    if (this.#holds && !leaves) return true
    if (event.type !== 'keydown') return false
    const pages = { PageUp: -1, PageDown: 1 }[event.key]
    const lines = { ArrowUp: -1, ArrowDown: 1 }[event.key]
    if (leaves) leave()
    else if (pages !== undefined) this.#terminal.scrollPages(pages)
    else if (lines !== undefined) this.#terminal.scrollLines(lines)
    else return false
    event.preventDefault()
    event.stopPropagation()
    return false
  }
}

/** The character that Ctrl and a letter produce. */
function controlKey(letter: string): string {
  const code = letter.toUpperCase().charCodeAt(0)
  return code >= 0x40 && code < 0x60 ? String.fromCharCode(code - 0x40) : letter
}

/** Modes in which a terminal reports mouse events or its focus. */
const reportModes = new Set([9, 1000, 1001, 1002, 1003, 1004, 1005, 1006, 1015, 1016])

/** Ignores every sequence that xterm would answer, and sequences that would change the page around the terminal. */
function ignoreQuestions({ parser }: Terminal): void {
  const ignored = () => true
  const csi = [
    ...['', '>', '=', '?'].map((prefix) => ({ prefix, final: 'c' })),
    ...['', '>', '?'].map((prefix) => ({ prefix, final: 'n' })),
    ...['', '?'].map((prefix) => ({ prefix, intermediates: '$', final: 'p' })),
    ...['', '>', '?'].map((prefix) => ({ prefix, final: 'u' })),
    { prefix: '', final: 't' },
    { prefix: '>', final: 'q' },
  ]
  for (const { prefix, ...rest } of csi)
    // Without a prefix, `CSI u` restores the cursor position.
    if (prefix !== '') parser.registerCsiHandler({ prefix, ...rest }, ignored)
    else if (rest.final !== 'u') parser.registerCsiHandler(rest, ignored)
  for (const final of ['h', 'l'])
    parser.registerCsiHandler({ prefix: '?', final }, (modes) =>
      modes.every((mode) => typeof mode === 'number' && reportModes.has(mode)),
    )
  parser.registerDcsHandler({ intermediates: '$', final: 'q' }, ignored)
  parser.registerDcsHandler({ intermediates: '+', final: 'q' }, ignored)
  // The codes that change the colours of the page, or the clipboard.
  for (const code of [4, 5, 10, 11, 12, 17, 19, 52, 104, 110, 111, 112]) parser.registerOscHandler(code, ignored)
}

/**
 * xterm writes sizes and colours into style elements and style attributes, both of which the page's policy refuses. This turns such an
 * element into a style sheet of the document, and sets the properties of such an attribute one by one. The policy allows both, because
 * only a script of the page itself can do that. So the policy needs no exception for xterm.
 */
function keepStylesToPolicy(): void {
  document.createElement = createElement
}

function createElement(tag: string, options?: ElementCreationOptions): HTMLElement {
  if (tag === 'style') return sheetElement()
  const element = newElement(tag, options)
  // xterm uses the attribute on no other element.
  if (tag === 'span') element.setAttribute = setAttribute
  return element
}

const newElement = (tag: string, options?: ElementCreationOptions) =>
  Document.prototype.createElement.call(document, tag, options)

function setAttribute(this: HTMLElement, name: string, value: string): void {
  if (name === 'style') this.style.cssText = value
  else Element.prototype.setAttribute.call(this, name, value)
}

/** An element that replaces a style element: its text is a style sheet of the document until the element is removed. */
function sheetElement(): HTMLElement {
  const element = newElement('data')
  element.hidden = true
  const sheet = new CSSStyleSheet()
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet]
  Object.defineProperty(element, 'textContent', { set: (text: string) => sheet.replaceSync(text) })
  element.remove = () => {
    Element.prototype.remove.call(element)
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((each) => each !== sheet)
  }
  return element
}
