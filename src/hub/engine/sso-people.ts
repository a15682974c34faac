import type { Clock } from '../../base/time/clock.ts'
import type { HubCaller } from '../model/access/hub-key.ts'
import type { HubLedger } from '../model/hub-ledger.ts'
import type { Rounds } from './rounds/rounds.ts'
import { markKey, ssoItem } from '../model/tasks/inbox.ts'
import { mayDo } from '../model/access/rights.ts'

/** A person who was not seen for this time is no longer listed. */
const knownMs = 90 * 86_400_000
/** How often a person's visit is written at most. */
const writtenMs = 86_400_000

type SsoPeopleParts = { rounds: Pick<Rounds, 'wish'>; ledger: HubLedger; clock: Clock }

/**
 * The people whom a proxy signs in. They have neither a key nor a sign-in at the hub, so their names are stored as marks in the ledger,
 * for all hubs that share it.
 */
export class SsoPeople {
  #parts: SsoPeopleParts
  /** When this process last wrote each person's visit, by `Clock.elapsed`. */
  #written = new Map<string, number>()

  constructor(parts: SsoPeopleParts) {
    this.#parts = parts
  }

  /** Notes the visit of a person. No request waits for the write; if it fails, a later request writes again. */
  came({ name, role, sso }: HubCaller): void {
    const { clock, rounds } = this.#parts
    const now = clock.elapsed()
    if (!sso || !mayDo(role, 'inbox') || now - (this.#written.get(name) ?? -Infinity) < writtenMs) return
    this.#written.set(name, now)
    void rounds
      .wish({
        reads: () => ({ marks: [markKey({ item: ssoItem, person: name })] }),
        decide: (rows) => rows.mark({ item: ssoItem, person: name, until: rows.now + knownMs }),
      })
      .catch(() => this.#written.delete(name))
  }

  /** The names of the people who were seen lately. */
  names(): Promise<string[]> {
    return this.#parts.ledger.look(async (look) =>
      (await look.marks()).flatMap(({ item, person, until = 0 }) =>
        item === ssoItem && person !== undefined && until > look.now ? [person] : [],
      ),
    )
  }
}
