import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '../../../base/time/clock.ts'
import type { HubCaller } from '../../model/access/hub-key.ts'
import type { HubKeys } from '../../engine/access/hub-keys.ts'
import type { SignIns } from '../../engine/access/sign-ins.ts'
import { callAfter } from '../../../base/time/clock.ts'
import { defined } from '../../../base/defined.ts'
import { hashOf } from '../../engine/access/secret.ts'
import { bearerIn } from '../../../wire/http/http-server.ts'

/** A request whose answer is not complete, and the hash of the secret that it came with, if any. */
type OpenRequest = { response: ServerResponse; hash?: string }

type OpenRequestParts = {
  keys: HubKeys
  signIns: SignIns
  clock: Clock
  /** Finds the caller of a request; undefined if the request has no caller and was already answered. */
  allowed(request: IncomingMessage, response: ServerResponse): Promise<HubCaller | undefined>
}

/** How often the hub checks whether the keys of open requests are still valid. */
const lookMs = 10_000

/** The requests that are not answered yet, such as waits and streams. Each is cut when its key or sign-in is revoked or expires. */
export class OpenRequests {
  #parts: OpenRequestParts
  #open = new Map<HubCaller, OpenRequest>()
  /** The keys and sign-ins that were revoked during each lookup of a caller that is still running. */
  #admitting = new Set<Set<string>>()

  constructor(parts: OpenRequestParts) {
    this.#parts = parts
  }

  /**
   * The caller of a request, which counts as open from now on; undefined if the request was answered or its client is gone. If a key is
   * revoked during the lookup, the lookup is repeated, because nothing would cut the request later.
   */
  async admit(request: IncomingMessage, response: ServerResponse): Promise<HubCaller | undefined> {
    const ended = new Set<string>()
    this.#admitting.add(ended)
    try {
      const caller = await this.#parts.allowed(request, response)
      if (caller && ended.has(caller.id)) return await this.admit(request, response)
      if (!caller || response.destroyed) return undefined
      const key = bearerIn(request)
      this.#open.set(caller, defined({ response, hash: key === undefined ? undefined : hashOf(key) }))
      response.once('close', () => this.#open.delete(caller))
      if (caller.ends !== undefined) this.#cutAt(caller.ends, response)
      return caller
    } finally {
      this.#admitting.delete(ended)
    }
  }

  /** Cuts the requests of a key or a sign-in that was revoked, except the request that revoked it. */
  cut(id: string, by: HubCaller | undefined): void {
    for (const ended of this.#admitting) ended.add(id)
    for (const [caller, { response }] of this.#open) if (caller.id === id && caller !== by) response.destroy()
  }

  /** Cuts the requests of keys that were revoked at another hub of the same ledger, or that have expired. */
  async cutEnded(signal: AbortSignal): Promise<void> {
    const { keys, signIns, clock } = this.#parts
    for (;;) {
      await clock.sleep(lookMs, signal)
      if (signal.aborted) return
      // While the ledger is unavailable, no connection is closed.
      const [isAccepted, browsers] = await Promise.all([keys.accepted(), signIns.holding()]).catch(() => [])
      if (!isAccepted || !browsers) continue
      for (const [{ id, sso }, { response, hash }] of this.#open)
        if (hash === undefined ? !sso && !browsers.has(id) : !isAccepted(hash)) response.destroy()
    }
  }

  /** Cuts a request whose caller's key or sign-in expires at a known time. */
  #cutAt(ends: number, response: ServerResponse): void {
    const { clock } = this.#parts
    const over = new AbortController()
    response.once('close', () => over.abort('over'))
    callAfter(clock, ends - clock.now(), over.signal, () => response.destroy())
  }
}
