import type { Clock } from '../../base/time/clock.ts'
import type { Terminal } from '../../core/screen/terminal.ts'
import type { DrawnFrame, HubFrame } from '../../page/terminal-frames.ts'
import { within } from '../../base/time/clock.ts'
import { defined } from '../../base/defined.ts'
import { outputUntil } from '../../core/screen/output-until.ts'
import { OutputFilter } from '../../wire/attach/output-filter.ts'

/** The most bytes of one terminal that wait to be sent, or were sent to a page and not drawn yet. */
const mostUnseen = 384 * 1024
/** A page that fell behind gets the next picture once it has only this many bytes left to draw. */
const caughtUpBytes = 16 * 1024
/** Output is sent at this interval, so that many small writes become one frame. */
const paceMs = 16
/** How often the size of a terminal is read while its program draws; a resize is not announced. */
const sizeMs = 1_000
/** How often the size is read while the program draws nothing. */
const idleSizeMs = 5_000
/** The least time between two pictures, because a program can request them as fast as it prints. */
const repaintMs = 100
/** How long a terminal may take to report that its program has exited. */
const overMs = 500
/** A picture taken while the program was drawing is taken again once the program has paused for this long. */
const quietMs = 300
/** How often a terminal whose program has exited is looked up again, because a supervisor may restart the agent in it. */
const againMs = 2_000

type ViewParts = {
  channel: number
  /** How many rows above the screen each picture includes. */
  above: number
  clock: Clock
  /** Finds the terminal; if its agent was restarted, this is the new terminal with the same id. */
  find(): Promise<Terminal | undefined>
  tell(frame: HubFrame): void
  draw(frame: DrawnFrame): void
}

/** Why the output after a picture is no longer sent. */
type Stop = 'over' | 'behind' | 'repaint' | 'left'

/**
 * One terminal as one page sees it: a picture, followed by the program's output. A page that is too slow gets a new picture instead of
 * the output that it missed, so that the amount of waiting data stays limited.
 */
export class TerminalView {
  #parts: ViewParts
  #left = new AbortController()
  #sent = 0
  #seen = 0
  #wake = () => {}

  constructor(parts: ViewParts) {
    this.#parts = parts
  }

  /** Shows the terminal until the page leaves it. */
  async run(): Promise<void> {
    const { channel, clock, find, tell } = this.#parts
    const { signal } = this.#left
    for (let last: 'none' | 'missing' | 'ended' = 'none'; !signal.aborted;) {
      const found = await find().catch(() => undefined)
      if (found && !(last === 'ended' && (await this.#isOver(found))))
        last = (await this.#show(found)) ? 'ended' : 'none'
      else if (!found && last === 'none') {
        last = 'missing'
        tell({ type: 'missing', channel })
      }
      if (!signal.aborted) await clock.sleep(againMs, signal)
    }
  }

  /** Whether a terminal only shows the last screen of a program that has exited. */
  async #isOver(terminal: Terminal): Promise<boolean> {
    const { clock } = this.#parts
    return (await within(clock, terminal.exited, overMs)) !== undefined
  }

  /** Notes how many of the sent bytes the page has drawn. */
  sawUntil(bytes: number): void {
    this.#seen = Math.min(bytes, this.#sent)
    this.#wake()
  }

  leave(): void {
    this.#left.abort('left')
    this.#wake()
  }

  /** Shows a terminal; true if its program has exited and the page knows that. */
  async #show(terminal: Terminal): Promise<boolean> {
    const { channel, above, draw, tell, clock } = this.#parts
    const { signal } = this.#left
    while (!signal.aborted) {
      const picture = await terminal.paint(above).catch(() => undefined)
      if (signal.aborted) return false
      if (!picture) break
      const { at, cols, rows, text, unsure } = picture
      const bytes = Buffer.from(text)
      this.#sent += bytes.length
      draw({ type: 'picture', channel, cols, rows, bytes })
      const stop = await this.#follow(terminal, { at, cols, rows, unsure })
      if (stop === 'left') return false
      if (stop === 'over') break
      if (stop === 'behind') tell({ type: 'behind', channel })
      else await clock.sleep(repaintMs, signal)
      await this.#caughtUp()
    }
    const exit = await within(clock, terminal.exited, againMs)
    if (!exit || signal.aborted) return false
    if (exit.lost) {
      tell({ type: 'missing', channel })
      return false
    }
    tell(defined({ type: 'ended', channel, code: exit.code, signal: exit.signal }))
    return true
  }

  /** Sends the output after a picture, until the output ends or another picture is needed. */
  async #follow(
    terminal: Terminal,
    { at, cols, rows, unsure }: { at: number; cols: number; rows: number; unsure?: true },
  ): Promise<Stop> {
    const { clock } = this.#parts
    const stopped = new AbortController()
    const outgoing = new Outgoing()
    const filter = new OutputFilter()
    let stop: Stop | undefined
    let drawnAt = clock.elapsed()
    const wake = () => this.#wake()
    const read = async (): Promise<Stop> => {
      let next = at
      for await (const drawn of outputUntil(stopped.signal, terminal, at)) {
        // The terminal no longer keeps the bytes in between.
        if (drawn.at !== next) return 'repaint'
        next += drawn.bytes.length
        drawnAt = clock.elapsed()
        const { bytes, repaint } = filter.push(drawn.bytes)
        if (repaint) return 'repaint'
        outgoing.push(bytes)
        if (this.#sent - this.#seen + outgoing.size > mostUnseen) return 'behind'
        wake()
      }
      return 'over'
    }
    // If the process of a terminal is gone, its program has exited.
    const reading = read()
      .catch((): Stop => 'over')
      .then((why) => {
        stop = why
        wake()
      })
    let sized = clock.elapsed()
    try {
      for (;;) {
        if (this.#left.signal.aborted) return 'left'
        if (stop !== 'behind' && stop !== 'repaint') this.#send(outgoing.take())
        if (stop !== undefined) return stop
        await this.#woken(outgoing.size > 0 ? paceMs : sizeMs)
        const now = clock.elapsed()
        if (unsure && now - drawnAt > quietMs) return 'repaint'
        if (now - sized > (drawnAt > sized ? sizeMs : idleSizeMs)) {
          sized = now
          const screen = await terminal.screen().catch(() => undefined)
          if (screen && (screen.cols !== cols || screen.rows.length !== rows)) return 'repaint'
        }
        if (outgoing.size > 0) await clock.sleep(paceMs, this.#left.signal)
      }
    } finally {
      stopped.abort('stopped')
      void reading
    }
  }

  #send(bytes: Uint8Array): void {
    if (bytes.length === 0) return
    this.#sent += bytes.length
    this.#parts.draw({ type: 'output', channel: this.#parts.channel, bytes })
  }

  async #caughtUp(): Promise<void> {
    while (this.#sent - this.#seen > caughtUpBytes && !this.#left.signal.aborted) await this.#woken()
  }

  /** Resolves when something has happened, or after `ms`. */
  async #woken(ms?: number): Promise<void> {
    const over = new AbortController()
    const happened = new Promise<void>((resolve) => (this.#wake = resolve))
    await (ms === undefined ? happened : Promise.race([happened, this.#parts.clock.sleep(ms, over.signal)]))
    over.abort('woken')
  }
}

/** Output that waits for the next frame. */
class Outgoing {
  #parts: Uint8Array[] = []
  size = 0

  push(bytes: Uint8Array): void {
    this.#parts.push(bytes)
    this.size += bytes.length
  }

  take(): Uint8Array {
    const all = Buffer.concat(this.#parts)
    this.#parts = []
    this.size = 0
    return all
  }
}
