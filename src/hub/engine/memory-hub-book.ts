import type { Clock } from '../../base/time/clock.ts'
import type { BookedMachine, Bound, HubBook, LinkedMachine, MachineClaim } from '../model/hub-book.ts'
import { randomBytes } from 'node:crypto'
import { defined } from '../../base/defined.ts'
import { forgottenMs, leaseMs } from '../model/hub-book.ts'

type Row = Omit<LinkedMachine, 'machine'> & { claim: MachineClaim; seen: number; hub?: string }

/** The address book of a hub that has its ledger to itself; it exists as long as the process. */
export class MemoryHubBook implements HubBook {
  #clock: Clock
  #machines = new Map<string, Row>()
  #hubs = new Map<string, { url?: string; until: number }>()
  #secret = randomBytes(32)

  constructor(clock: Clock) {
    this.#clock = clock
  }

  async bind(claim: MachineClaim): Promise<Bound> {
    const now = this.#clock.now()
    const row = this.#machines.get(claim.machine)
    const { key, proof } = claim
    const isFree = !row || row.claim.key === key || row.claim.proof === proof || this.#isForgotten(row)
    if (!isFree) return { taken: { keyName: row.claim.keyName, seen: row.seen } }
    const link = (row?.link ?? 0) + 1
    const about = { since: now, version: '', offers: [], works: [] }
    this.#machines.set(claim.machine, { ...about, claim, seen: now, link })
    return { link }
  }

  async announce({ id, url, machines }: Parameters<HubBook['announce']>[0]): Promise<{ gone: string[] }> {
    const now = this.#clock.now()
    this.#hubs.set(id, defined({ url, until: now + leaseMs }))
    const gone: string[] = []
    const here = new Set<string>()
    for (const { machine, ...about } of machines) {
      const row = this.#machines.get(machine)
      if (!row || row.link !== about.link) gone.push(machine)
      else {
        here.add(machine)
        this.#machines.set(machine, { ...row, ...about, seen: now, hub: id })
      }
    }
    for (const [machine, row] of this.#machines)
      if (row.hub === id && !here.has(machine)) this.#machines.set(machine, { ...row, hub: undefined })
    return { gone }
  }

  async withdraw(id: string): Promise<void> {
    this.#hubs.delete(id)
  }

  async find(machine: string): Promise<BookedMachine | undefined> {
    const row = this.#machines.get(machine)
    return row && !this.#isForgotten(row) ? this.#booked(machine, row) : undefined
  }

  async machines(): Promise<BookedMachine[]> {
    return [...this.#machines]
      .filter(([, row]) => !this.#isForgotten(row))
      .map(([machine, row]) => this.#booked(machine, row))
      .toSorted((a, b) => (a.machine < b.machine ? -1 : 1))
  }

  async forget(machine: string): Promise<boolean> {
    const row = this.#machines.get(machine)
    if (!row || this.#booked(machine, row).hub) return false
    return this.#machines.delete(machine)
  }

  async secret(): Promise<Uint8Array> {
    return this.#secret
  }

  #booked(machine: string, { claim: _, hub, ...row }: Row): BookedMachine {
    const at = hub === undefined ? undefined : this.#hubs.get(hub)
    const isThere = at !== undefined && at.until > this.#clock.now()
    return defined({ machine, ...row, hub: isThere ? defined({ id: hub!, url: at.url }) : undefined })
  }

  /** A machine that was not seen for this long has lost its name. */
  #isForgotten({ seen, hub }: Row): boolean {
    const lives = hub !== undefined && (this.#hubs.get(hub)?.until ?? 0) > this.#clock.now()
    return !lives && this.#clock.now() - seen > forgottenMs
  }
}
