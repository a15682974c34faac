import type { Index } from '../../store/index/conversation-index.ts'
import type { OurStretch } from '../../core/profile/past-session.ts'
import type { Place } from '../../home/place.ts'
import type { Profile } from '../../core/profile/profile.ts'
import { existsSync } from 'node:fs'
import { cliSessionsFile } from '../../home/cli-sessions.ts'
import { recordsOf } from './record-lines.ts'

/** A period in which a CLI worked for us in one of its sessions. */
type Stretch = { from: number; to: number }

/** How long after the end of a turn its records may arrive: a CLI may write its last line after its last output. */
const lateMs = 2_000

/**
 * The turns that termaite itself gave to the sessions of other CLIs. Such a turn is both in our log and in the CLI's own file; it is
 * recognized by the key of the session and by its time.
 */
export class OurTurns {
  #stretches = new Map<string, Stretch[]>()

  /** `counted`: only the turns whose tokens we counted. */
  static async in(
    { index, place }: { index: Index; place: Pick<Place, 'home'> },
    profiles: readonly Profile[],
    counted = false,
  ): Promise<OurTurns> {
    const turns = new OurTurns()
    for (const { key, from, to, usage } of await index.threads())
      if (usage || !counted) turns.#add(key, { from, to }, profiles)
    // The agents that were only consulted, and those in terminals, are in no conversation.
    const path = cliSessionsFile(place.home)
    const unread = { broken: 0, long: 0, cut: false }
    for await (const record of existsSync(path) ? recordsOf(path, unread) : []) {
      const { key, from, to, counted: known } = record as Partial<OurStretch>
      if (typeof key !== 'string' || typeof from !== 'number' || typeof to !== 'number') continue
      if (known === true || !counted) turns.#add(key, { from, to }, profiles)
    }
    return turns
  }

  /** The person chooses the name of an agent, and a key is unique without it. */
  #add(key: string, stretch: Stretch, profiles: readonly Profile[]): void {
    for (const one of new Set(profiles.map(({ past }) => past?.key?.(key) ?? key)))
      this.#stretches.set(one, [...(this.#stretches.get(one) ?? []), stretch])
  }

  has(key: string | undefined, at: number | undefined): boolean {
    if (key === undefined || at === undefined) return false
    // A CLI starts after its turn has begun, but may record only whole seconds. A turn that the person gave to it a moment before belongs
    // to the person.
    const begins = (from: number) => (at % 1_000 === 0 ? Math.floor(from / 1_000) * 1_000 : from)
    return (this.#stretches.get(key) ?? []).some(({ from, to }) => at >= begins(from) && at <= to + lateMs)
  }
}
