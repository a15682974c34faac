import type { Env } from '../../base/env.ts'
import type { Readable, Writable } from 'node:stream'
import type { Clock } from '../../base/time/clock.ts'
import type { WatchedSlot, WatchView } from './watch-frame.ts'
import { parseOsc11BackgroundColor } from '@earendil-works/pi-tui'
import { firstTheme, themeOn, ThemeSwitch } from '../../chat/style/theme.ts'
import { setRawMode, takeScreen } from '../../wire/attach/attach-terminal.ts'
import { layoutOf, watchFrame } from './watch-frame.ts'

type WatchIo = {
  in: Readable & { isTTY?: boolean; setRawMode?(raw: boolean): unknown }
  out: Writable & { isTTY?: boolean; columns?: number; rows?: number; fd?: number }
  env: Env
  clock: Clock
  signal: AbortSignal
}

/** The content of the watch: a crew in its present state. */
export type WatchedCrew = { workspace: string; slots: readonly WatchedSlot[]; trouble?: string }

/** The crew that is watched. `look` never rejects: a problem is part of its result. */
export interface CrewSource {
  /** `rows`: how many of the last rows of each terminal to read. */
  look(rows: number): Promise<WatchedCrew>
  /** Shows one terminal in the person's own until they leave it; returns a message for them. */
  attach(slot: number): Promise<string | undefined>
}

/** How often the crew is read. */
const lookMs = 500

const askBackground = '\u001b]11;?\u001b\\'

/** Shows all agents of a crew on one screen until the person quits. */
export async function watchCrew(source: CrewSource, io: WatchIo): Promise<void> {
  await new Watch(source, io).run()
}

class Watch {
  #source: CrewSource
  #io: WatchIo
  #theme: ThemeSwitch
  #crew: WatchedCrew | undefined
  #selected: number | undefined
  #zoomed = false
  #told: string | undefined
  /** The present lines of the person's screen, so that only changed lines are written. */
  #shown: string[] = []
  #over = new AbortController()
  #wake = new AbortController()
  /** Set while another terminal is shown on the person's screen. */
  #away = false
  #giveBack: (() => void) | undefined

  constructor(source: CrewSource, io: WatchIo) {
    this.#source = source
    this.#io = io
    this.#theme = new ThemeSwitch(firstTheme(io.env))
  }

  async run(): Promise<void> {
    const { in: input, out, signal, env } = this.#io
    const quit = () => this.#quit()
    const type = (chunk: Buffer) => this.#typed(chunk.toString())
    const resized = () => this.#draw(true)
    signal.addEventListener('abort', quit, { once: true })
    if (signal.aborted) quit()
    input.on('data', type)
    out.on('resize', resized)
    this.#take()
    if (!env.NO_COLOR) out.write(askBackground)
    try {
      while (!this.#over.signal.aborted) {
        this.#wake = new AbortController()
        if (!this.#away) await this.#look()
        await this.#io.clock.sleep(lookMs, AbortSignal.any([this.#over.signal, this.#wake.signal]))
      }
    } finally {
      signal.removeEventListener('abort', quit)
      out.off('resize', resized)
      input.off('data', type)
      this.#release()
    }
  }

  async #look(): Promise<void> {
    const { rows = 24 } = this.#io.out
    const crew = await this.#source.look(rows)
    this.#crew = crew
    this.#theme.setAgents(crew.slots.map(({ agent }) => agent))
    if (!crew.slots.some(({ id }) => id === this.#selected)) {
      this.#selected = crew.slots[0]?.id
      this.#zoomed = false
    }
    this.#draw(false)
  }

  #view(): WatchView | undefined {
    const crew = this.#crew
    return crew && { ...crew, trouble: this.#told ?? crew.trouble, selected: this.#selected, zoomed: this.#zoomed }
  }

  /** Writes the changed lines in one update that a terminal shows as a whole. */
  #draw(all: boolean): void {
    const view = this.#view()
    if (!view || this.#away || this.#over.signal.aborted) return
    const { columns = 80, rows = 24 } = this.#io.out
    const frame = watchFrame(view, { columns, rows }, this.#theme, this.#io.clock.now())
    const changed = frame.flatMap((line, at) =>
      all || line !== this.#shown[at] ? [`\u001b[${at + 1};1H${line}\u001b[0m`] : [],
    )
    this.#shown = frame
    if (changed.length > 0) this.#io.out.write(`\u001b[?2026h${all ? '\u001b[2J' : ''}${changed.join('')}\u001b[?2026l`)
  }

  #typed(text: string): void {
    if (this.#away) return
    const background = parseOsc11BackgroundColor(text)
    if (background) {
      if (this.#theme.switchTo(themeOn(background))) this.#draw(true)
      return
    }
    this.#told = undefined
    for (const key of keysIn(text)) this.#press(key)
    this.#draw(false)
  }

  #press(key: string): void {
    if (key === 'q' || key === 'Ctrl+C' || key === 'Ctrl+D') return this.#quit()
    if (key === 'Escape') this.#zoomed = false
    else if (key === 'Enter') this.#zoomed = !this.#zoomed
    else if (key === 'a') void this.#attach()
    else if (/^\d$/.test(key)) this.#select(Number(key))
    else this.#move(key)
  }

  #select(id: number): void {
    if (this.#crew?.slots.some((slot) => slot.id === id)) this.#selected = id
  }

  #move(key: string): void {
    const view = this.#view()
    if (!view || view.slots.length === 0) return
    const { columns = 80, rows = 24 } = this.#io.out
    const { across } = layoutOf(view, { columns, rows: rows - 2 })
    const step = { Left: -1, Right: 1, Tab: 1, Up: this.#zoomed ? -1 : -across, Down: this.#zoomed ? 1 : across }[key]
    if (step === undefined) return
    const at = view.slots.findIndex(({ id }) => id === this.#selected) + step
    const last = view.slots.length - 1
    const wraps = key === 'Tab' || this.#zoomed
    const to = wraps ? (at + view.slots.length) % view.slots.length : at
    if (to >= 0 && to <= last) this.#selected = view.slots[to]!.id
  }

  async #attach(): Promise<void> {
    const slot = this.#selected
    if (slot === undefined || this.#away) return
    this.#away = true
    this.#release()
    this.#told = await this.#source.attach(slot).catch((error: unknown) => String(error))
    if (this.#over.signal.aborted) return
    this.#away = false
    this.#take()
    this.#wake.abort()
  }

  #take(): void {
    this.#giveBack = takeScreen(this.#io.out)
    this.#io.out.write('\u001b[?25l')
    setRawMode(this.#io.in, true)
    this.#io.in.resume()
    this.#shown = []
  }

  #release(): void {
    if (!this.#giveBack) return
    this.#io.in.pause()
    setRawMode(this.#io.in, false)
    this.#giveBack()
    this.#giveBack = undefined
  }

  #quit(): void {
    this.#over.abort()
  }
}

const sequences: Readonly<Record<string, string>> = {
  '\u001b[A': 'Up',
  '\u001b[B': 'Down',
  '\u001b[C': 'Right',
  '\u001b[D': 'Left',
  '\u001bOA': 'Up',
  '\u001bOB': 'Down',
  '\u001bOC': 'Right',
  '\u001bOD': 'Left',
  '\u001b': 'Escape',
  '\r': 'Enter',
  '\n': 'Enter',
  '\t': 'Tab',
  '\u0003': 'Ctrl+C',
  '\u0004': 'Ctrl+D',
  k: 'Up',
  j: 'Down',
  l: 'Right',
  h: 'Left',
}

/** Splits a terminal's input into keys; sequences of other keys are dropped. */
export function keysIn(text: string): string[] {
  const parts = text.match(/\u001b(?:\[[0-?]*[ -/]*[@-~]|O.)?|[^\u001b]/gu) ?? []
  return parts.flatMap((part) => sequences[part] ?? (part.startsWith('\u001b') ? [] : [part]))
}
