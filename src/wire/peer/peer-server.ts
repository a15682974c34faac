import type { Server } from 'node:net'
import type { Clock } from '../../base/time/clock.ts'
import type { Peer } from '../../core/turns/peer.ts'
import type { Terminal } from '../../core/screen/terminal.ts'
import type { Event } from '../../core/talk/entry.ts'
import { once } from 'node:events'
import { chmodSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { WireAnswering } from '../frames/answering.ts'
import { Connection } from '../frames/connection.ts'
import { wireVersion, encodeFrame, WireFailure } from '../frames/frames.ts'
import { unixCarrier } from '../frames/unix-carrier.ts'
import { ensurePrivateFolder, ownSocketName, removeSocket, socketFolders } from './peer-sockets.ts'
import { cutMiddle } from '../../core/talk/body.ts'
import { MethodAnswers } from '../frames/methods.ts'
import { shownTerminals, terminalOf } from '../frames/terminal-answers.ts'

type ServedPeer = { path: string; close(): Promise<void> }

/** Other processes of the same home ask in the name of its owner. */
const thisPerson = { name: 'user', role: 'admin' } as const

/** How long followers may take to read the last frames when the server closes. */
const graceMs = 250

/**
 * Serves a Peer to the other processes of the same person, without keeping this process alive. Returns undefined if there is no
 * socket that only this person can open.
 */
export async function servePeer(peer: Peer, home: string, clock: Clock): Promise<ServedPeer | undefined> {
  const connections = new Map<Connection, WireAnswering>()
  const server = createServer((socket) => {
    const connection = new Connection(unixCarrier(socket.unref()), clock)
    connection.send(encodeFrame({ type: 'hello', ...wireVersion, pid: process.pid })!)
    connections.set(connection, new WireAnswering(connection, new PeerAnswers(peer), thisPerson))
    // A connection ends by itself; the server continues with the others.
    void connection.over.then(() => connections.delete(connection))
  }).unref()
  const path = await listenBelow(home, server)
  if (path === undefined) return undefined
  return {
    path,
    async close() {
      server.close()
      removeSocket(path)
      const gone = new AbortController()
      // Nothing waits for these promises: connections that are still open after the sleep are cut.
      for (const [connection, answering] of connections)
        void answering.settled().then(() => connection.end('this process has exited'))
      void Promise.all([...connections.keys()].map(({ over }) => over)).then(() => gone.abort())
      await clock.sleep(graceMs, gone.signal)
      for (const connection of connections.keys()) connection.cut('this process has exited')
    },
  }
}

async function listenBelow(home: string, server: Server): Promise<string | undefined> {
  const folders = socketFolders(home)
  // Listening is tried twice: another process may remove an empty folder just before this one listens in it.
  for (const folder of [...folders, ...folders]) {
    const path = join(folder, ownSocketName())
    if (ensurePrivateFolder(folder) && (await listenAt(server, path))) return path
  }
  return undefined
}

async function listenAt(server: Server, path: string): Promise<boolean> {
  try {
    // A socket that is already there was left by a dead process with the same pid.
    rmSync(path, { force: true })
    await once(server.listen(path), 'listening')
    chmodSync(path, 0o600)
    server.on('error', () => {})
    return true
  } catch {
    removeSocket(path)
    return false
  }
}

/** The longest text that may arrive in parts. */
const longestText = 64 * 1024 ** 2

/** Answers another process of the same person, for one connection. */
class PeerAnswers extends MethodAnswers {
  constructor(peer: Peer) {
    const typing = new TypingInOrder((id) => peer.terminal(id))
    const on = (id: string) => terminalOf((one) => peer.terminal(one), id)
    super({
      'turns.list': () => peer.turns(),
      'turn.events': ({ turn, how }, { signal }) => peer.follow(turn, signal, how),
      'turn.answer': ({ turn, ask, picks }) => peer.answer(turn, ask, picks),
      'turn.steer': ({ turn, text }) => peer.steer(turn, text),
      'turn.cancel': ({ turn }) => peer.cancel(turn),
      ...shownTerminals((id) => peer.terminal(id)),
      'terminal.part': ({ id, text }) => typing.part(id, text),
      'terminal.type': ({ id, paste, text, person }) => {
        const whole = typing.whole(id, text)
        return typing.act(id, (terminal) => (paste ? terminal.paste(whole, person) : terminal.write(whole, person)))
      },
      'terminal.press': ({ id, key }) => typing.act(id, (terminal) => terminal.press(key)),
      'terminal.resize': ({ id, cols, rows }) => typing.act(id, (terminal) => terminal.resize(cols, rows)),
      'terminal.children': async ({ id }) => (await on(id)).children(),
      'terminal.touched': async ({ id }) => (await on(id)).touched(),
      'terminal.retitle': ({ id, title, ring }) => typing.act(id, (terminal) => terminal.retitle(title, ring)),
      'terminal.close': ({ id }) => typing.act(id, (terminal) => terminal.close()),
    })
  }

  /** A long event is cut and names the place of the whole. */
  *shorter(event: unknown): Generator<Event> {
    const short = shortenEvent(event as Event)
    if (short) yield short
    yield placeholder(event as Event)
  }
}

/** Performs one connection's acts on terminals in the order of its requests. */
class TypingInOrder {
  #find: Peer['terminal']
  #parts = new Map<string, string>()
  #last = new Map<string, Promise<void>>()

  constructor(find: Peer['terminal']) {
    this.#find = find
  }

  /** Keeps the beginning of a long text: a paste stays one paste, however long. */
  async part(id: string, text: string): Promise<true> {
    const whole = (this.#parts.get(id) ?? '') + text
    if (whole.length > longestText) {
      this.#parts.delete(id)
      throw new WireFailure('long', `A text of more than ${longestText / 1024 ** 2} MB cannot be typed.`)
    }
    this.#parts.set(id, whole)
    return true
  }

  /** Ends a text whose beginning may have come in parts. */
  whole(id: string, end: string): string {
    const whole = (this.#parts.get(id) ?? '') + end
    this.#parts.delete(id)
    return whole
  }

  act(id: string, act: (terminal: Terminal) => Promise<void>): Promise<true> {
    const before = this.#last.get(id)
    const done = before ? before.then(() => this.#do(id, act)) : this.#do(id, act)
    // A failure is reported only to the side that asked; the next act still runs.
    const forget = () => {
      if (this.#last.get(id) === settled) this.#last.delete(id)
    }
    const settled = done.then(forget, forget)
    this.#last.set(id, settled)
    return done
  }

  async #do(id: string, act: (terminal: Terminal) => Promise<void>): Promise<true> {
    await act(await terminalOf(this.#find, id))
    return true
  }
}

function shortenEvent(event: Event): Event | undefined {
  const place = placeOf(event)
  try {
    return JSON.parse(
      JSON.stringify(event, (_key, value: unknown) => (typeof value === 'string' ? cutMiddle(value, place) : value)),
    ) as Event
  } catch {
    return undefined
  }
}

function placeholder(event: Event): Event {
  const where = placeOf(event)
  return {
    type: 'note',
    by: 'termaite',
    text: `a ${event.type} is too long to be shown here${where ? `: ${where}` : ''}`,
  }
}

function placeOf(event: Event): string | undefined {
  return 'id' in event && typeof event.id === 'string' ? `entry ${event.id} of the conversation` : undefined
}
