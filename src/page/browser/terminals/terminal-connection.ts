import type { TerminalRow } from '../../../core/screen/machine-terminals.ts'
import type { DrawnFrame, HubFrame, PageFrame } from '../../terminal-frames.ts'
import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { silenceMs } from '../../heartbeat.ts'
import { readDrawn, terminalsPath, terminalsProtocol } from '../../terminal-frames.ts'
import { firstPauseMs, longerPause, pageSecret, standing, watchMs } from '../hub/page-connection.ts'
import { me } from '../hub/page-state.ts'

/** The terminals of all machines; undefined until the hub has sent them. */
export const terminals = signal<readonly TerminalRow[] | undefined>(undefined)

/** The last rows of the terminals that the page shows as previews. */
export const previews = signal<ReadonlyMap<string, readonly string[]>>(new Map())

/** The calls that one terminal of the page gets. */
type ChannelListener = {
  /** The terminal is opened, for the first time or again: a picture follows. */
  begin(): void
  draw(frame: DrawnFrame): void
  tell(frame: HubFrame): void
  /** The connection was lost; it is reconnected automatically. */
  lost(): void
}

/** A page's frame without the number of its channel, which the connection adds. */
type ChannelFrame = PageFrame extends infer Frame
  ? Frame extends { channel: number }
    ? Omit<Frame, 'channel'>
    : never
  : never

export type Channel = { send(frame: ChannelFrame): void; close(): void }

/** The connection stays open for this long after the last use, so that changing the view does not close it. */
const lingerMs = 5_000

let socket: WebSocket | undefined
let heard = 0
let pauseMs = firstPauseMs
let users = 0
let previewed: readonly string[] = []
let lastChannel = 0
const channels = new Map<number, { id: string; above: number; listener: ChannelListener }>()

/** Keeps the connection open while a view that needs it is shown. Only some people may see terminals. */
export function useTerminals(): void {
  const isAllowed = me.value?.role === 'admin'
  useEffect(() => {
    if (!isAllowed) return undefined
    users++
    connect()
    return () => {
      users--
      setTimeout(() => users === 0 && socket?.close(), lingerMs)
    }
  }, [isAllowed])
}

/** Shows one terminal; `above` is the number of rows above its screen to load. */
export function openChannel(id: string, above: number, listener: ChannelListener): Channel {
  const channel = ++lastChannel
  channels.set(channel, { id, above, listener })
  if (isOpen()) begin(channel)
  else connect()
  return {
    send: (frame) => send({ ...frame, channel }),
    close() {
      channels.delete(channel)
      send({ type: 'close', channel })
    },
  }
}

/** Sets the terminals that are shown as previews. */
export function preview(ids: readonly string[]): void {
  if (ids.join() === previewed.join()) return
  previewed = ids
  send({ type: 'preview', ids: [...ids] })
}

const isOpen = () => socket?.readyState === WebSocket.OPEN

function send(frame: PageFrame): void {
  if (isOpen()) socket!.send(JSON.stringify(frame))
}

function begin(channel: number): void {
  const { id, above, listener } = channels.get(channel)!
  listener.begin()
  send({ type: 'open', channel, id, above })
}

function connect(): void {
  if (socket) return
  const url = new URL(terminalsPath, location.href)
  url.protocol = url.protocol.replace('http', 'ws')
  // A socket cannot have request headers, and addresses end up in histories and logs, so the secret is sent as a protocol.
  const made = new WebSocket(url, [terminalsProtocol, pageSecret()])
  made.binaryType = 'arraybuffer'
  socket = made
  heard = Date.now()
  made.addEventListener('open', () => {
    pauseMs = firstPauseMs
    if (previewed.length > 0) send({ type: 'preview', ids: [...previewed] })
    for (const channel of channels.keys()) begin(channel)
  })
  made.addEventListener('message', ({ data }) => take(data as string | ArrayBuffer))
  made.addEventListener('close', () => {
    if (socket !== made) return
    socket = undefined
    for (const { listener } of channels.values()) listener.lost()
    if (users === 0 || standing.value === 'signed out') return
    setTimeout(again, pauseMs)
    pauseMs = longerPause(pauseMs)
  })
}

function again(): void {
  if (users > 0) connect()
}

/** Replaces a connection that is dead but not closed, and reconnects a lost one at once when that may succeed. */
function look(): void {
  if (socket && Date.now() - heard > silenceMs) {
    const dead = socket
    socket = undefined
    for (const { listener } of channels.values()) listener.lost()
    dead.close()
  }
  again()
}

setInterval(() => {
  if (socket && Date.now() - heard > silenceMs) look()
}, watchMs)
addEventListener('online', look)
document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && look())

function take(data: string | ArrayBuffer): void {
  heard = Date.now()
  if (typeof data !== 'string') {
    const frame = readDrawn(new Uint8Array(data))
    if (frame) channels.get(frame.channel)?.listener.draw(frame)
    return
  }
  const frame = JSON.parse(data) as HubFrame
  if (frame.type === 'terminals') terminals.value = frame.rows
  else if (frame.type === 'preview') previews.value = new Map(previews.value).set(frame.id, frame.rows)
  else if ('channel' in frame && frame.channel !== undefined) channels.get(frame.channel)?.listener.tell(frame)
}
