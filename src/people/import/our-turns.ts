import type { Index } from '../../store/index/conversation-index.ts'
import type { Profile } from '../../core/profile/profile.ts'

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
  static async in(index: Index, profiles: readonly Profile[], counted = false): Promise<OurTurns> {
    const turns = new OurTurns()
    for (const { key, from, to, usage } of await index.threads()) {
      if (counted && !usage) continue
      // The person chooses the name of an agent, and a key is unique without it.
      for (const one of new Set(profiles.map(({ past }) => past?.key?.(key) ?? key)))
        turns.#stretches.set(one, [...(turns.#stretches.get(one) ?? []), { from, to }])
    }
    return turns
  }

  has(key: string | undefined, at: number | undefined): boolean {
    if (key === undefined || at === undefined) return false
    // A CLI starts after its turn has begun, but may record only whole seconds. A turn that the person gave to it a moment before belongs
    // to the person.
    const begins = (from: number) => (at % 1_000 === 0 ? Math.floor(from / 1_000) * 1_000 : from)
    return (this.#stretches.get(key) ?? []).some(({ from, to }) => at >= begins(from) && at <= to + lateMs)
  }
}
