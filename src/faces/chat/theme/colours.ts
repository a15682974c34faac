import type { Paint, Theme } from './theme.ts'

/**
 * The colour law. Only the sixteen colours that every terminal lets its owner choose, so that the chat looks like
 * the rest of their screen; nothing is said by colour alone; what matters less is dimmer, never smaller;
 * red is for what failed, yellow for what waits, green for what went well, and for nothing else.
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
  code: yellow,
  link: both(cyan, underline),
  chosen: reverse,
  speaker: steady([magenta, brightBlue, cyan, brightMagenta].map((paint) => both(paint, bold))),
}

/** On white, yellow and the bright ones cannot be read. */
export const light: Theme = {
  ...dark,
  name: 'light',
  accent: blue,
  user: both(blue, bold),
  warn: magenta,
  code: magenta,
  link: both(blue, underline),
  speaker: steady([magenta, blue, cyan].map((paint) => both(paint, bold))),
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
