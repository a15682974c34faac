import type { Clock } from '../base/time/clock.ts'
import type { Doc, Line, Log, Store } from '../core/talk/store.ts'
import type { AuditCheck } from './audit-check.ts'
import type { Act, AuditContext, AuditedAct, AuditEntry, AuditHead } from './audit-entry.ts'
import { isAlive, ownerMark } from '../base/process/owner.ts'
import { checkChain, unclosedActs } from './audit-check.ts'
import { beginning, hashOfText, isAuditEntry, knownHead, withHash } from './audit-entry.ts'

/** An act that was recorded before it is done; `end` records how it ended. */
export type BegunAct = { end(ok: boolean): Promise<void> }

type Waiting = { act: Act; done(entry: AuditEntry): void; failed(error: unknown): void }

/**
 * Records what our own agent was allowed to do and does, for all processes of a home: an act is recorded before it is done and
 * closed after it. Each line has the hash of the line before, and is written under the store's lock.
 */
export class Audit {
  #log: Log<AuditEntry>
  #doc: Doc<AuditHead>
  #clock: Clock
  #mask: (text: string) => string
  #waiting: Waiting[] = []
  #writing: Promise<void> | undefined
  /** The newest entry that this process knows of: of the document at first, then of its own. */
  #newest: Promise<AuditHead> | undefined
  /** Whether the document is older than the newest entry. */
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

  /** Records an act before it is done. The record is on disk when the promise resolves, and only then may the act begin. */
  async begin(act: Omit<Extract<AuditedAct, { type: 'begin' }>, 'type'> & AuditContext): Promise<BegunAct> {
    const { seq } = await this.#written({ type: 'begin', ...act })
    return { end: (ok) => this.record({ type: 'execution', ...act, ok, begin: seq }) }
  }

  /** Waits until everything is written, and notes beside the log how far it goes. */
  async settle(): Promise<void> {
    await this.#writing
    if (!this.#isBehind) return
    this.#isBehind = false
    const newest = await this.#newest!
    await this.#doc.update((now) => (now.seq >= newest.seq ? now : { seq: newest.seq, hash: newest.hash }))
  }

  /** Checks the whole log, after a torn end was repaired. */
  async verify(): Promise<AuditCheck> {
    // A log that may not be written now is checked as it is.
    await this.#seal([]).catch(() => {})
    // The document is read first: another process writes the log before it, and nothing must look removed that was just added.
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

  /**
   * Writes the acts that wait; acts that come meanwhile are written together. Each caller gets the failure of its own
   * act.
   */
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

  /** Appends acts to the chain, after an entry that repairs a torn end, if there is one. */
  async #seal(acts: readonly Act[]): Promise<AuditEntry[]> {
    const known = await (this.#newest ??= this.#doc.read())
    const [at, owner] = [this.#clock.now(), ownerMark()]
    let entries: AuditEntry[] = []
    await this.#log.link((last) => {
      const found = last.find(({ item }) => item !== undefined && isAuditEntry(item))?.item
      // The chain goes on from the entry that is known, so that removed or rewritten entries are noticed.
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

  /** Reads all lines. A process that is found dead may have closed its act after the lines were read: they are read again. */
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

/** The entry that names the lines which a killed process left torn at the end of the log. */
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
