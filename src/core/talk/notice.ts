import type { Event, ReportStatus } from './entry.ts'

export const occasions = ['asking', 'blocked', 'review', 'failed', 'done', 'parked', 'gave-up', 'progress'] as const

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
  /** The address of the subject on the hub's page, if a hub runs. It contains no secret: only a signed-in browser can open it. */
  url?: string
}

/** Whether a notifier wants this notice, if its setting lists occasions. A review and a failure also count as `done`. */
export function wantsOccasion(on: readonly Occasion[] | undefined, event: Occasion): boolean {
  const isEnd = event === 'review' || event === 'failed'
  return on === undefined || on.includes(event) || (isEnd && on.includes('done'))
}

const words: Record<Occasion, string> = {
  asking: 'asks something',
  blocked: 'needs an answer',
  review: 'wants a review',
  failed: 'failed',
  done: 'is done',
  parked: 'is out of quota',
  'gave-up': 'gave up',
  progress: 'reports progress',
}

export const occasionOf: Record<ReportStatus, Occasion> = {
  progress: 'progress',
  done: 'done',
  blocked: 'blocked',
  failed: 'gave-up',
}

export const titleOf = ({ event, agent }: Notice) => `${agent} ${words[event]}`

const reports: Record<ReportStatus, string> = {
  progress: 'reports',
  done: 'is done',
  blocked: 'is blocked',
  failed: 'gave up',
}

type Report = { status: ReportStatus; text: string; from?: readonly string[]; by?: string }

/** A report of an agent as one sentence, with the roles of an agent that another one sent. */
export function reportWords({ status, text, from, by = 'an agent' }: Report): string {
  const agent = from ? `${by} (${from.join(', ')})` : by
  return `${agent} ${reports[status]}: ${text}`
}

/** A fact beside the conversation as one text, which every screen, printer and export shows; undefined for every other event. */
export function remarkOf(event: Event): string | undefined {
  switch (event.type) {
    case 'note':
      return event.text
    case 'notification':
      return reportWords(event)
    default:
      return undefined
  }
}
