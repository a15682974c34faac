import type { Clock } from '../base/clock.ts'
import type { Doc, Log, Store } from '../core/talk/store.ts'
import { sha256 } from '../base/hash.ts'

/** The end of the chain, and the lines that made it: who dies before they are written leaves them here. */
type Head = { seq: number; hash: string; last: AuditEntry[] }

/** A seal of many lines costs no more than one of a single line. */
const restMs = 100

type Waiting = { act: Act & Scene; done(): void; failed(error: unknown): void }

/**
 * Approvals and executions, each line sealed with the hash of the one before, over all processes.
 * The chain grows under the store's lock; lines may be written in another order than they were sealed in.
 */
export class Audit {
  #log: Log<AuditEntry>
  #head: Doc<Head>
  #clock: Clock
  #mask: (text: string) => string
  #waiting: Waiting[] = []
  #writing = false
  #nap: AbortController | undefined
  /** The last line that is surely written. */
  #written = 0

  constructor(store: Store, { clock, mask }: { clock: Clock; mask(text: string): string }) {
    this.#log = store.log('audit')
    this.#head = store.doc<Head>('audit-head', { seq: 0, hash: beginning, last: [] })
    this.#clock = clock
    this.#mask = mask
  }

  /** Durable when it resolves; what comes in meanwhile is sealed together. */
  record(act: Act & Scene): Promise<void> {
    const kept = this.#queued(act)
    this.settle()
    return kept
  }

  /** The same of what is done already: it waits a moment for more of it, or until somebody settles. */
  note(act: Act & Scene): Promise<void> {
    const kept = this.#queued(act)
    if (this.#nap) return kept
    const nap = (this.#nap = new AbortController())
    void this.#clock.sleep(restMs, nap.signal).then(() => nap.signal.aborted || this.settle())
    return kept
  }

  /** Whatever waits is written now. */
  settle(): void {
    this.#nap?.abort()
    this.#nap = undefined
    if (!this.#writing && this.#waiting.length > 0) void this.#write()
  }

  #queued(act: Act & Scene): Promise<void> {
    return new Promise((done, failed) => this.#waiting.push({ act: masked(act, this.#mask), done, failed }))
  }

  async verify(): Promise<Verified> {
    await this.#mend()
    const lines = await this.#lines()
    return verified(lines, await this.#head.read())
  }

  /** Every entry, oldest first, as it is kept. */
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

  async #seal(acts: readonly (Act & Scene)[]): Promise<void> {
    const at = this.#clock.now()
    let before: AuditEntry[] = []
    const { last } = await this.#head.update((head) => {
      before = head.last
      let { seq, hash } = head
      const lines = acts.map((act) => {
        const entry = sealed({ seq: ++seq, at, ...act, before: hash })
        hash = entry.hash
        return entry
      })
      return { seq, hash, last: lines }
    })
    await this.#mended(before)
    await Promise.all(last.map((entry) => this.#log.append(entry)))
    this.#written = last.at(-1)?.seq ?? this.#written
  }

  /** Writes what somebody sealed and died before writing; twice the same line is one. */
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

/** How many lines of others may have come in between. */
const farBack = 200

/** Secrets are masked in every text of it. */
function masked(act: Act & Scene, mask: (text: string) => string): Act & Scene {
  return Object.fromEntries(
    Object.entries(act).map(([key, value]) => [
      key,
      typeof value === 'string' && !/^(?:type|answer|tool)$/.test(key) ? mask(value) : value,
    ]),
  ) as Act & Scene
}

/** What is kept of one act: somebody was asked, something was refused by a rule, or something was done. */
export type Act =
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

/** Where it happened. */
export type Scene = { project?: string; session?: string; turn?: string }

/** One line: its number, what it follows, and the hash of all that. */
export type AuditEntry = Act & Scene & { seq: number; at: number; before: string; hash: string }

/** What the first line follows. */
export const beginning = '0'.repeat(64)

export function sealed(entry: Omit<AuditEntry, 'hash'>): AuditEntry {
  return { ...entry, hash: hashOf(entry) } as AuditEntry
}

/** Over the text as it is kept: the same keys in the same order. */
export function hashOf(entry: object): string {
  const { hash: _own, ...body } = entry as { hash?: string }
  return sha256().update(JSON.stringify(body)).digest('hex')
}

/** Whether the chain is whole; each fault is a sentence that names the line. */
export type Verified = { ok: boolean; entries: number; faults: string[] }

type Line = { at: number; item?: AuditEntry; broken?: string }

/** Lines may have been written in another order than they were sealed in: the numbers tell, and the hashes prove. */
export function verified(lines: readonly Line[], head: { seq: number; hash: string }): Verified {
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
