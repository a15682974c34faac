import type { Command } from '../core/talk/command.ts'
import type { TurnSeen } from './closing.ts'
import type { Errands } from './errands.ts'
import type { Hold } from './hold.ts'
import { isPlan } from '../agents/native/plan-card.ts'
import { answering } from './answering.ts'
import { approving } from './approving.ts'

export type OfferParts = { hold: Hold; errands: Errands }

/** What the end of a turn puts to the person: its questions, or its plan. */
export class Offers {
  #parts: OfferParts
  #instead = new AbortController()

  constructor(parts: OfferParts) {
    this.#parts = parts
  }

  after({ outcome, by, asks }: TurnSeen): void {
    const { hold } = this.#parts
    if (!outcome?.ok) return
    /** Whoever asked is told. */
    const tell = (prompt: string) => (hold.aim(by), hold.send(prompt))
    if (outcome.asks !== undefined) return this.#put(answering(asks, by, tell))
    if (hold.app().settings.permissions.mode !== 'plan' || !isPlan(outcome.text)) return
    const build = (prompt: string) => (hold.leavePlan(), tell(prompt))
    this.#put(approving(outcome.text, by, { build, change: tell }))
  }

  /** One who types a prompt instead has answered. */
  withdraw(): void {
    this.#instead.abort()
  }

  #put(command: Command): void {
    const instead = (this.#instead = new AbortController()).signal
    const run: Command['run'] = (args, world) =>
      command.run(args, { ...world, signal: AbortSignal.any([world.signal, instead]) })
    void this.#parts.errands.run({ ...command, run }, '')
  }
}
