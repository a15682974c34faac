import type { Env } from '../../base/env.ts'
import type { TUI } from '@earendil-works/pi-tui'

/** Wraps text in a colour, or returns it unchanged. */
export type Paint = (text: string) => string

/** How bright the background of a terminal is. */
export type Background = 'dark' | 'light'

/** The purposes of colours. The colour law below says which colour each purpose has. */
export type Theme = {
  /** The background that the theme is made for; `plain` has no colours. */
  name: Background | 'plain'
  /** The rules, the title and the large letters. */
  accent: Paint
  strong: Paint
  quiet: Paint
  /** The person's own words. */
  user: Paint
  good: Paint
  warn: Paint
  bad: Paint
  added: Paint
  removed: Paint
  code: Paint
  link: Paint
  /** The part of a question that is dangerous. */
  danger: Paint
  /** The row that Enter would choose. */
  chosen: Paint
  /** The styles of agents' names; `AgentColours` says which agent has which. */
  speakers: readonly Paint[]
  /** The style of one agent's name. */
  speaker(name: string): Paint
}

/**
 * The colour law.
 *
 * 1. Only the sixteen colours that every terminal lets its owner choose: the chat looks like the rest of their screen. Other themes
 *    (theme-table.ts) are a person's own choice, and have fixed colours. The background always belongs to the person: to emphasize
 *    something, both colours are reversed.
 * 2. No meaning is in a colour alone: a mark or a word says it too, so that a screen without colours loses nothing.
 * 3. Red is for failures, removed lines and danger, green for success and added lines, yellow for what waits for a person; for nothing
 *    else. A theme for people who cannot tell these apart has three others, for nothing else as well.
 * 4. One accent: the rules, the title, the large letters, and links.
 * 5. Each agent has one colour, the same in every session, and never one of rule 3. No two agents of a roster share one:
 *    the first three differ in hue, the next two are brighter, and those after them are underlined too.
 * 6. Less important text is dim, more important text is bold; neither is a colour.
 */
export const sgr =
  (open: number | string, close: number): Paint =>
  (text) =>
    text === '' ? '' : `\x1b[${open}m${text}\x1b[${close}m`

export const both =
  (...paints: Paint[]): Paint =>
  (text) =>
    paints.reduce((painted, paint) => paint(painted), text)

const colour = (code: number) => sgr(code, 39)
export const bold = sgr(1, 22)
const dim = sgr(2, 22)
export const underline = sgr(4, 24)
const reverse = sgr(7, 27)
export const none: Paint = (text) => text

const [red, green, yellow, blue, magenta, cyan] = [31, 32, 33, 34, 35, 36].map(colour) as [
  Paint,
  Paint,
  Paint,
  Paint,
  Paint,
  Paint,
]
const [brightBlack, brightBlue, brightMagenta, brightCyan] = [90, 94, 95, 96].map(colour) as [
  Paint,
  Paint,
  Paint,
  Paint,
]

export const dark: Theme = {
  name: 'dark',
  accent: cyan,
  strong: bold,
  quiet: dim,
  user: both(brightCyan, bold),
  good: green,
  warn: yellow,
  bad: red,
  added: green,
  removed: red,
  code: brightBlue,
  link: both(cyan, underline),
  danger: both(red, bold),
  chosen: reverse,
  ...named([magenta, brightBlue, cyan], [brightMagenta, brightCyan]),
}

/**
 * The theme for a white background, on which yellow and most bright colours cannot be read: warnings are magenta, which no agent has
 * here.
 */
export const light: Theme = {
  ...dark,
  name: 'light',
  accent: blue,
  user: both(blue, bold),
  warn: magenta,
  code: blue,
  link: both(blue, underline),
  ...named([blue, cyan, brightBlack], [brightBlue, none]),
}

/** The styles for NO_COLOR: weight, underline and reverse alone. */
export const plain: Theme = {
  name: 'plain',
  accent: none,
  strong: bold,
  quiet: dim,
  user: bold,
  good: none,
  warn: bold,
  bad: bold,
  added: none,
  removed: none,
  code: none,
  link: underline,
  danger: both(bold, underline),
  chosen: reverse,
  ...named([none, none, none], [none, none]),
}

/** The styles of names in the order in which they are assigned: hues, then their brighter forms, then all of them underlined. */
export function named(
  hues: readonly [Paint, Paint, Paint],
  more: readonly [Paint, Paint],
): Pick<Theme, 'speakers' | 'speaker'> {
  const names = [...hues, ...more].map((paint) => both(paint, bold))
  const speakers = [...names, ...names.map((paint) => both(paint, underline))]
  return { speakers, speaker: (name) => speakers[new AgentColours().of(name)]! }
}

const hueCount = 3
const plainCount = 5

/**
 * Assigns each agent's name its style: the same as long as the roster stays the same, and distinct from all others while there are
 * enough.
 */
class AgentColours {
  #given = new Map<string, number>()

  /** Assigns each agent of a roster a style. A name prefers one hue; if two names prefer the same hue, the alphabetically first gets it. */
  set(names: readonly string[]): void {
    this.#given.clear()
    const free = new Set(dark.speakers.keys())
    for (const name of [...new Set(names)].sort()) {
      const preferred = Array.from({ length: hueCount }, (_, at) => (hashOf(name) + at) % hueCount)
      const look = [...preferred, ...free].find((at) => free.has(at)) ?? this.#stranger(name)
      free.delete(look)
      this.#given.set(name, look)
    }
  }

  of(name: string): number {
    return this.#given.get(name) ?? this.#stranger(name)
  }

  /** An agent that is not in the roster, such as one of an old conversation, has an underlined name. */
  #stranger(name: string): number {
    return this.#given.size === 0 ? hashOf(name) % hueCount : plainCount + (hashOf(name) % plainCount)
  }
}

/** A number for a name, the same on every machine. */
function hashOf(name: string): number {
  let sum = 7
  for (const char of name) sum = (sum * 37 + char.codePointAt(0)!) % 9973
  return sum
}

/** How long a terminal may take to report its background: it may be far away or busy. No paint waits for it. */
const patienceMs = 10_000

/** The theme of the first paint in the terminal's own colours, from the environment alone. */
export function firstTheme(env: Env): Theme {
  if (env.NO_COLOR) return plain
  return firstBackground(env) === 'light' ? light : dark
}

/** The background of the first paint, before the terminal reports its own. */
export const firstBackground = (env: Env): Background => backgroundByHint(env) ?? 'dark'

type BackgroundSource = Pick<
  TUI,
  'queryTerminalBackgroundColor' | 'onTerminalColorSchemeChange' | 'setTerminalColorSchemeNotifications'
>

/** Tells the background that the terminal reports, now and whenever it changes. */
export async function followBackground(
  tui: BackgroundSource,
  env: Env,
  tell: (background: Background) => void,
): Promise<void> {
  if (env.NO_COLOR) return
  tui.onTerminalColorSchemeChange(tell)
  tui.setTerminalColorSchemeNotifications(true)
  const rgb = await tui.queryTerminalBackgroundColor({ timeoutMs: patienceMs })
  if (rgb) tell(backgroundOf(rgb))
}

/** The background by its perceived brightness, for which green weighs most. */
function backgroundOf({ r, g, b }: { r: number; g: number; b: number }): Background {
  return 0.299 * r + 0.587 * g + 0.114 * b > 127 ? 'light' : 'dark'
}

/** The theme in the terminal's own colours for its background. */
export const themeOn = (rgb: { r: number; g: number; b: number }): Theme =>
  backgroundOf(rgb) === 'light' ? light : dark

/** The background by COLORFGBG, which is `fg;bg` or `fg;x;bg`: 7 and 9 to 15 are light. */
function backgroundByHint(env: Env): Background | undefined {
  const background = env.COLORFGBG?.split(';').at(-1)
  if (background === undefined || !/^\d+$/.test(background)) return undefined
  return Number(background) === 7 || Number(background) > 8 ? 'light' : 'dark'
}

/** A theme whose colours can change while components use it, because the terminal may report its background only after the first paint. */
export class ThemeSwitch implements Theme {
  #now: Theme
  #agents = new AgentColours()
  readonly accent: Paint = (text) => this.#now.accent(text)
  readonly strong: Paint = (text) => this.#now.strong(text)
  readonly quiet: Paint = (text) => this.#now.quiet(text)
  readonly user: Paint = (text) => this.#now.user(text)
  readonly good: Paint = (text) => this.#now.good(text)
  readonly warn: Paint = (text) => this.#now.warn(text)
  readonly bad: Paint = (text) => this.#now.bad(text)
  readonly added: Paint = (text) => this.#now.added(text)
  readonly removed: Paint = (text) => this.#now.removed(text)
  readonly code: Paint = (text) => this.#now.code(text)
  readonly link: Paint = (text) => this.#now.link(text)
  readonly danger: Paint = (text) => this.#now.danger(text)
  readonly chosen: Paint = (text) => this.#now.chosen(text)
  readonly speaker = (name: string): Paint => this.#now.speakers[this.#agents.of(name)]!

  constructor(first: Theme) {
    this.#now = first
  }

  get name(): Theme['name'] {
    return this.#now.name
  }

  get speakers(): readonly Paint[] {
    return this.#now.speakers
  }

  /** Assigns colours to the agents of a roster. Returns whether the colour of any of these names changed. */
  setAgents(names: readonly string[]): boolean {
    const before = names.map((name) => this.#agents.of(name))
    this.#agents.set(names)
    return names.some((name, at) => this.#agents.of(name) !== before[at])
  }

  /** Returns whether the theme changed. */
  switchTo(to: Theme): boolean {
    const changed = to !== this.#now
    this.#now = to
    return changed
  }
}
