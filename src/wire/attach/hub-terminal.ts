import type { Env } from '../../base/env.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { TerminalRow } from '../../core/screen/machine-terminals.ts'
import type { Exit, Picture, Screen, Terminal } from '../../core/screen/terminal.ts'
import type { HubFrame, PageFrame } from '../../page/terminal-frames.ts'
import type { Connection } from '../frames/connection.ts'
import { within } from '../../base/time/clock.ts'
import { messageOf } from '../../base/error-message.ts'
import { RecentBytes } from '../../base/recent-bytes.ts'
import { shownWords } from '../frames/frames.ts'
import { readDrawn, signedOutReason, terminalsPath, terminalsProtocol } from '../../page/terminal-frames.ts'
import { DialFailed, dialHub } from '../frames/web-socket-carrier.ts'

type HubTerminalParts = { url: string; key: string; clock: Clock; env: Env }

const firstPauseMs = 500
const longestPauseMs = 10_000
/** How long to wait for a picture, or for the list of terminals. */
const patienceMs = 20_000
/** How many times a picture of the right size is requested, and the pause between two requests. */
const mostPictures = 8
const sizeMs = 250
const longestFrame = 16 * 1024 * 1024
/** The number of the only terminal that this connection shows. */
const channel = 1

/** The terminals of all machines, as a hub shows them to one person. Reconnects after a lost connection. */
export class HubTerminals {
  #parts: HubTerminalParts
  #connection: Connection | undefined
  #rows = Promise.withResolvers<readonly TerminalRow[]>()
  #shown: HubTerminal | undefined
  #over = new AbortController()

  constructor(parts: HubTerminalParts) {
    this.#parts = parts
  }

  /** Connects and returns the terminals of all machines; rejects with an explanation if the hub does not let this person see terminals. */
  async list(): Promise<readonly TerminalRow[]> {
    await this.#connect()
    void this.#keep()
    const rows = await within(this.#parts.clock, this.#rows.promise, patienceMs)
    if (!rows) throw new Error(`the hub at ${this.#parts.url} did not list its terminals`)
    return rows
  }

  /** Shows one of the terminals. */
  open(row: TerminalRow): HubTerminal {
    return (this.#shown = new HubTerminal(row, this.#parts.clock, (frame) => this.#send(frame)))
  }

  close(): void {
    this.#over.abort('closed')
    this.#connection?.end('the person has left')
  }

  #send(frame: PageFrame): void {
    this.#connection?.send(JSON.stringify(frame))
  }

  async #connect(): Promise<void> {
    const { url, key } = this.#parts
    const kind = { protocol: terminalsProtocol, longest: longestFrame }
    try {
      this.#connection = await dialHub(`${url}${terminalsPath}`, `Bearer ${key}`, this.#parts, { kind })
    } catch (error) {
      throw new Error(refusalOf(error) ?? `no hub answers at ${url}: ${messageOf(error)}`)
    }
    this.#connection.read((data) => {
      const drawn = typeof data === 'string' ? undefined : readDrawn(data)
      if (drawn) this.#shown?.draw(drawn)
      else if (typeof data === 'string') this.#take(JSON.parse(data) as HubFrame)
    })
  }

  /** Reconnects after every lost connection; any hub at the address is accepted. */
  async #keep(): Promise<void> {
    const { clock } = this.#parts
    while (!this.#over.signal.aborted) {
      const why = await this.#connection!.over
      if (this.#over.signal.aborted) return
      if (why === signedOutReason) return this.#shown?.end({}, 'the key is no longer valid')
      this.#shown?.note('The connection to the hub is lost; it is made again.')
      for (let pause = firstPauseMs; !this.#over.signal.aborted; pause = Math.min(pause * 2, longestPauseMs)) {
        await clock.sleep(pause, this.#over.signal)
        if (this.#over.signal.aborted) return
        if (
          await this.#connect().then(
            () => true,
            () => false,
          )
        )
          break
      }
      this.#shown?.begin()
    }
  }

  #take(frame: HubFrame): void {
    if (frame.type === 'terminals') this.#rows.resolve(frame.rows)
    else if ('channel' in frame && frame.channel === channel) this.#shown?.tell(frame)
  }
}

/** Why a hub that answered did not admit this person; undefined if no hub answered. */
function refusalOf(error: unknown): string | undefined {
  const status = error instanceof DialFailed ? error.status : undefined
  if (status === 403) return 'this key may not see terminals: that needs the role admin'
  if (status === 401) return 'the hub does not know our key'
  return status === undefined ? undefined : `the hub answered with HTTP ${status}`
}

/** A terminal that a hub shows. Pictures that the hub sends unasked, for example after a lost connection, are drawn like output. */
class HubTerminal implements Terminal {
  readonly id: string
  /** Why the terminal is no longer shown, if its program has not exited. */
  problem: string | undefined
  readonly exited: Promise<Exit>
  #row: TerminalRow
  #clock: Clock
  #send: (frame: PageFrame) => void
  #exit = Promise.withResolvers<Exit>()
  #kept = new RecentBytes()
  #picture: PromiseWithResolvers<Picture> | undefined
  #size = { cols: 80, rows: 24 }
  #wished: { cols: number; rows: number } | undefined
  #bytes = 0
  #hasKeys = false
  #isShown = false
  /**
   * Why keystrokes were refused. The person has to see it even if a new picture follows at once; it disappears with the next keystroke.
   */
  #refusal: string | undefined

  constructor(row: TerminalRow, clock: Clock, send: (frame: PageFrame) => void) {
    this.id = row.id
    this.#row = row
    this.#clock = clock
    this.#send = send
    this.exited = this.#exit.promise
  }

  /** Requests the terminal again on a new connection. */
  begin(): void {
    this.#bytes = 0
    const had = this.#hasKeys
    this.#hasKeys = false
    this.#send({ type: 'open', channel, id: this.id, above: 0 })
    if (had) this.#takeKeys()
  }

  draw(frame: { type: 'picture' | 'output'; bytes: Uint8Array; cols?: number; rows?: number }): void {
    const bytes = Buffer.from(frame.bytes)
    this.#bytes += bytes.length
    this.#send({ type: 'seen', channel, bytes: this.#bytes })
    if (frame.type === 'output') return this.#kept.push(bytes)
    const { cols = 80, rows = 24 } = frame
    this.#size = { cols, rows }
    this.#isShown = true
    const text = bytes.toString('utf8')
    if (this.#picture) {
      this.#picture.resolve({ at: this.#kept.end, text, cols, rows })
      this.#picture = undefined
    } else this.#kept.push(Buffer.from(`\u001b[?2026h\u001b[0m\u001b[2J\u001b[H${text}\u001b[?2026l`))
    if (this.#refusal !== undefined) this.note(this.#refusal)
  }

  tell(frame: HubFrame): void {
    if (frame.type === 'ended') this.end({ code: frame.code, signal: frame.signal }, 'the program has exited')
    else if (frame.type === 'missing') this.#miss()
    else if (frame.type === 'refused') this.note((this.#refusal = frame.why))
    else if (frame.type === 'holder') {
      const had = this.#hasKeys
      this.#hasKeys = frame.yours
      // Nobody has the keyboard of a terminal that was just reopened: the answer to our own request for it follows.
      if (had && !frame.yours && frame.name !== undefined)
        this.note(`${frame.name} has taken the keys. Your next key takes them back.`)
    }
  }

  /** A terminal that was shown may reappear, when its machine has linked again or its agent was restarted. */
  #miss(): void {
    if (this.#isShown)
      return this.note(`${this.#row.machine} cannot be reached now. The terminal is shown again when it can.`)
    this.problem = 'The terminal is gone, or its machine is offline'
    this.end({}, this.problem)
  }

  /** Shows a message on the last row, until the next picture. */
  note(words: string): void {
    const line = shownWords(words).replaceAll('\n', ' ').slice(0, this.#size.cols)
    this.#kept.push(Buffer.from(`\u001b7\u001b[${this.#size.rows};1H\u001b[0;7m${line}\u001b[0m\u001b[K\u001b8`))
  }

  end({ code, signal }: { code?: number | undefined; signal?: number | undefined }, why: string): void {
    this.#exit.resolve({ ...(code === undefined ? {} : { code }), ...(signal === undefined ? {} : { signal }) })
    this.#picture?.reject(new Error(why))
    this.#kept.close()
  }

  /** A picture that is larger than the person's own terminal cannot be drawn there; the program may need a moment for its new size. */
  async paint(): Promise<Picture> {
    for (let tries = 1; ; tries++) {
      const picture = await this.#nextPicture()
      const { cols, rows } = this.#wished ?? picture
      if (picture.cols <= cols && picture.rows <= rows) return picture
      if (tries === mostPictures || !this.#hasKeys) {
        this.problem = `The terminal has ${picture.cols} columns and ${picture.rows} rows, and yours is smaller. Make yours at least as large, because the size of the other one cannot be changed from here`
        throw new Error(this.problem)
      }
      await this.#clock.sleep(sizeMs)
    }
  }

  async #nextPicture(): Promise<Picture> {
    this.#picture ??= Promise.withResolvers<Picture>()
    const { promise } = this.#picture
    promise.catch(() => {})
    this.begin()
    const picture = await within(this.#clock, promise, patienceMs)
    if (!picture) throw new Error((this.problem = 'The hub sent no picture of the terminal'))
    return picture
  }

  output(after = 0): AsyncGenerator<{ at: number; bytes: Uint8Array }> {
    return this.#kept.follow(after)
  }

  async write(text: string): Promise<void> {
    this.#refusal = undefined
    if (!this.#hasKeys) this.#takeKeys()
    this.#send({ type: 'keys', channel, text })
  }

  /** Takes the keyboard of the terminal, and gives it the size of the person's own. */
  #takeKeys(): void {
    this.#hasKeys = true
    this.#send({ type: 'take', channel })
    if (this.#wished) this.#send({ type: 'size', channel, ...this.#wished })
  }

  async paste(text: string): Promise<void> {
    await this.write('')
    this.#send({ type: 'paste', channel, text })
  }

  press(key: string): Promise<void> {
    return this.write(key)
  }

  /** A person who attaches takes the keyboard with the first picture, because the size of a terminal is that of the person who types. */
  async resize(cols: number, rows: number): Promise<void> {
    this.#wished = { cols, rows }
    if (this.#row.onlyReading) return
    if (this.#hasKeys) this.#send({ type: 'size', channel, cols, rows })
    else this.#hasKeys = true
  }

  async screen(): Promise<Screen> {
    return {
      rows: [],
      cols: this.#size.cols,
      cursor: { row: 0, col: 0 },
      title: `${this.#row.name} on ${this.#row.machine}`,
    }
  }

  async history(): Promise<string[]> {
    return []
  }

  async children(): Promise<number> {
    return 0
  }

  async touched(): Promise<number> {
    return 0
  }

  async retitle(): Promise<void> {}

  /** Leaves the terminal; its program continues. */
  async close(): Promise<void> {
    this.#send({ type: 'close', channel })
  }
}
