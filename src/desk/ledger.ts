import type { Entry, Event } from '../core/talk/entry.ts'
import type { Standing } from '../faces/chat/chat-desk.ts'
import type { App } from '../app/app.ts'
import type { Known } from './standing.ts'
import { healthDoc, noHealth } from '../mind/rotation/health.ts'
import { Spent } from './spent.ts'
import { standingOf } from './standing.ts'

export type LedgerParts = {
  app(): App
  aimed(): string | undefined
  waiting(): Standing['waiting']
  told(now: Standing): Promise<void>
}

/** However soon somebody is back, it is not looked at more often. */
const soonestMs = 1000

/** What is known of the conversation and its agents, and how things stand by it. */
export class Ledger {
  now: Standing
  view: readonly Entry[] = []
  #parts: LedgerParts
  #spent = new Spent()
  #back = new AbortController()

  constructor(parts: LedgerParts) {
    this.#parts = parts
    this.now = standingOf(parts.app(), this.#known(noHealth))
  }

  /** Another conversation, or the same one read anew. */
  open(view: readonly Entry[]): void {
    this.view = view
    this.#spent = new Spent()
    for (const entry of view) this.#spent.see(entry)
  }

  see(event: Event): void {
    this.#spent.see(event)
    if (event.type === 'attempt') void this.stand()
  }

  async refresh(): Promise<void> {
    this.view = await this.#parts.app().conversation.view()
    await this.stand()
  }

  /** A health that cannot be read is shown as none: the turn that needs it says why. */
  async stand(): Promise<void> {
    const app = this.#parts.app()
    const health = await healthDoc(app.store)
      .read()
      .catch(() => noHealth)
    this.now = standingOf(app, this.#known(health))
    this.#standAgain(app)
    await this.#parts.told(this.now)
  }

  close(): void {
    this.#back.abort()
  }

  /** Told anew when the first of those who are away is back; until then nothing is looked at. */
  #standAgain({ io: { clock } }: App): void {
    this.#back.abort()
    const first = Math.min(...this.now.agents.flatMap(({ until }) => until ?? []))
    if (first === Infinity) return
    const { signal } = (this.#back = new AbortController())
    const left = Math.max(soonestMs, first - clock.now())
    void clock.sleep(left, signal).then(() => (signal.aborted ? undefined : this.stand()))
  }

  #known(health: Known['health']): Known {
    const aimed = this.#parts.aimed()
    const waiting = this.#parts.waiting()
    return {
      view: this.view,
      spent: this.#spent,
      health,
      ...(aimed === undefined ? {} : { aimed }),
      ...(waiting ? { waiting: { agent: waiting.agent, until: waiting.until } } : {}),
    }
  }
}
