import { sha256 } from '../base/hash.ts'

/**
 * One entry of the audit: the person was asked, a rule refused a call, an act began or ended, a folder was trusted, or a torn line was
 * repaired. In an execution, `begin` is the number of the entry with which the act began.
 */
export type AuditedAct =
  | {
      type: 'approval'
      tool: string
      what: string
      /** `withdrawn`: the agent stopped asking, because the answer was given on its own screen or its turn was over. */
      answer: 'once' | 'always' | 'no' | 'nobody' | 'other' | 'withdrawn'
      /** The answer in the words of the card, which include how long it applies. */
      picked?: string
      rule?: string
      by?: string
    }
  | { type: 'refusal'; tool: string; what: string; why: string; by?: string }
  | { type: 'begin'; tool: string; what: string; verdict: string; by?: string }
  | { type: 'execution'; tool: string; what: string; ok: boolean; verdict: string; by?: string; begin?: number }
  | { type: 'trust'; what: string; answer: 'trust' | 'no' | 'forget' }
  | { type: 'mend'; what: string; torn: TornLine[] }

/** A line during which a process was killed, as it is in the log. */
type TornLine = { at: number; hash: string }

/** The project, session and turn of an act. */
export type AuditContext = { project?: string; session?: string; turn?: string }

/** An act with its context. */
export type Act = AuditedAct & AuditContext

/** One line of the audit: its number, the process that wrote it, the hash of the previous line, and the hash of all that. */
export type AuditEntry = Act & { seq: number; at: number; owner?: string; before: string; hash: string }

/** The hash before the first line. */
export const beginning = '0'.repeat(64)

/** The last entry that is known to have been written, stored next to the log so that the removal of its end is noticed. */
export type AuditHead = { seq: number; hash: string }

export function knownHead(found: unknown): AuditHead | undefined {
  const { seq, hash } = (found ?? {}) as Partial<AuditHead>
  return typeof seq === 'number' && typeof hash === 'string' ? { seq, hash } : undefined
}

export function isAuditEntry(found: AuditEntry): boolean {
  return Number.isSafeInteger(found.seq) && typeof found.hash === 'string' && typeof found.before === 'string'
}

export function withHash(entry: Omit<AuditEntry, 'hash'>): AuditEntry {
  return { ...entry, hash: hashOf(entry) } as AuditEntry
}

/** The hash of an entry's JSON text, with its keys in the given order. */
export function hashOf(entry: object): string {
  const { hash: _own, ...body } = entry as { hash?: string }
  return hashOfText(JSON.stringify(body))
}

export function hashOfText(text: string): string {
  return sha256().update(text).digest('hex')
}
