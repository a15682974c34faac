import type { HubChange } from '../../model/hub-ledger.ts'
import { LedgerAway } from '../../model/ledger-away.ts'

/** A follower's place: the number of the last change that it has, and the series of this number, if known. */
type ChangePlace = { seq: number; epoch?: string }

/** Consecutive changes, oldest first. */
type ChangeBatch = { changes: readonly HubChange[]; epoch?: string }

/** The source of the changes; `look` returns the last number and, if the ledger has series, its series. */
type ChangeSource = {
  since(seq: number, most: number, epoch?: string): Promise<HubChange[] | undefined> | readonly HubChange[] | undefined
  look?<T>(work: (look: { seq: number; epoch: string }) => Promise<T>): Promise<T>
}

/** How many changes are read from the ledger at once. */
const batch = 500
/** How many of the newest changes are kept in memory for all followers. */
const mostKept = 2_000

/** The newest changes: those with a number above `from`, up to `to`. */
type Tail = { epoch: string | undefined; from: number; to: number; changes: HubChange[] }

/**
 * Every change of the hub, in the order of the ledger, for any number of followers. New changes are read once for all of them; a follower
 * that is further behind reads the ledger separately until it has nearly caught up.
 */
export class ChangeFeed {
  #source: ChangeSource
  #followers = new Set<() => void>()
  #tail: Tail | undefined
  /** How often the feed was notified that the ledger has more changes. */
  #told = 0
  /** The value of `#told` up to which everything is in the tail. */
  #read = 0
  #reading: Promise<void> | undefined

  constructor(source: ChangeSource) {
    this.#source = source
  }

  /** Wakes every follower, because the ledger has more changes. */
  notify(): void {
    this.#told += 1
    for (const wake of this.#followers) wake()
  }

  /**
   * Yields the changes after a place, oldest first and in the largest possible batches, until the signal aborts. A single undefined means
   * that the follower has to read the whole state again: the ledger no longer has all changes after its place, or the follower is more
   * than `mostBehind` changes behind, so that the whole state is shorter.
   */
  async *after(
    place: ChangePlace,
    signal: AbortSignal,
    mostBehind = Infinity,
  ): AsyncGenerator<ChangeBatch | undefined> {
    let rung = Promise.withResolvers<void>()
    const wake = () => rung.resolve()
    this.#followers.add(wake)
    signal.addEventListener('abort', wake, { once: true })
    try {
      await this.#catchUp(place)
      const { epoch = this.#tail?.epoch } = place
      for (let last = place.seq; !signal.aborted;) {
        rung = Promise.withResolvers<void>()
        const tail = this.#tail
        if (!tail || tail.epoch !== epoch || last > tail.to || tail.to - last > mostBehind) break
        if (last === tail.to) {
          // There must be no await between this check of the count and the wait.
          await (this.#read < this.#told ? this.#readOn(place) : rung.promise)
          continue
        }
        const changes = await this.#between(last, tail)
        if (!changes?.length) break
        last = changes.at(-1)!.seq
        yield epoch === undefined ? { changes } : { changes, epoch }
      }
      if (!signal.aborted) yield undefined
    } finally {
      this.#followers.delete(wake)
      signal.removeEventListener('abort', wake)
    }
  }

  /** Reads everything that is in the ledger now: a follower may know of changes that were not announced to this hub yet. */
  async #catchUp(place: ChangePlace): Promise<void> {
    for (let isAnew = false; ; isAnew = true) {
      const mine = ++this.#told
      while (this.#read < mine) await this.#readOn(place)
      // The ledger may have dropped changes while nobody followed: the tail is then started again, but only once.
      if (this.#tail || isAnew) return
    }
  }

  /** The changes after a number: from the tail, or from the ledger up to the beginning of the tail. */
  async #between(last: number, { from, changes, epoch }: Tail): Promise<readonly HubChange[] | undefined> {
    if (last < from) return this.#source.since(last, Math.min(batch, from - last), epoch)
    return changes.slice(changes.findLastIndex(({ seq }) => seq <= last) + 1)
  }

  /** Continues reading at the end of the tail, with one read for all callers that ask in the meantime. */
  #readOn(place: ChangePlace): Promise<void> {
    return (this.#reading ??= this.#readWhenThere(place).finally(() => (this.#reading = undefined)))
  }

  /** While the ledger is unavailable, the followers' streams stay open: reading continues with the next announcement. */
  async #readWhenThere(place: ChangePlace): Promise<void> {
    for (;;) {
      const news = Promise.withResolvers<void>()
      this.#followers.add(news.resolve)
      try {
        return await this.#readBatch(place)
      } catch (error) {
        if (!(error instanceof LedgerAway)) throw error
        await news.promise
      } finally {
        this.#followers.delete(news.resolve)
      }
    }
  }

  async #readBatch(place: ChangePlace): Promise<void> {
    const told = this.#told
    const tail = this.#tail ?? (await this.#newTail(place))
    const more = tail && (await this.#source.since(tail.to, batch, tail.epoch))
    if (tail && more) {
      const changes = [...tail.changes, ...more].slice(-mostKept)
      const to = changes.at(-1)?.seq ?? tail.to
      this.#tail = { ...tail, changes, from: changes.length > 0 ? changes[0]!.seq - 1 : tail.from, to }
    } else this.#tail = undefined
    if (!more || more.length < batch) this.#read = told
    if (more?.length !== 0) for (const wake of this.#followers) wake()
  }

  /**
   * An empty tail at the end of the ledger, or, if the ledger does not report its end, at the place of the first follower; undefined if the
   * ledger has no change of that number.
   */
  async #newTail({ seq }: ChangePlace): Promise<Tail | undefined> {
    const end = await this.#source.look?.(async (look) => ({ seq: look.seq, epoch: look.epoch }))
    if (end) return { epoch: end.epoch, from: end.seq, to: end.seq, changes: [] }
    const isThere = seq === 0 || (await this.#source.since(seq - 1, 1))?.[0]?.seq === seq
    return isThere ? { epoch: undefined, from: seq, to: seq, changes: [] } : undefined
  }
}

/** Leaves out an agent's changes that are replaced by a later change of the same agent. */
export function newestOfEach(changes: readonly HubChange[]): HubChange[] {
  const last = new Map(
    changes.flatMap((change) => (change.type === 'agent' ? [[change.agent.id, change.seq] as const] : [])),
  )
  return changes.filter((change) => change.type !== 'agent' || last.get(change.agent.id) === change.seq)
}

/** A place as text. Followers send it back unchanged. */
export function placeText({ seq, epoch }: ChangePlace): string {
  return epoch === undefined ? String(seq) : `${epoch}.${seq}`
}

/** The place that a text names; undefined if the text is not a place. An older follower sends only a number. */
export function placeIn(text: string): ChangePlace | undefined {
  const [, epoch, number] = /^(?:([\w-]{1,100})\.)?(\d{1,15})$/.exec(text) ?? []
  if (number === undefined) return undefined
  return epoch === undefined ? { seq: Number(number) } : { seq: Number(number), epoch }
}

/** A change in the format of an event stream; a reader that reconnects sends the last id that it saw. */
export function eventStreamText(change: HubChange | undefined, epoch?: string): string {
  if (!change) return 'event: lost\ndata: {}\n\n'
  const id = placeText(epoch === undefined ? change : { seq: change.seq, epoch })
  return `id: ${id}\nevent: ${change.type}\ndata: ${JSON.stringify(change)}\n\n`
}
