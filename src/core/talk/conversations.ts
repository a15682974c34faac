/** A conversation as it is listed: `project` is the folder, where it is known; `title` its name or its first prompt. */
export type KeptConversation = {
  id: string
  project: string
  title: string
  started: number
  last: number
  turns: number
}

export type KeptMessage = { role: 'user' | 'assistant'; by: string; text: string; at: number }

/** A place in a conversation where searched words were found. */
export type FoundWords = { session: string; title: string; by: string; at: number; snippet: string }

export const usageGroups = ['agent', 'day', 'project'] as const

export type UsageGroup = (typeof usageGroups)[number]

/** The use of one agent, day or project; `cost` in US dollars covers only what has a known price. */
export type UsedTokens = { key: string; input: number; output: number; cost?: number }

/** The conversations that are kept on a machine, for a person who reads them elsewhere. */
export interface Conversations {
  /** The most recently used first. */
  list(): Promise<KeptConversation[]>
  /** The messages after so many, oldest first, and how many there are in all; undefined when there is no such session. */
  messages(session: string, after: number, most: number): Promise<{ messages: KeptMessage[]; all: number } | undefined>
  search(text: string): Promise<FoundWords[]>
  usage(by: UsageGroup): Promise<UsedTokens[]>
}
