import type { TaskNote } from '../../core/work/task.ts'

const interrupted =
  'You were interrupted: the program you run in stopped and was started again. Look at what is done before you do anything, and go on.'
const anew =
  'This was begun in a session that is gone, and you know nothing of it. Look at what is done before you do anything, and finish it.'
const nudge = 'You stopped without an answer. Look at what is done, go on, and say when it is done.'

/** How one that is asked again stands to what it was asked: it goes on with its session, knows nothing, or was there all the time. */
export type Again = 'resumed' | 'began' | 'there'

/** A prompt for one that had it before: whole, because a thread may be lost without a word. */
export function againWords(prompt: string, again: Again): string {
  const first = { resumed: interrupted, began: anew, there: nudge }[again]
  return `${first}\n\nWhat you were asked:\n\n${prompt}`
}

/** A task as the agent is told it, with what was said about it before and how it is to be reported. */
export function taskWords(prompt: string, notes: readonly TaskNote[], reporting: string | undefined): string {
  const said = notes.filter(({ kind }) => kind !== 'progress').map(({ kind, by, text }) => `- ${kind} (${by}): ${text}`)
  const before = said.length === 0 ? [] : [`What was said about this task before:\n${said.join('\n')}`]
  return [prompt, ...before, ...(reporting === undefined ? [] : [reporting])].join('\n\n')
}
