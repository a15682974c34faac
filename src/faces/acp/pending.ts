import type { StopReason } from '@agentclientprotocol/sdk'
import type { Outcome } from '../../core/talk/outcome.ts'
import type { Sdk } from './sdk.ts'

/** How a prompt ended, for whoever sent it. */
export type Ending = { outcome?: Outcome; cancelled: boolean; trouble?: string }

/** A prompt that is at work: it ends once, by whichever comes first. */
export class Pending {
  /** Ends a command that is run for it. */
  readonly stop = new AbortController()
  /** The last thing that went wrong before a turn could begin. */
  trouble: string | undefined
  #ending = Promise.withResolvers<Ending>()

  get over(): Promise<Ending> {
    return this.#ending.promise
  }

  cancel(): void {
    this.stop.abort()
  }

  end(outcome?: Outcome): void {
    this.#ending.resolve({ cancelled: this.stop.signal.aborted, ...(outcome ? { outcome } : {}) })
  }

  /** The prompt came back: no turn was begun. */
  refuse(): void {
    const trouble = this.trouble ?? 'the prompt could not be sent'
    this.#ending.resolve({ cancelled: this.stop.signal.aborted, trouble })
  }
}

const authRequired = -32000
const internal = -32603

/** A failure is an error of the protocol, with its kind for programs; a cancel never is. */
export function stopReason({ RequestError }: Sdk, { outcome, cancelled, trouble }: Ending): StopReason {
  if (cancelled) return 'cancelled'
  if (trouble !== undefined) throw new RequestError(internal, trouble)
  if (outcome === undefined) return 'end_turn'
  if (outcome.ok) return outcome.refused ? 'refusal' : 'end_turn'
  const { kind, message, retryAt } = outcome.failure
  if (kind === 'aborted') return 'cancelled'
  const data = { kind, ...(retryAt === undefined ? {} : { retryAt }) }
  throw new RequestError(kind === 'auth' ? authRequired : internal, message, data)
}
