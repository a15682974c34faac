import type { Paint, Theme } from './theme.ts'

/**
 * The colour law.
 *
 * 1. Only the sixteen colours that every terminal lets its owner choose: the chat looks like the rest of their screen.
 *    The background is theirs; where something must stand out, both colours are turned round.
 * 2. Nothing is said by colour alone: a mark or a word says it too, so that a screen without colours loses nothing.
 * 3. Red is what failed or goes, green what went well or is new, yellow what waits for somebody; nothing else has them.
 * 4. One accent: the border, its title, the large letters, and what can be followed.
 * 5. Each agent has one colour, the same in every session and on every machine, and never one of rule 3.
 * 6. What matters less is dim, what matters more is bold; neither is a colour.
 */
const sgr =
  (open: number | string, close: number): Paint =>
  (text) =>
    text === '' ? '' : `\x1b[${open}m${text}\x1b[${close}m`

const both =
  (...paints: Paint[]): Paint =>
  (text) =>
    paints.reduce((painted, paint) => paint(painted), text)

const colour = (code: number) => sgr(code, 39)
const bold = sgr(1, 22)
const dim = sgr(2, 22)
const underline = sgr(4, 24)
const reverse = sgr(7, 27)
const none: Paint = (text) => text

const [red, green, yellow, blue, magenta, cyan] = [31, 32, 33, 34, 35, 36].map(colour) as [
  Paint,
  Paint,
  Paint,
  Paint,
  Paint,
  Paint,
]
const [brightBlue, brightMagenta, brightCyan] = [94, 95, 96].map(colour) as [Paint, Paint, Paint]

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
  chosen: reverse,
  speaker: steady([magenta, brightBlue, cyan, brightMagenta].map((paint) => both(paint, bold))),
}

/** On white, yellow and most bright ones cannot be read: what waits is magenta, and no agent has that. */
export const light: Theme = {
  ...dark,
  name: 'light',
  accent: blue,
  user: both(blue, bold),
  warn: magenta,
  code: blue,
  link: both(blue, underline),
  speaker: steady([blue, cyan, brightBlue].map((paint) => both(paint, bold))),
}

/** For NO_COLOR and for those who see none: weight, underline and reverse alone. */
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
  chosen: reverse,
  speaker: () => bold,
}

/** The same name has the same colour in every session and on every machine. */
function steady(paints: readonly Paint[]): (name: string) => Paint {
  return (name) => {
    let sum = 7
    for (const char of name) sum = (sum * 37 + char.codePointAt(0)!) % 9973
    return paints[sum % paints.length]!
  }
}
