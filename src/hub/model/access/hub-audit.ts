import type { CallerRole } from './hub-key.ts'

/**
 * One act of a client at the hub: who did what, on which subject, from which address, and with which outcome. The record contains no
 * prompt, no answer and no secret.
 */
export type HubAct = {
  at: number
  /** The client's name, the id of its key or sign-in (or of the person whom the proxy signed in), and its role. */
  by: string
  key: string
  role: CallerRole
  /** The client's address; missing for a program that wrote directly into the ledger. */
  address?: string
  /** The name of the act, which never changes, such as `tasks approve` or `mcp assign_task`. */
  act: string
  /** The id of the task, agent, key or other thing that the act changed. */
  on?: string
  /** `refused`: the client's role does not allow the act. `failed`: the hub could not do it; the HTTP status says why. */
  outcome: 'done' | 'refused' | 'failed'
  status: number
}

/** A stored act. Numbers rise with every act; some may be missing. */
export type KeptAct = HubAct & { number: number }

/** Selects a page of acts, oldest first: since a time, by one client, or after a number. */
export type AuditQuery = { since?: number; by?: string; after?: number; most: number }

/** Stores the acts of the hub's clients. Only the newest acts are kept, limited by number and age. */
export interface HubAuditBook {
  /** Stores all of the acts or none of them. Once the promise resolves they survive the end of the process. */
  add(acts: readonly HubAct[]): Promise<void>
  page(query: AuditQuery): Promise<KeptAct[]>
  close(): Promise<void>
}

/** How many acts are kept, and for how long, by default. */
export const auditBounds = { most: 500_000, days: 400 } as const

export type AuditBounds = { most: number; days: number }
