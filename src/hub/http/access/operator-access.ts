import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressRanges } from '../../../base/http/address-ranges.ts'
import type { Clock } from '../../../base/time/clock.ts'
import type { HubVitals } from '../../model/tasks/hub-vitals.ts'
import type { HubFront } from './hub-front.ts'
import type { HubMetrics } from './hub-metrics.ts'
import { awaySeconds, LedgerAway } from '../../model/ledger-away.ts'
import { plainAddress } from '../../../base/http/address-ranges.ts'
import { answerHeaders, send } from './hub-answers.ts'
import { refusal } from './hub-router.ts'
import { metricsType } from './hub-metrics.ts'
import { serverPaths } from './server-paths.ts'

type OperatorParts = {
  front: HubFront
  metrics: HubMetrics
  clock: Clock
  vitals?: HubVitals
  /** The addresses that may read the metrics without a key, as a scraper in the same network does. */
  metricsFrom?: AddressRanges
}

/**
 * The three addresses for an operator's programs. The two health addresses only say whether the hub is alive and whether it can work, and
 * answer everybody: probes have no key, and use an address of the hub's own network. The metrics need a key, except from this machine
 * itself and from addresses that the settings name.
 */
export class OperatorAccess {
  #parts: OperatorParts
  /** The last check of the ledger, which all probes share: anybody may probe, and must not be able to keep the ledger busy. */
  #checked: { at: number; result: Promise<void> } | undefined

  constructor(parts: OperatorParts) {
    this.#parts = parts
  }

  /** Answers a probe; false if the request is not one. */
  async answerProbe(request: IncomingMessage, response: ServerResponse): Promise<boolean> {
    const path = pathOf(request)
    if (path !== serverPaths.alive.path && path !== serverPaths.ready.path) return false
    if (!isRead(request)) send(response, refusal(405, `${path} accepts GET, not ${request.method}`))
    else if (path === serverPaths.alive.path) sendPlain(response, 200, 'The hub runs.\n')
    else await this.#sendReadiness(response)
    return true
  }

  isMetrics(request: IncomingMessage): boolean {
    return pathOf(request) === serverPaths.metrics.path
  }

  /** Whether this request may read the metrics without a key. */
  isOpenTo(request: IncomingMessage): boolean {
    const { front, metricsFrom } = this.#parts
    if (metricsFrom?.has(plainAddress(request.socket.remoteAddress ?? ''))) return true
    const arrival = front.of(request)
    return 'isLocal' in arrival && arrival.isLocal && !request.headers.origin
  }

  async answerMetrics(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { vitals, metrics } = this.#parts
    if (!isRead(request)) return send(response, refusal(405, `/metrics accepts GET, not ${request.method}`))
    if (!vitals) return send(response, refusal(404, 'this hub keeps no numbers'))
    sendPlain(response, 200, metrics.text(await vitals.numbers()), { 'content-type': metricsType })
  }

  #check(): Promise<void> {
    const now = this.#parts.clock.elapsed()
    if (!this.#checked || now - this.#checked.at >= checkMs)
      this.#checked = { at: now, result: this.#parts.vitals?.check() ?? Promise.resolve() }
    return this.#checked.result
  }

  async #sendReadiness(response: ServerResponse): Promise<void> {
    try {
      await this.#check()
      sendPlain(response, 200, 'The hub is ready.\n')
    } catch (error) {
      // Anybody may send a probe, and the reason may name files of this machine.
      const words = error instanceof LedgerAway ? error.message : 'The hub cannot write its records. Its log says why.'
      sendPlain(response, 503, `${words}\n`, { 'retry-after': String(awaySeconds) })
    }
  }
}

/** How long the result of a check of the ledger is reused. */
const checkMs = 1_000

const pathOf = ({ url = '/' }: IncomingMessage) => url.split('?')[0]

const isRead = ({ method }: IncomingMessage) => method === 'GET' || method === 'HEAD'

function sendPlain(response: ServerResponse, status: number, text: string, headers: Record<string, string> = {}): void {
  response.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    'cache-control': 'no-store',
    ...answerHeaders,
    ...headers,
  })
  response.end(text)
}
