/** A line of a try's diff; `text` is the line's content when the comment was written. */
export type LinePlace = { try: number; path: string; line: number; side: 'old' | 'new'; text: string }

/** A note about a task: a message of its agent or of a person. */
export type TaskNote = {
  /** The notes of a task are numbered from 1. */
  number: number
  at: number
  by: string
  kind: 'progress' | 'question' | 'answer' | 'comment' | 'response'
  text: string
  percentage?: number
  /** The line that a comment refers to. */
  place?: LinePlace
  /** The person who resolved a comment on a line; without one the comment is open. */
  resolved?: string
}

/** A note that gets the next number of its task, unless it replaces an earlier version of itself. */
export type NewNote = Omit<TaskNote, 'number'> & { number?: number }

/** The task itself carries the newest notes, and the newest comments among the earlier ones. */
const newest = 20
const comments = 80

/** Leaves out notes that are only read from the ledger. Progress reports never displace comments of people. */
export function carriedNotes(notes: readonly TaskNote[]): TaskNote[] {
  const older = notes.slice(0, -newest).filter(({ kind }) => kind === 'comment')
  return [...older.slice(-comments), ...notes.slice(-newest)]
}

/** Adds a note, or replaces its earlier version. */
export function withNote(notes: readonly TaskNote[], note: TaskNote): TaskNote[] {
  const at = notes.findIndex(({ number }) => number === note.number)
  return at >= 0 ? notes.with(at, note) : carriedNotes([...notes, note])
}

/** The text of a note, with the line that it refers to. */
export function noteWords({ text, place }: Pick<TaskNote, 'text' | 'place'>): string {
  if (!place) return text
  const side = place.side === 'old' ? ', before the change' : ''
  return `${place.path}:${place.line}${side}\n> ${place.text}\n${text}`
}
