import type { Clock } from '../base/clock.ts'
import type { Doc, Log, Store } from '../core/talk/store.ts'
import { callAfter } from '../base/clock.ts'
import { sha256 } from '../base/hash.ts'

/** One audited act: the person was asked, a rule refused a call, a call ran, or a folder was trusted. */
export type AuditedAct =
  | {
      type: 'approval'
      tool: string
      what: string
      answer: 'once' | 'always' | 'no' | 'nobody'
      rule?: string
      by?: string
    }
  | { type: 'refusal'; tool: string; what: string; why: string; by?: string }
  | { type: 'execution'; tool: string; what: string; ok: boolean; verdict: string; by?: string }
  | { type: 'trust'; what: string; answer: 'trust' | 'no' | 'forget' }

/** Where an act happened. */
export type AuditContext = { project?: string; session?: string; turn?: string }

/** One line of the audit: its number, the hash of the line before, and the hash of all that. */
export type AuditEntry = AuditedAct & AuditContext & { seq: number; at: number; before: string; hash: string }

/** The hash before the first line. */
export const beginning = '0'.repeat(64)

/** The end of the chain, with the last lines: a process that dies before it writes them leaves them here. */
type Head = { seq: number; hash: string; last: AuditEntry[] }

/** Acts are collected this long, because sealing many lines costs no more than sealing one. */
const restMs = 100

type Waiting = { act: AuditedAct & AuditContext; done(): void; failed(error: unknown): void }

/**
 * Records approvals and executions of all processes; each line has the hash of the line before.
 * The chain grows under the store's lock; lines may be written in another order than their numbers.
 */
export class Audit {
  #log: Log<AuditEntry>
  #head: Doc<Head>
  #clock: Clock
  #mask: (text: string) => string
  #waiting: Waiting[] = []
  #writing = false
  #nap: AbortController | undefined
  /** The number of the last line that is known to be written. */
  #written = 0

  constructor(store: Store, { clock, mask }: { clock: Clock; mask(text: string): string }) {
    this.#log = store.log('audit')
    this.#head = store.doc<Head>('audit-head', { seq: 0, hash: beginning, last: [] })
    this.#clock = clock
    this.#mask = mask
  }

  /** Records an act; it is on disk when the promise resolves. */
  record(act: AuditedAct & AuditContext): Promise<void> {
    const kept = this.#queued(act)
    this.settle()
    return kept
  }

  /** Records an act that has already happened; waits a moment for more acts, or until `settle`. */
  note(act: AuditedAct & AuditContext): Promise<void> {
    const kept = this.#queued(act)
    if (this.#nap) return kept
    const nap = (this.#nap = new AbortController())
    callAfter(this.#clock, restMs, nap.signal, () => this.settle())
    return kept
  }

  /** Writes all waiting acts now. */
  settle(): void {
    this.#nap?.abort()
    this.#nap = undefined
    // Each act that waits is told of its own failure.
    if (!this.#writing && this.#waiting.length > 0) void this.#write()
  }

  #queued(act: AuditedAct & AuditContext): Promise<void> {
    return new Promise((done, failed) => this.#waiting.push({ act: masked(act, this.#mask), done, failed }))
  }

  async verify(): Promise<AuditCheck> {
    await this.#mend()
    const lines = await this.#lines()
    return verifyChain(lines, await this.#head.read())
  }

  /** All entries as they are stored, oldest first. */
  async *export(): AsyncGenerator<AuditEntry> {
    await this.#mend()
    const seen = new Set<number>()
    const entries = (await this.#lines()).flatMap(({ item }) => (item ? [item] : []))
    for (const entry of entries.sort((a, b) => a.seq - b.seq)) {
      if (seen.has(entry.seq)) continue
      seen.add(entry.seq)
      yield entry
    }
  }

  async #write(): Promise<void> {
    this.#writing = true
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0)
      try {
        await this.#seal(batch.map(({ act }) => act))
        for (const { done } of batch) done()
      } catch (error) {
        for (const { failed } of batch) failed(error)
      }
    }
    this.#writing = false
  }

  async #seal(acts: readonly (AuditedAct & AuditContext)[]): Promise<void> {
    const at = this.#clock.now()
    let before: AuditEntry[] = []
    const { last } = await this.#head.update((head) => {
      before = head.last
      let { seq, hash } = head
      const lines = acts.map((act) => {
        const entry = withHash({ seq: ++seq, at, ...act, before: hash })
        hash = entry.hash
        return entry
      })
      return { seq, hash, last: lines }
    })
    await this.#mended(before)
    await Promise.all(last.map((entry) => this.#log.append(entry)))
    this.#written = last.at(-1)?.seq ?? this.#written
  }

  /** Writes lines that a process sealed but died before writing. A line that is written twice counts once. */
  async #mended(last: readonly AuditEntry[]): Promise<void> {
    const missing = new Map(last.filter(({ seq }) => seq > this.#written).map((entry) => [entry.seq, entry]))
    if (missing.size === 0) return
    let looked = 0
    for await (const { item } of this.#log.back()) {
      if (item) missing.delete(item.seq)
      if (missing.size === 0 || ++looked > farBack + last.length) break
    }
    for (const entry of missing.values()) await this.#log.append(entry)
  }

  async #mend(): Promise<void> {
    await this.#mended((await this.#head.read()).last)
  }

  async #lines() {
    const lines: { at: number; item?: AuditEntry; broken?: string }[] = []
    for await (const line of this.#log.back()) lines.push(line)
    return lines.reverse()
  }
}

/** How many lines of other processes may lie in between. */
const farBack = 200

/** Masks secrets in the texts of an act. */
function masked(act: AuditedAct & AuditContext, mask: (text: string) => string): AuditedAct & AuditContext {
  return Object.fromEntries(
    Object.entries(act).map(([key, value]) => [
      key,
      typeof value === 'string' && !/^(?:type|answer|tool)$/.test(key) ? mask(value) : value,
    ]),
  ) as AuditedAct & AuditContext
}

export function withHash(entry: Omit<AuditEntry, 'hash'>): AuditEntry {
  return { ...entry, hash: hashOf(entry) } as AuditEntry
}

/** The hash of an entry's JSON text, with its keys in their order. */
export function hashOf(entry: object): string {
  const { hash: _own, ...body } = entry as { hash?: string }
  return sha256().update(JSON.stringify(body)).digest('hex')
}

/** Whether the chain is intact; each fault is a sentence that names the line. */
export type AuditCheck = { ok: boolean; entries: number; faults: string[] }

type Line = { at: number; item?: AuditEntry; broken?: string }

/** Checks the chain. Lines may be stored in any order: their numbers give the order, and their hashes prove it. */
export function verifyChain(lines: readonly Line[], head: { seq: number; hash: string }): AuditCheck {
  const faults: string[] = []
  const entries = new Map<number, AuditEntry>()
  for (const { at, item } of lines) {
    if (!item) faults.push(`a line at byte ${at} cannot be read`)
    else if (hashOf(item) !== item.hash) faults.push(`entry ${item.seq} was changed after it was written`)
    else if (entries.has(item.seq) && entries.get(item.seq)!.hash !== item.hash)
      faults.push(`there are two entries ${item.seq}`)
    else entries.set(item.seq, item)
  }
  let hash: string | undefined = beginning
  for (let seq = 1; seq <= Math.max(head.seq, ...entries.keys()); seq++) {
    const entry = entries.get(seq)
    if (!entry) {
      // One that was changed is told already.
      if (!faults.some((fault) => fault.startsWith(`entry ${seq} `))) faults.push(`entry ${seq} is missing`)
      hash = undefined
      continue
    }
    if (hash !== undefined && entry.before !== hash) faults.push(`entry ${seq} does not follow entry ${seq - 1}`)
    hash = entry.hash
  }
  const last = entries.get(head.seq)
  if (last && last.hash !== head.hash) faults.push(`entry ${head.seq} is not the one that was written last`)
  return { ok: faults.length === 0, entries: entries.size, faults }
}
