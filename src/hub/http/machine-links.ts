import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { WebSocketServer } from 'ws'
import type { Clock } from '../../base/time/clock.ts'
import type { HubBook, LinkedMachine } from '../model/hub-book.ts'
import type { HubCaller } from '../model/access/hub-key.ts'
import type { MachineStanding } from '../model/machine-standing.ts'
import type { Hello, Welcome } from '../../wire/link/link-greeting.ts'
import type { Asking } from '../../wire/frames/asking.ts'
import { createHash } from 'node:crypto'
import { defined } from '../../base/defined.ts'
import { announceMs } from '../model/hub-book.ts'
import { FarMachine } from '../../wire/link/far-machine.ts'
import { readHello, skewWords } from '../../wire/link/link-greeting.ts'
import { WireAsking } from '../../wire/frames/asking.ts'
import { Connection } from '../../wire/frames/connection.ts'
import { longestFrame, wireVersion, encodeFrame } from '../../wire/frames/frames.ts'
import { webSocketCarrier } from '../../wire/frames/web-socket-carrier.ts'

/** How long a machine may take to send its greeting. */
const helloMs = 10_000
/** The most machines at one hub, and the most connections that have not sent a greeting yet. */
const mostLinks = 2_000
const mostUngreeted = 100

/** A machine that is linked to this hub, and the key with which it connected. */
type Link = { about: LinkedMachine; guest: Guest; connection: Connection; asking: WireAsking; far: FarMachine }

/** The client that connected as a machine; `isIn` says whether its key is still valid. */
type Guest = { caller: HubCaller; isIn(): Promise<boolean> }

const keyIsOver = 'the key of this machine has expired or was revoked'

/** The hub's own machine. `proofFor` returns the proof that a process of the hub's own home would show at a host. */
type OwnMachine = { machine: string; proofFor(host: string): string; works(): readonly string[] }

type MachineLinksParts = {
  /** The name of this hub among the hubs of its ledger. */
  id: string
  /** The address at which the other hubs of the ledger reach this one. */
  innerUrl?: string
  version: string
  book: HubBook
  own: OwnMachine
  clock: Clock
  /** The connection to a machine that is linked to another hub. */
  relay?(hub: { id: string; url: string }): Asking
  /** Warns the person who runs the hub. */
  warn?(words: string): void
}

/** Every machine that this hub can reach: its own, the machines linked to it, and the machines at the other hubs of its ledger. */
export class MachineLinks {
  readonly own: string
  #parts: MachineLinksParts
  #server: Promise<WebSocketServer> | undefined
  #links = new Map<string, Link>()
  #ungreeted = 0
  #listeners = new Set<() => void>()
  #standings: MachineStanding[] = []
  #relayed = new Map<string, { mark: string; far: FarMachine }>()
  #ownLink: number | undefined
  #since: number
  #over = new AbortController()
  #announcing: Promise<void> | undefined
  #isStale = false
  #isLost = false

  constructor(parts: MachineLinksParts) {
    this.#parts = parts
    this.own = parts.own.machine
    this.#since = parts.clock.now()
    this.#standings = [this.#ownStanding()]
  }

  /** Keeps the address book up to date until the links are closed. */
  async run(): Promise<void> {
    const { clock } = this.#parts
    const { signal } = this.#over
    for (; !signal.aborted; await clock.sleep(announceMs, signal)) {
      await this.#announce()
      // Another hub may have revoked a key.
      for (const { guest, connection } of this.#links.values())
        if (!(await guest.isIn().catch(() => true))) connection.end(keyIsOver)
    }
  }

  /** Accepts a connection whose caller may link a machine. */
  async accept(request: IncomingMessage, socket: Duplex, head: Buffer, guest: Guest): Promise<void> {
    this.#server ??= import('ws').then(
      ({ WebSocketServer: Server }) =>
        new Server({ noServer: true, maxPayload: longestFrame, perMessageDeflate: false }),
    )
    const server = await this.#server
    if (this.#over.signal.aborted || this.#ungreeted >= mostUngreeted || this.#links.size >= mostLinks) socket.destroy()
    if (socket.destroyed) return
    server.handleUpgrade(request, socket, head, (upgraded) => {
      const connection = new Connection(webSocketCarrier(upgraded), this.#parts.clock)
      // A link that fails is cut; the other links continue.
      this.#greet(connection, guest, request.headers.host ?? '').catch(() =>
        connection.cut('the hub could not let the machine in'),
      )
    })
  }

  /** Cuts the machines that connected with a key that was revoked. */
  cut(key: string): void {
    for (const link of this.#links.values()) if (link.guest.caller.id === key) link.connection.end(keyIsOver)
  }

  async close(): Promise<void> {
    this.#over.abort('closed')
    for (const { connection } of this.#links.values()) connection.end('the hub is closing')
    await this.#parts.book.withdraw(this.#parts.id).catch(() => {})
  }

  /** The machines that can be reached now, apart from the hub's own. */
  reachable(): FarMachine[] {
    const here = [...this.#links.values()].map(({ far }) => far)
    return [...here, ...[...this.#relayed.values()].map(({ far }) => far)]
  }

  reach(machine: string): FarMachine | undefined {
    return this.#links.get(machine)?.far ?? this.#relayed.get(machine)?.far
  }

  /** The connection to a machine that is linked to this hub itself. */
  linked(machine: string): Asking | undefined {
    return this.#links.get(machine)?.asking
  }

  /** Every machine that the hub knows, in alphabetical order. */
  standings(): readonly MachineStanding[] {
    return this.#standings
  }

  /** Calls `see` after each change of the machines, until the returned function is called. */
  listen(see: () => void): () => void {
    this.#listeners.add(see)
    return () => this.#listeners.delete(see)
  }

  /** Reads the address book now instead of at its next regular time. */
  look(): Promise<void> {
    return this.#announce()
  }

  /** Forgets a machine that is offline, so that another machine can use its name. */
  async forget(machine: string): Promise<boolean> {
    const done = await this.#parts.book.forget(machine)
    if (done) await this.#announce()
    return done
  }

  async #greet(connection: Connection, guest: Guest, host: string): Promise<void> {
    this.#ungreeted++
    const data = await connection.first(helloMs, 'a machine may send nothing before it is let in')
    this.#ungreeted--
    if (data === undefined) return connection.cut('the machine did not send a greeting')
    const hello = readHello(data)
    const answer = typeof hello === 'string' ? refuseMachine(hello) : await this.#letIn(hello, guest.caller, host)
    // The key may have been revoked in the meantime; without this check nothing would cut the link.
    if (connection.ended.aborted || !(await guest.isIn())) return connection.end(keyIsOver)
    connection.send(encodeFrame(answer.welcome)!)
    if (answer.link === undefined) return connection.end('the hub did not let the machine in')
    const asking = new WireAsking(connection, this.#parts.clock)
    this.#join({ hello: hello as Hello, connection, asking, guest, link: answer.link })
  }

  /** Decides whether a machine is admitted under the name that it gives. */
  async #letIn(hello: Hello, caller: HubCaller, host: string): Promise<LetIn> {
    const { book, own, version } = this.#parts
    const { machine, proof } = hello
    const skew = skewWords(hello, version)
    if (skew !== undefined) return refuseMachine(skew)
    if (machine === own.machine) {
      const isOwn = proof === own.proofFor(hostnameIn(host))
      return refuseMachine(
        isOwn
          ? `${machine} needs no link: the hub runs on this machine and serves its turns and terminals itself.`
          : `${machine} is the name of the machine on which the hub runs. Give this machine another name: --machine-name`,
        isOwn,
      )
    }
    let bound
    try {
      bound = await book.bind({ machine, key: caller.id, keyName: caller.name, proof: hashOf(proof) })
    } catch {
      return { welcome: { type: 'refused', why: 'The hub cannot reach its ledger now.', retry: true } }
    }
    if ('taken' in bound)
      return refuseMachine(
        `The name ${machine} belongs to a machine that linked with the key ${bound.taken.keyName}. Give this machine another name with --machine-name, or let an admin free the name: termaite hub machines forget ${machine}`,
      )
    return { welcome: { type: 'welcome', version: wireVersion.version, termaite: version, machine }, link: bound.link }
  }

  #join({
    hello,
    connection,
    asking,
    guest,
    link,
  }: {
    hello: Hello
    connection: Connection
    asking: WireAsking
    guest: Guest
    link: number
  }): void {
    const { machine, offers, works, termaite: version } = hello
    const about = { machine, since: this.#parts.clock.now(), link, version, offers, works }
    const made: Link = { about, guest, connection, asking, far: new FarMachine(about, asking) }
    // The newer link counts: the older one may be half open, after a sleep or a change of address.
    this.#links.get(machine)?.connection.end('this machine has linked again')
    this.#links.set(machine, made)
    void connection.over.then(() => {
      if (this.#links.get(machine) !== made) return
      this.#links.delete(machine)
      void this.#announce()
    })
    this.#relayed.delete(machine)
    void this.#announce()
  }

  /**
   * Writes the machines of this hub into the address book, and reads which machines are at other hubs; one call at a time, and once more
   * if something changed in the meantime.
   */
  async #announce(): Promise<void> {
    this.#isStale = true
    this.#announcing ??= (async () => {
      while (this.#isStale && !this.#over.signal.aborted) {
        this.#isStale = false
        await this.#exchange().then(
          () => (this.#isLost = false),
          (error: unknown) => {
            if (!this.#isLost) this.#parts.warn?.(`the address book of the hubs cannot be reached: ${String(error)}`)
            this.#isLost = true
            this.#tell()
          },
        )
      }
      this.#announcing = undefined
    })()
    await this.#announcing
  }

  async #exchange(): Promise<void> {
    const { book, id, innerUrl } = this.#parts
    this.#tell()
    const own = await this.#ownMachine()
    const machines = [...(own ? [own] : []), ...[...this.#links.values()].map(({ about }) => about)]
    const { gone } = await book.announce(defined({ id, url: innerUrl, machines }))
    for (const machine of gone) this.#links.get(machine)?.connection.end('this machine has linked to another hub')
    this.#learn(await book.machines())
  }

  /** The hub's own machine in the form for the other hubs; undefined if another machine has its name. */
  async #ownMachine(): Promise<LinkedMachine | undefined> {
    const { book, own, version } = this.#parts
    if (this.#ownLink === undefined) {
      const bound = await book.bind({
        machine: own.machine,
        key: `hub ${this.#parts.id}`,
        keyName: 'of the hub itself',
        proof: hashOf(own.proofFor('')),
      })
      if ('link' in bound) this.#ownLink = bound.link
    }
    if (this.#ownLink === undefined) return undefined
    const offers = this.#ownStanding().offers
    return {
      machine: own.machine,
      since: this.#since,
      link: this.#ownLink,
      version,
      offers,
      works: own.works(),
      runsHub: true,
    }
  }

  #ownStanding(): MachineStanding {
    const { own, version } = this.#parts
    const offers = ['turns', 'answers', 'terminals', 'typing', 'prompts', 'conversations']
    return { machine: own.machine, online: true, since: this.#since, own: true, version, offers }
  }

  /** Stores the entries of the address book about machines that are not here. */
  #learn(booked: Awaited<ReturnType<HubBook['machines']>>): void {
    const { id, own, relay } = this.#parts
    const elsewhere = new Map(booked.map((row) => [row.machine, row]))
    for (const machine of this.#relayed.keys()) if (!elsewhere.get(machine)?.hub) this.#relayed.delete(machine)
    for (const row of booked) {
      const { machine, hub, link } = row
      if (machine === own.machine || this.#links.has(machine) || !hub || hub.id === id) {
        this.#relayed.delete(machine)
        continue
      }
      const mark = `${hub.id} ${link}`
      if (hub.url === undefined || !relay || this.#relayed.get(machine)?.mark === mark) continue
      this.#relayed.set(machine, { mark, far: new FarMachine(row, relay({ id: hub.id, url: hub.url }), true) })
    }
    this.#standings = [
      this.#ownStanding(),
      ...booked
        .filter(({ machine }) => machine !== own.machine)
        .map(({ machine, since, seen, version, offers, hub, runsHub }) => {
          const online = this.#links.has(machine) || (hub !== undefined && hub.id !== id)
          return defined({ machine, online, since: online ? since : seen, version, offers, runsHub })
        }),
    ].toSorted((a, b) => (a.machine < b.machine ? -1 : 1))
    this.#tell()
  }

  #tell(): void {
    for (const see of this.#listeners) see()
  }
}

type LetIn = { welcome: Welcome; link?: number }

const refuseMachine = (why: string, served?: boolean): LetIn => ({
  welcome: defined({ type: 'refused', why, retry: false, served }),
})

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex')

/** The name in a Host header, without its port. */
const hostnameIn = (host: string) => URL.parse(`http://${host}`)?.hostname ?? ''
