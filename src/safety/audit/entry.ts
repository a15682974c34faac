import { sha256 } from '../../base/hash.ts'

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
