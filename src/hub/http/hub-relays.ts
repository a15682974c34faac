import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { WebSocketServer } from 'ws'
import type { Right } from '../model/access/rights.ts'
import type { MachineOffer } from '../model/machine-standing.ts'
import type { AnswerContext, Answers } from '../../wire/frames/answering.ts'
import type { Asking, AskOptions } from '../../wire/frames/asking.ts'
import type { DialParts } from '../../wire/frames/web-socket-carrier.ts'
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { defined } from '../../base/defined.ts'
import { messageOf } from '../../base/error-message.ts'
import { longestWorkMs } from '../model/machine-work.ts'
import { mayDo, rights } from '../model/access/rights.ts'
import { relayPath } from '../../wire/link/link-greeting.ts'
import { WireAnswering } from '../../wire/frames/answering.ts'
import { WireAsking } from '../../wire/frames/asking.ts'
import { Connection } from '../../wire/frames/connection.ts'
import {
  longestFrame,
  objectIn,
  olderSide,
  versionIn,
  WireFailure,
  wireVersion,
  encodeFrame,
} from '../../wire/frames/frames.ts'
import { isMethod, isStream, methods } from '../../wire/frames/methods.ts'
import { dialHub, webSocketCarrier } from '../../wire/frames/web-socket-carrier.ts'

/** How far the clocks of two hubs may differ, and the longest time for which a token is valid. */
const tokenMs = 60_000
/** How long the other hub may take to prove itself. */
const proveMs = 5_000
/** The shortest pause before the next attempt to reach a hub that could not be reached. */
const restMs = 2_000
const mostHubs = 100
const longestToken = 1_000

type HubRelayParts = DialParts & {
  id: string
  /** The secret that the hubs of one ledger share. */
  secret(): Promise<Uint8Array>
  /** The connection to a machine that is linked to this hub itself, or is the hub's own. A request is passed on only once. */
  here(machine: string): Answers | Asking | undefined
}

/**
 * The connections between the hubs of one ledger. To connect, a hub sends a token that it signed with the secret of the ledger, valid for
 * one other hub and for one minute. The secret itself is never sent, so somebody who took over an address learns nothing. The other hub
 * signs the token's nonce in turn before it gets any request. A person's key never leaves the hub that received it; the person's name and
 * role go along with each request, and are checked again.
 */
export class HubRelays {
  #parts: HubRelayParts
  #server: Promise<WebSocketServer> | undefined
  #hubs = new Map<string, { url: string; asking: Promise<WireAsking>; failed?: number }>()
  #accepted = new Set<Connection>()
  #dialled = new Set<Connection>()
  /** The nonces of used tokens, kept until the tokens have expired. */
  #used = new Map<string, number>()
  #isClosed = false

  constructor(parts: HubRelayParts) {
    this.#parts = parts
  }

  /** The connection to the machines of another hub. It is opened when it is needed, and all requests share it. */
  to(hub: { id: string; url: string }): Asking {
    const reach = () => this.#reach(hub)
    return {
      call: async (method, params, options) => (await reach()).call(method, params, options),
      async *stream(method, params, options) {
        yield* (await reach()).stream(method, params, options)
      },
    }
  }

  /** Accepts a connection from another hub; a connection without a valid token is refused. */
  async accept(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const nonce = await this.#nonceOf(request)
    if (nonce === undefined || this.#isClosed || this.#accepted.size >= mostHubs) {
      socket.end('HTTP/1.1 401 Unauthorized\r\nconnection: close\r\ncontent-length: 0\r\n\r\n')
      return
    }
    this.#server ??= import('ws').then(
      ({ WebSocketServer: Server }) =>
        new Server({ noServer: true, maxPayload: longestFrame, perMessageDeflate: false }),
    )
    const server = await this.#server
    const proof = signText(await this.#parts.secret(), `answer ${nonce}`)
    if (socket.destroyed) return
    server.handleUpgrade(request, socket, head, (upgraded) => {
      const connection = new Connection(webSocketCarrier(upgraded), this.#parts.clock)
      this.#accepted.add(connection)
      void connection.over.then(() => this.#accepted.delete(connection))
      connection.send(encodeFrame({ type: 'proof', ...wireVersion, proof })!)
      void new WireAnswering(connection, new RelayAnswers(this.#parts.here))
    })
  }

  close(): void {
    this.#isClosed = true
    for (const connection of [...this.#accepted, ...this.#dialled]) connection.end('the hub is closing')
  }

  #reach(hub: { id: string; url: string }): Promise<WireAsking> {
    const { clock } = this.#parts
    const known = this.#hubs.get(hub.id)
    if (known?.url === hub.url && (known.failed === undefined || clock.elapsed() - known.failed < restMs))
      return known.asking
    const made: { url: string; asking: Promise<WireAsking>; failed?: number } = {
      url: hub.url,
      asking: this.#dial(hub),
    }
    this.#hubs.set(hub.id, made)
    made.asking.then(
      (asking) => asking.over.then(() => this.#hubs.get(hub.id) === made && this.#hubs.delete(hub.id)),
      () => (made.failed = clock.elapsed()),
    )
    return made.asking
  }

  async #dial({ id, url }: { id: string; url: string }): Promise<WireAsking> {
    const { clock, secret } = this.#parts
    const nonce = randomBytes(16).toString('hex')
    const key = await secret()
    const claims = JSON.stringify({ from: this.#parts.id, to: id, at: clock.now(), nonce })
    const token = `${Buffer.from(claims).toString('base64url')}.${signText(key, claims)}`
    try {
      const connection = await dialHub(`${url.replace(/\/+$/, '')}${relayPath}`, `Hub ${token}`, this.#parts)
      this.#dialled.add(connection)
      void connection.over.then(() => this.#dialled.delete(connection))
      const said = objectIn(await connection.first(proveMs)) ?? {}
      if (!isSame(typeof said.proof === 'string' ? said.proof : '', signText(key, `answer ${nonce}`))) {
        connection.cut('the other hub did not prove itself')
        throw new Error('what answers there is not a hub of this ledger')
      }
      // Hubs before the second version did not send their version.
      const older = olderSide(versionIn(said) ?? { version: 1, oldest: 1 })
      if (older) {
        connection.end('the other hub has another version')
        throw new Error(
          `the termaite of ${older === 'ours' ? 'this' : 'that'} hub is too old for the other one; update it`,
        )
      }
      return new WireAsking(connection, clock)
    } catch (error) {
      throw new WireFailure('away', `The hub that the machine is linked to cannot be reached: ${messageOf(error)}.`)
    }
  }

  /** The nonce of a token; undefined if the token is invalid, meant for another hub, or already used. */
  async #nonceOf(request: IncomingMessage): Promise<string | undefined> {
    const [, body = '', signature = ''] =
      /^Hub ([\w-]+)\.([0-9a-f]{64})$/.exec(request.headers.authorization ?? '') ?? []
    if (body === '' || body.length > longestToken) return undefined
    const claims = Buffer.from(body, 'base64url').toString('utf8')
    if (!isSame(signature, signText(await this.#parts.secret(), claims))) return undefined
    // Only a hub of this ledger can have signed the claims, so their shape is right.
    const { to, at, nonce } = JSON.parse(claims) as { to: string; at: number; nonce: string }
    const now = this.#parts.clock.now()
    for (const [used, until] of this.#used) if (until < now) this.#used.delete(used)
    if (to !== this.#parts.id || Math.abs(now - at) > tokenMs || this.#used.has(nonce)) return undefined
    this.#used.set(nonce, now + 2 * tokenMs)
    return nonce
  }
}

/**
 * The right that each request of another hub needs. The hub that requests `work` has already checked which work the person may request.
 */
const operationsOf: Record<MachineOffer | 'work', Right> = {
  turns: 'turns',
  answers: 'turns',
  terminals: 'terminals',
  typing: 'type',
  prompts: 'prompt',
  conversations: 'conversations',
  work: 'read',
}

/** Answers another hub for the machines that are linked here only, so that no request goes in a circle. */
class RelayAnswers implements Answers {
  #here: HubRelayParts['here']

  constructor(here: HubRelayParts['here']) {
    this.#here = here
  }

  methods(): readonly string[] {
    return Object.keys(methods)
  }

  answer(method: string, params: Record<string, unknown>, context: AnswerContext) {
    const { by, machine = '', signal } = context
    if (!isMethod(method)) return undefined
    const { scope, params: shape } = methods[method]
    if (scope === 'process') return undefined
    const operation = operationsOf[scope]
    if (!mayDo(by.role, operation))
      throw new WireFailure('forbidden', `${by.name} has the role ${by.role} and may not ${rights[operation].words}.`)
    const there = this.#here(machine)
    if (!there) throw new WireFailure('away', `${machine} is not linked to this hub any more.`)
    if ('answer' in there) return there.answer(method, params, { by, signal })
    const options: AskOptions = defined({ by, signal, withinMs: longestWorkMs })
    const read = shape.parse(params)
    return isStream(method) ? there.stream(method, read, options) : there.call(method, read, options)
  }
}

const signText = (key: Uint8Array, text: string) => createHmac('sha256', key).update(text).digest('hex')

const isSame = (one: string, other: string) =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other))
