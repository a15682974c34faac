import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { WebSocketServer } from 'ws'
import type { HubOperation } from '../../hub/hub-roles.ts'
import type { AnswerContext, Answers } from '../link/link-answering.ts'
import type { Asking, AskOptions } from '../link/link-asking.ts'
import type { DialParts } from '../link/link-dial.ts'
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { within } from '../../base/clock.ts'
import { defined } from '../../base/defined.ts'
import { messageOf } from '../../base/error-message.ts'
import { longestWorkMs } from '../../core/work/machine-work.ts'
import { mayDo, operations } from '../../hub/hub-roles.ts'
import { LinkAnswering } from '../link/link-answering.ts'
import { LinkAsking, LinkFailure } from '../link/link-asking.ts'
import { dialLink } from '../link/link-dial.ts'
import { longestFrame, relayPath } from '../link/link-frames.ts'
import { LinkSocket } from '../link/link-socket.ts'

/** How far the clocks of two hubs may be apart, and how long a token can be used at most. */
const tokenMs = 60_000
/** How long the other hub may take to prove itself. */
const proveMs = 5_000
/** A hub that could not be reached is tried again after this long at the earliest. */
const restMs = 2_000
const mostHubs = 100
const longestToken = 1_000

type Parts = DialParts & {
  id: string
  /** The secret that the hubs of one ledger share. */
  secret(): Promise<Uint8Array>
  /** The way to a machine that is linked to this very hub, or is its own. A request is never passed on twice. */
  here(machine: string): Answers | Asking | undefined
}

/**
 * The connections between the hubs of one ledger. A hub shows a token that it signed with the secret of the ledger, for one other hub and
 * for one minute: the secret itself never travels, so an address that somebody else has by now learns nothing. The other hub signs the
 * token's nonce in turn before anything is asked of it. The key of a person never leaves the hub that it was sent to; their name and role
 * go along with each request, and are checked again.
 */
export class HubRelays {
  #parts: Parts
  #server: Promise<WebSocketServer> | undefined
  #hubs = new Map<string, { url: string; asking: Promise<LinkAsking>; failed?: number }>()
  #accepted = new Set<LinkSocket>()
  #dialled = new Set<LinkSocket>()
  /** The nonces of tokens that were used, until the tokens are too old. */
  #used = new Map<string, number>()
  #isClosed = false

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** The way to the machines of another hub. The connection is made when it is needed, and once for everybody. */
  to(hub: { id: string; url: string }): Asking {
    const reach = () => this.#reach(hub)
    return {
      call: async (method, params, options) => (await reach()).call(method, params, options),
      async *stream(method, params, options) {
        yield* (await reach()).stream(method, params, options)
      },
    }
  }

  /** Takes over a connection of another hub; one without a right token is refused. */
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
    const proof = signed(await this.#parts.secret(), `answer ${nonce}`)
    if (socket.destroyed) return
    server.handleUpgrade(request, socket, head, (connection) => {
      const link = new LinkSocket(connection, this.#parts.clock)
      this.#accepted.add(link)
      void link.over.then(() => this.#accepted.delete(link))
      const answering = new LinkAnswering(link, new RelayAnswers(this.#parts.here))
      link.read((data) => answering.take(data))
      link.send(JSON.stringify({ type: 'proof', proof }))
    })
  }

  close(): void {
    this.#isClosed = true
    for (const socket of [...this.#accepted, ...this.#dialled]) socket.end('the hub is closing')
  }

  #reach(hub: { id: string; url: string }): Promise<LinkAsking> {
    const { clock } = this.#parts
    const known = this.#hubs.get(hub.id)
    if (known?.url === hub.url && (known.failed === undefined || clock.elapsed() - known.failed < restMs))
      return known.asking
    const made: { url: string; asking: Promise<LinkAsking>; failed?: number } = {
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

  async #dial({ id, url }: { id: string; url: string }): Promise<LinkAsking> {
    const { clock, secret } = this.#parts
    const nonce = randomBytes(16).toString('hex')
    const key = await secret()
    const claims = JSON.stringify({ from: this.#parts.id, to: id, at: clock.now(), nonce })
    const token = `${Buffer.from(claims).toString('base64url')}.${signed(key, claims)}`
    const first = Promise.withResolvers<string>()
    let asking: LinkAsking | undefined
    try {
      const socket = await dialLink(`${url.replace(/\/+$/, '')}${relayPath}`, `Hub ${token}`, this.#parts, (link) => {
        this.#dialled.add(link)
        void link.over.then(() => this.#dialled.delete(link))
        link.read((data) => (asking ? asking.take(data) : first.resolve(String(data))))
      })
      const said = await within(clock, Promise.race([first.promise, socket.over]), proveMs)
      if (!isSame(proofIn(said), signed(key, `answer ${nonce}`))) {
        socket.cut('the other hub did not prove itself')
        throw new Error('what answers there is no hub of this ledger')
      }
      return (asking = new LinkAsking(socket, clock))
    } catch (error) {
      throw new LinkFailure('away', `The hub that the machine is linked to cannot be reached: ${messageOf(error)}.`)
    }
  }

  /** The nonce of a token that is right, for this hub, and was not used yet. */
  async #nonceOf(request: IncomingMessage): Promise<string | undefined> {
    const [, body = '', signature = ''] =
      /^Hub ([\w-]+)\.([0-9a-f]{64})$/.exec(request.headers.authorization ?? '') ?? []
    if (body === '' || body.length > longestToken) return undefined
    const claims = Buffer.from(body, 'base64url').toString('utf8')
    if (!isSame(signature, signed(await this.#parts.secret(), claims))) return undefined
    // Only a hub of this ledger can have signed the claims, so they have their shape.
    const { to, at, nonce } = JSON.parse(claims) as { to: string; at: number; nonce: string }
    const now = this.#parts.clock.now()
    for (const [used, until] of this.#used) if (until < now) this.#used.delete(used)
    if (to !== this.#parts.id || Math.abs(now - at) > tokenMs || this.#used.has(nonce)) return undefined
    this.#used.set(nonce, now + 2 * tokenMs)
    return nonce
  }
}

/** The operation of the table of roles that a request of another hub is. The hub that asks for work has checked which work the person may ask for. */
function operationOf(method: string): HubOperation {
  if (method === 'terminal.type' || method === 'terminal.resize') return 'type'
  if (method.startsWith('terminal')) return 'terminals'
  if (method.startsWith('turn')) return 'turns'
  if (method.startsWith('prompts')) return 'prompt'
  if (method.startsWith('conversations')) return 'conversations'
  return 'read'
}

/** Answers another hub for the machines that are linked here, and for no others, so that no request goes in a circle. */
class RelayAnswers implements Answers {
  #here: Parts['here']

  constructor(here: Parts['here']) {
    this.#here = here
  }

  methods(): readonly string[] {
    return []
  }

  answer(method: string, params: Record<string, unknown>, context: AnswerContext) {
    const { by, machine = '', signal } = context
    const operation = operationOf(method)
    if (!mayDo(by.role, operation))
      throw new LinkFailure(
        'forbidden',
        `${by.name} has the role ${by.role} and may not ${operations[operation].words}.`,
      )
    const there = this.#here(machine)
    if (!there) throw new LinkFailure('away', `${machine} is not linked to this hub any more.`)
    if ('answer' in there) return there.answer(method, params, { by, signal })
    const options: AskOptions = defined({ by, signal, withinMs: longestWorkMs })
    return streams.has(method) ? there.stream(method, params, options) : there.call(method, params, options)
  }
}

/** The requests that are answered by many items. */
const streams = new Set(['turns.follow', 'turns.watch', 'terminal.output', 'terminal.exited', 'conversations.follow'])

const signed = (key: Uint8Array, text: string) => createHmac('sha256', key).update(text).digest('hex')

const isSame = (one: string, other: string) =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other))

function proofIn(text: string | undefined): string {
  try {
    const { proof } = JSON.parse(text ?? '') as { proof?: unknown }
    return typeof proof === 'string' ? proof : ''
  } catch {
    return ''
  }
}
