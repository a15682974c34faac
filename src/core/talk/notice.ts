export const occasions = ['asking', 'blocked', 'done', 'parked', 'gave-up'] as const

export type Occasion = (typeof occasions)[number]

/** Something that a person who is away from the screen should know. */
export type Notice = {
  event: Occasion
  agent: string
  workspace: string
  text: string
  /** The time, as ISO 8601. */
  at: string
  task?: string
}

const words: Record<Occasion, string> = {
  asking: 'asks something',
  blocked: 'needs an answer',
  done: 'is done',
  parked: 'is out of quota',
  'gave-up': 'gave up',
}

export const titleOf = ({ event, agent }: Notice) => `${agent} ${words[event]}`
