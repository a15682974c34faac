import type { Terminal } from '@xterm/headless'
import { drawnRow, placed, terminalWindow } from './drawing.ts'

/** A picture of a screen at one moment, in ms: its drawn rows. */
type Frame = { at: number; rows: string[] }

/** Changes that follow each other faster are one frame. */
const shortestMs = 80
/** A run is watched as it was, but nobody waits longer than this for its next change. */
const longestMs = 1_100
/** How long the last frame stands before the picture begins again. */
const restMs = 6_000

/** Records the screen of a terminal while a program runs in it, and draws what was seen as a moving picture. */
export class MovingPicture {
  readonly #terminal: Terminal
  readonly #frames: Frame[] = []

  constructor(terminal: Terminal) {
    this.#terminal = terminal
    this.#look()
    terminal.onWriteParsed(() => this.#look())
  }

  #look(): void {
    const at = performance.now()
    const rows = Array.from({ length: this.#terminal.rows }, (_, row) => drawnRow(this.#terminal, row))
    const last = this.#frames.at(-1)
    if (last && last.rows.every((row, index) => row === rows[index])) return
    if (last && at - last.at < shortestMs) last.rows = rows
    else this.#frames.push({ at, rows })
  }

  /** An SVG that repeats. Readers who want no motion see its last frame. */
  drawn(title: string): string {
    const frames = this.#paced()
    const end = frames.at(-1)!.at + restMs
    const times = new Map<string, string>()
    const groups: string[] = []
    for (let row = 0; row < this.#terminal.rows; row++)
      for (const { text, from, to } of spans(frames, row, end)) {
        const always = from === 0 && to === end
        const key = `${from} ${to}`
        const name = times.get(key) ?? `k${times.size}`
        if (!always) times.set(key, name)
        const shown = always ? '' : ` class="${to === end ? 'e ' : ''}m ${name}"`
        groups.push(placed(text, row, shown))
      }
    const part = (ms: number) => `${Number(((ms / end) * 100).toFixed(3))}%`
    const moves = [...times].map(([key, name]) => {
      const [from, to] = key.split(' ').map(Number) as [number, number]
      const ends = to === end ? '' : `${part(to)}{visibility:hidden}`
      const begins = from === 0 ? '' : '0%{visibility:hidden}'
      return `@keyframes ${name}{${begins}${part(from)}{visibility:visible}${ends}}.${name}{animation-name:${name}}`
    })
    const style = `.m{visibility:hidden;animation:${end / 1000}s step-end infinite}.e{visibility:visible}${moves.join('')}@media(prefers-reduced-motion:reduce){.m{animation:none!important}}`
    return terminalWindow(this.#terminal, title, groups.join('\n'), style)
  }

  /** The frames from 0 on, without the long waits. */
  #paced(): Frame[] {
    let now = 0
    return this.#frames.map(({ at, rows }, index) => {
      const before = this.#frames[index - 1]
      if (before) now += Math.round(Math.min(at - before.at, longestMs))
      return { at: now, rows }
    })
  }
}

/** How long each text of one row stands; an empty row is no span. */
function spans(frames: readonly Frame[], row: number, end: number): { text: string; from: number; to: number }[] {
  const found: { text: string; from: number; to: number }[] = []
  for (const { at, rows } of frames) {
    const text = rows[row]!
    const last = found.at(-1)
    if (last?.text === text) continue
    if (last) last.to = at
    found.push({ text, from: at, to: end })
  }
  return found.filter(({ text }) => text !== '')
}
