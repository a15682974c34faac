import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { WebSocket, WebSocketServer } from 'ws'
import type { Clock } from '../../base/time/clock.ts'
import type { MachineTerminals, TerminalRow } from '../../core/screen/machine-terminals.ts'
import type { Terminal } from '../../core/screen/terminal.ts'
import type { HubCaller } from '../model/access/hub-key.ts'
import type { HubFrame, PageFrame } from '../../page/terminal-frames.ts'
import { messageOf } from '../../base/error-message.ts'
import { mayDo, rights } from '../model/access/rights.ts'
import { heartbeatMs } from '../../page/heartbeat.ts'
import { drawnBytes, readPageFrame, signedOut, signedOutReason, terminalsProtocol } from '../../page/terminal-frames.ts'
import { TerminalView } from './terminal-view.ts'

/** The longest frame of a page: a large paste. */
const longestFrame = 2 * 1024 * 1024
/** The most terminals that one page shows at once, in full and as previews. */
const mostViews = 64
/** The most pages at once; each of them permanently costs the hub some work. */
const mostPages = 100
/** The most rows above the screen that a page may request. */
const mostAbove = 5_000
/** How often the list of terminals is read, and how often the previews are updated. */
const listMs = 2_000
const previewMs = 1_000
/** How many rows a preview has, counted upwards from the last row with text. */
const previewRows = 12

type SocketParts = { terminals: MachineTerminals; clock: Clock }

/** A page at the socket; `isIn` says whether its sign-in is still valid. */
type Guest = { caller: HubCaller; isIn(): Promise<boolean> }

/** The sockets of all pages; one socket carries every terminal that its page shows. */
export class TerminalSockets {
  #parts: SocketParts
  #server: Promise<WebSocketServer> | undefined
  #opened = new Map<string, Promise<Terminal | undefined>>()
  #listed: { at: number; rows: Promise<TerminalRow[]> } | undefined
  readonly #pages = new Set<PageTerminals>()
  readonly #holders = new Map<string, { page: PageTerminals; channel: number }>()

  constructor(parts: SocketParts) {
    this.#parts = parts
  }

  /** Accepts a connection whose page may see terminals. The WebSocket library is loaded for the first one. */
  async accept(request: IncomingMessage, socket: Duplex, head: Buffer, guest: Guest): Promise<void> {
    this.#server ??= import('ws').then(
      ({ WebSocketServer: Server }) =>
        new Server({
          noServer: true,
          maxPayload: longestFrame,
          // The other protocol that a page offers is its secret, which is never sent back.
          handleProtocols: (offered) => offered.has(terminalsProtocol) && terminalsProtocol,
        }),
    )
    const server = await this.#server
    // The sign-in may have been closed in the meantime; without this check nothing would cut the connection.
    if (!(await guest.isIn()) || this.#pages.size >= mostPages) socket.destroy()
    if (socket.destroyed) return
    server.handleUpgrade(request, socket, head, (connection) => {
      const page = new PageTerminals(connection, guest, this, this.#parts)
      this.#pages.add(page)
      // A page that fails is cut; the other pages continue.
      void page
        .run()
        .catch(() => connection.terminate())
        .then(() => this.#pages.delete(page))
    })
  }

  /** How many pages are connected. */
  get size(): number {
    return this.#pages.size
  }

  /** Cuts the pages of a sign-in or a key that was revoked. */
  cut(id: string): void {
    for (const page of this.#pages) if (page.caller.id === id) page.cut()
  }

  close(): void {
    for (const page of this.#pages) page.terminate()
  }

  /** Opens a terminal once for all pages, so that the keystrokes of one page stay in order. */
  find(id: string): Promise<Terminal | undefined> {
    const known = this.#opened.get(id)
    if (known) return known
    const forget = () => {
      if (this.#opened.get(id) === opened) this.#opened.delete(id)
    }
    const opened: Promise<Terminal | undefined> = this.#parts.terminals.open(id).then(
      (terminal) => {
        if (terminal) void terminal.exited.then(forget)
        else forget()
        return terminal
      },
      () => {
        forget()
        return undefined
      },
    )
    this.#opened.set(id, opened)
    return opened
  }

  /** Reads the list once for all pages, because it comes from the files of all crews. */
  list(): Promise<TerminalRow[]> {
    const now = this.#parts.clock.elapsed()
    if (!this.#listed || now - this.#listed.at >= listMs / 2)
      this.#listed = { at: now, rows: this.#parts.terminals.list() }
    return this.#listed.rows
  }

  holderOf(id: string): { page: PageTerminals; channel: number } | undefined {
    return this.#holders.get(id)
  }

  /** Gives the keyboard of a terminal to a channel of a page, and takes it from any other channel. */
  hold(id: string, page: PageTerminals, channel: number): void {
    this.#holders.set(id, { page, channel })
    this.#tellHolder(id)
  }

  /** Takes the keyboard of a terminal from a channel that has it. */
  release(id: string, page: PageTerminals, channel: number): void {
    const holder = this.#holders.get(id)
    if (holder?.page !== page || holder.channel !== channel) return
    this.#holders.delete(id)
    this.#tellHolder(id)
  }

  #tellHolder(id: string): void {
    for (const page of this.#pages) page.tellHolder(id)
  }
}

/** The terminals of one page. */
class PageTerminals {
  readonly caller: HubCaller
  #socket: WebSocket
  #guest: Guest
  #all: TerminalSockets
  #parts: SocketParts
  #views = new Map<number, { id: string; view: TerminalView }>()
  #previews = new Map<string, string>()
  #over = new AbortController()

  constructor(socket: WebSocket, guest: Guest, all: TerminalSockets, parts: SocketParts) {
    this.caller = guest.caller
    this.#socket = socket
    this.#guest = guest
    this.#all = all
    this.#parts = parts
  }

  /** Serves the page until its connection closes. */
  async run(): Promise<void> {
    const { signal } = this.#over
    const socket = this.#socket
    socket.on('error', () => socket.terminate())
    socket.on('message', (data, isBinary) => {
      const frame = isBinary ? undefined : readPageFrame((data as Buffer).toString('utf8'))
      if (frame) this.#take(frame)
      else this.#tell({ type: 'refused', why: 'The hub does not know this kind of frame. Reload the page.' })
    })
    socket.once('close', () => this.#end())
    await Promise.all([this.#sendList(signal), this.#sendPreviews(signal), this.#beat(signal)])
  }

  /** Closes the connection of a page that is no longer signed in: no more is read from it or sent to it. */
  cut(): void {
    this.#end()
    this.#socket.removeAllListeners('message')
    this.#socket.close(signedOut, signedOutReason)
    void this.#parts.clock.sleep(graceMs).then(() => this.terminate())
  }

  terminate(): void {
    this.#socket.terminate()
  }

  #end(): void {
    this.#over.abort('over')
    for (const channel of [...this.#views.keys()]) this.#close(channel)
  }

  /** Tells every channel of the page that shows the terminal who has its keyboard. */
  tellHolder(id: string): void {
    const holder = this.#all.holderOf(id)
    for (const [channel, { id: shown }] of this.#views)
      if (shown === id) {
        const yours = holder?.page === this && holder.channel === channel
        this.#tell(
          holder
            ? { type: 'holder', channel, name: holder.page.caller.name, yours }
            : { type: 'holder', channel, yours },
        )
      }
  }

  #take(frame: PageFrame): void {
    if (frame.type === 'preview') this.#preview(frame.ids)
    else if (frame.type === 'open') this.#open(frame)
    else {
      const shown = this.#views.get(frame.channel)
      if (!shown) return
      const { id, view } = shown
      if (frame.type === 'seen') view.sawUntil(frame.bytes)
      else if (frame.type === 'close') this.#close(frame.channel)
      else if (frame.type === 'give') this.#all.release(id, this, frame.channel)
      else if (this.#mayType(frame.channel)) {
        if (frame.type === 'take') this.#all.hold(id, this, frame.channel)
        else if (frame.type === 'size') this.#resize(id, frame)
        else this.#type(id, frame)
      }
    }
  }

  #open({ channel, id, above }: Extract<PageFrame, { type: 'open' }>): void {
    this.#close(channel)
    if (this.#views.size >= mostViews) {
      const why = `A page shows at most ${mostViews} terminals. Close one of them.`
      this.#tell({ type: 'refused', channel, why })
      return
    }
    const view = new TerminalView({
      channel,
      above: Math.min(above, mostAbove),
      clock: this.#parts.clock,
      find: () => this.#all.find(id),
      tell: (frame) => this.#tell(frame),
      draw: (frame) => this.#send(drawnBytes(frame)),
    })
    this.#views.set(channel, { id, view })
    this.tellHolder(id)
    // Ends when the page leaves the terminal; an error ends only this view.
    void view.run().catch((error: unknown) => this.#tell({ type: 'refused', channel, why: messageOf(error) }))
  }

  #close(channel: number): void {
    const shown = this.#views.get(channel)
    if (!shown) return
    shown.view.leave()
    this.#all.release(shown.id, this, channel)
    this.#views.delete(channel)
  }

  #mayType(channel: number): boolean {
    const { role, name } = this.caller
    if (mayDo(role, 'type')) return true
    const why = `${name} has the role ${role} and may not ${rights.type.words}.`
    this.#tell({ type: 'refused', channel, why })
    return false
  }

  /** Types the input of the person, if the person has the keyboard. */
  #type(id: string, { type, channel, text }: Extract<PageFrame, { type: 'keys' | 'paste' }>): void {
    const refuse = (why: string) => this.#tell({ type: 'refused', channel, why })
    const holder = this.#all.holderOf(id)
    if (holder?.page !== this || holder.channel !== channel)
      return refuse('Nothing was typed: take the keys of this terminal first.')
    this.#parts.terminals
      .type(id, { as: type, text }, this.caller)
      .catch((error: unknown) => refuse(`Nothing was typed: ${messageOf(error).replace(/\.$/, '')}.`))
  }

  /** Gives a terminal the size of the person's own, if the person has its keyboard. */
  #resize(id: string, { channel, cols, rows }: Extract<PageFrame, { type: 'size' }>): void {
    const holder = this.#all.holderOf(id)
    if (holder?.page !== this || holder.channel !== channel) return
    // A terminal that cannot be resized is shown in its own size.
    this.#parts.terminals.resize(id, { cols, rows }, this.caller).catch(() => {})
  }

  #preview(ids: readonly string[]): void {
    const wanted = new Set(ids.slice(0, mostViews))
    for (const id of this.#previews.keys()) if (!wanted.has(id)) this.#previews.delete(id)
    for (const id of wanted) if (!this.#previews.has(id)) this.#previews.set(id, '')
  }

  async #sendList(signal: AbortSignal): Promise<void> {
    const { clock } = this.#parts
    for (let last = ''; !signal.aborted; await clock.sleep(listMs, signal)) {
      const rows = await this.#all.list().catch(() => undefined)
      const now = JSON.stringify(rows)
      if (rows && now !== last) this.#tell({ type: 'terminals', rows })
      last = now
    }
  }

  async #sendPreviews(signal: AbortSignal): Promise<void> {
    for (; !signal.aborted; await this.#parts.clock.sleep(previewMs, signal))
      await Promise.all(
        [...this.#previews.keys()].map(async (id) => {
          const screen = await (await this.#all.find(id))?.screen().catch(() => undefined)
          if (!screen || !this.#previews.has(id)) return
          const end = screen.rows.findLastIndex((row) => row.trim() !== '') + 1
          const rows = screen.rows.slice(Math.max(0, end - previewRows), end)
          const now = rows.join('\n')
          // A page that reads too slowly gets the newest preview later.
          if (now === this.#previews.get(id) || this.#socket.bufferedAmount > mostWaiting) return
          this.#previews.set(id, now)
          this.#tell({ type: 'preview', id, rows })
        }),
      )
  }

  /** Sends the page signs that its connection is alive, and closes it if the page is gone or its sign-in has expired. */
  async #beat(signal: AbortSignal): Promise<void> {
    let heard = true
    this.#socket.on('pong', () => (heard = true))
    for (;;) {
      await this.#parts.clock.sleep(heartbeatMs, signal)
      if (signal.aborted) return
      if (!heard || !(await this.#guest.isIn())) return this.cut()
      heard = false
      this.#socket.ping()
      this.#tell({ type: 'beat' })
    }
  }

  #tell(frame: HubFrame): void {
    this.#send(JSON.stringify(frame))
  }

  #send(data: string | Uint8Array): void {
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.send(data)
  }
}

/** How long a page may take to close its side of a connection. */
const graceMs = 1_000
/** No previews are sent while this many bytes wait to be sent. */
const mostWaiting = 1024 * 1024
