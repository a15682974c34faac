import type { Clock } from '../base/time/clock.ts'
import type { Doc, Line, Log, Store } from '../core/talk/store.ts'
import type { AuditCheck } from './audit-check.ts'
import type { Act, AuditContext, AuditedAct, AuditEntry, AuditHead } from './audit-entry.ts'
import { isAlive, ownerMark } from '../base/process/owner.ts'
import { checkChain, unclosedActs } from './audit-check.ts'
import { beginning, hashOfText, isAuditEntry, knownHead, withHash } from './audit-entry.ts'

/** An act that is recorded before it happens; `end` records how it ended. */
export type BegunAct = { end(ok: boolean): Promise<void> }

type Waiting = { act: Act; done(entry: AuditEntry): void; failed(error: unknown): void }

/**
 * Records what our own agent was allowed to do and what it does, for all processes of a home: an act is recorded before it happens and
 * closed afterwards. Each line contains the hash of the previous line, and is written under the store's lock.
 */
export class Audit {
  #log: Log<AuditEntry>
  #doc: Doc<AuditHead>
  #clock: Clock
  #mask: (text: string) => string
  #waiting: Waiting[] = []
  #writing: Promise<void> | undefined
  /** The newest entry that this process knows: first the one in the document, later its own. */
  #newest: Promise<AuditHead> | undefined
  /** Whether the document does not have the newest entry yet. */
  #isBehind = false

  constructor(store: Store, { clock, mask }: { clock: Clock; mask(text: string): string }) {
    this.#log = store.log('audit')
    this.#doc = store.doc<AuditHead>('audit-head', { seq: 0, hash: beginning }, knownHead)
    this.#clock = clock
    this.#mask = mask
  }

  /** Records an act; it is on disk when the promise resolves. */
  async record(act: Act): Promise<void> {
    await this.#written(act)
  }

  /** Records an act before it happens. The record is on disk when the promise resolves, and only then may the act begin. */
  async begin(act: Omit<Extract<AuditedAct, { type: 'begin' }>, 'type'> & AuditContext): Promise<BegunAct> {
    const { seq } = await this.#written({ type: 'begin', ...act })
    return { end: (ok) => this.record({ type: 'execution', ...act, ok, begin: seq }) }
  }

  /** Waits until everything is written, and stores the newest entry next to the log. */
  async settle(): Promise<void> {
    await this.#writing
    if (!this.#isBehind) return
    this.#isBehind = false
    const newest = await this.#newest!
    await this.#doc.update((now) => (now.seq >= newest.seq ? now : { seq: newest.seq, hash: newest.hash }))
  }

  /** Checks the whole log, after a torn end was repaired. */
  async verify(): Promise<AuditCheck> {
    // A log that may not be written now is checked in its present state.
    await this.#seal([]).catch(() => {})
    // The document is read first: other processes write the log before the document, so that a new entry never looks removed.
    const head = await this.#doc.read()
    return checkChain(await this.#lines(), head)
  }

  /** All entries as they are stored, oldest first. */
  async *export(): AsyncGenerator<AuditEntry> {
    const seen = new Set<number>()
    const entries = (await this.#lines()).flatMap(({ item }) => (item ? [item] : []))
    for (const entry of entries.sort((a, b) => a.seq - b.seq)) {
      if (seen.has(entry.seq)) continue
      seen.add(entry.seq)
      yield entry
    }
  }

  #written(act: Act): Promise<AuditEntry> {
    return new Promise((done, failed) => {
      this.#waiting.push({ act: maskAct(act, this.#mask), done, failed })
      this.#writing ??= this.#write().finally(() => (this.#writing = undefined))
    })
  }

  /** Writes the waiting acts; acts that arrive meanwhile are written together. Each caller gets the error of its own act. */
  async #write(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0)
      try {
        const entries = await this.#seal(batch.map(({ act }) => act))
        batch.forEach(({ done }, index) => done(entries[index]!))
      } catch (error) {
        for (const { failed } of batch) failed(error)
      }
    }
  }

  /** Appends acts to the chain, preceded by an entry that repairs a torn end, if there is one. */
  async #seal(acts: readonly Act[]): Promise<AuditEntry[]> {
    const known = await (this.#newest ??= this.#doc.read())
    const [at, owner] = [this.#clock.now(), ownerMark()]
    let entries: AuditEntry[] = []
    await this.#log.link((last) => {
      const found = last.find(({ item }) => item !== undefined && isAuditEntry(item))?.item
      // The chain continues from the known entry, so that removed or rewritten entries are noticed.
      let { seq, hash } = found && found.seq > known.seq ? found : known
      entries = [...mending(last), ...acts].map((act) => {
        const entry = withHash({ seq: ++seq, at, owner, ...act, before: hash })
        hash = entry.hash
        return entry
      })
      return entries
    })
    const newest = entries.at(-1)
    if (newest) [this.#newest, this.#isBehind] = [Promise.resolve(newest), true]
    return entries.slice(entries.length - acts.length)
  }

  /** Reads all lines. A process that turns out to be dead may have closed its act after the lines were read, so they are read again. */
  async #lines(): Promise<Line<AuditEntry>[]> {
    const lines = await this.#read()
    const entries = lines.flatMap(({ item }) => (item ? [item] : []))
    return unclosedActs(entries).some(({ owner }) => !isAlive(owner)) ? this.#read() : lines
  }

  async #read(): Promise<Line<AuditEntry>[]> {
    const lines: Line<AuditEntry>[] = []
    for await (const { at, item, broken } of this.#log.back())
      lines.push(item && isAuditEntry(item) ? { at, item } : { at, broken: broken ?? JSON.stringify(item) })
    return lines.reverse()
  }
}

/** The entry about the lines that a killed process left torn at the end of the log. */
function mending(last: readonly Line<AuditEntry>[]): Act[] {
  const torn = last.flatMap(({ at, broken }) => (broken === undefined ? [] : [{ at, hash: hashOfText(broken) }]))
  if (torn.length === 0) return []
  return [{ type: 'mend', what: 'a process was killed, or the disk was full, while an entry was written', torn }]
}

/** Masks secrets in the texts of an act. */
function maskAct(act: Act, mask: (text: string) => string): Act {
  return Object.fromEntries(
    Object.entries(act).map(([key, value]) => [
      key,
      typeof value === 'string' && !/^(?:type|answer|tool)$/.test(key) ? mask(value) : value,
    ]),
  ) as Act
}
