import type { Entry } from '../talk/entry.ts'

/** A listed conversation: `project` is the folder, if it is known; `title` is its name or its first prompt. */
export type KeptConversation = {
  id: string
  project: string
  title: string
  started: number
  last: number
  turns: number
}

/** A project with conversations: the agents that worked in it, the size of its log, and its newest text. */
export type KeptProject = {
  /** The id by which requests name the project. */
  id: string
  /** The folder, if it is known. */
  project: string
  agents: string[]
  bytes: number
  last: number
  words?: { by: string; text: string }
}

/** An entry and its position in the log of its project. */
export type PlacedEntry = { at: number; entry: Entry }

/** A page of a conversation, oldest first; `older` and `newer` say whether there are more entries before and after it. */
export type EntryPage = { title: string; project: string; entries: PlacedEntry[]; older: boolean; newer: boolean }

/** Selects a part of a conversation: before or after a position, or around an entry; by default, its end. */
export type PageWish = { before?: number; after?: number; around?: string }

/** A match of the search words in a conversation; `entry` is the entry's id. */
export type FoundWords = { session: string; entry: string; title: string; by: string; at: number; snippet: string }

export const usageGroups = ['agent', 'day', 'project'] as const

export type UsageGroup = (typeof usageGroups)[number]

/**
 * The use of one agent, day or project: its tokens, `cost` in US dollars as far as prices are known, turns that were answered,
 * failed attempts of agents, and how long agents were out of quota.
 */
export type UsedAmounts = {
  key: string
  input: number
  output: number
  cost?: number
  turns: number
  failures: number
  parkedMs: number
}

/** An agent that gets no turns now, and why: it is out of quota, its provider is busy, or it has failed too often. */
export type AwayAgent = { agent: string; as: 'parked' | 'busy' | 'cooling down'; until: number; why?: string }

/** `since` is the first moment that counts, `zone` the time zone of days, which must exist. */
export type UsageWish = { by: UsageGroup; since?: number; zone?: string }

/** The conversations that are stored on a machine, for a person who reads them elsewhere. */
export interface Conversations {
  /** Lists the conversations, most recently used first. */
  list(): Promise<KeptConversation[]>
  projects(): Promise<KeptProject[]>
  /** A page of a conversation; undefined if there is no such session. */
  page(session: string, wish: PageWish): Promise<EntryPage | undefined>
  /**
   * Yields every entry after a position, and then each new one, until the signal aborts. A single undefined means that the log no longer
   * has that position, so the reader has to start again.
   */
  follow(session: string, after: number, signal: AbortSignal): AsyncIterable<PlacedEntry | undefined>
  search(text: string): Promise<FoundWords[]>
  usage(wish: UsageWish): Promise<UsedAmounts[]>
  /** The agents that get no turns now; the one that returns first comes first. */
  away(): Promise<AwayAgent[]>
}
