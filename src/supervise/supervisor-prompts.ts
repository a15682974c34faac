import type { TaskNote } from '../hub/model/tasks/task-note.ts'
import type { StartKind } from './supervision.ts'
import { plainPrompt } from '../core/talk/plain-prompt.ts'

const openings: Record<StartKind, string> = {
  resumed:
    'You were interrupted: the program you run in stopped and was started again. Check what is already done before you do anything, then continue.',
  began:
    'Another session began this task and is over, so you do not remember it. Check what is already done before you do anything, then finish the task.',
  there: 'You stopped without an answer. Check what is already done, continue, and say when the task is finished.',
}

/** A prompt for a program that had it before. It is repeated as a whole, because a session may be lost without any message. */
export function resumePrompt(prompt: string, how: StartKind): string {
  return `${openings[how]}\n\nWhat you were asked:\n\n${prompt}`
}

/** A task in the form for the agent, with its notes and the instructions on how to report it. */
export function taskPrompt(prompt: string, notes: readonly TaskNote[], reporting: string | undefined): string {
  const said = notes.filter(({ kind }) => kind !== 'progress').map(({ kind, by, text }) => `- ${kind} (${by}): ${text}`)
  const before = said.length === 0 ? [] : [`What was said about this task before:\n${said.join('\n')}`]
  return plainPrompt([prompt, ...before, ...(reporting === undefined ? [] : [reporting])].join('\n\n'))
}
