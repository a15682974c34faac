import type { HubChange } from './hub-ledger.ts'
import type { Schedule } from './plans/schedule.ts'
import type { PipelinePlace, Task } from './tasks/task.ts'
import type { TaskNote } from './tasks/task-note.ts'
import type { TaskTry, TaskResult } from './tasks/task-try.ts'

/** The most characters of a prompt, an answer and a note in a brief task. */
const most = { prompt: 2_000, answer: 1_000, note: 2_000 }

/**
 * A task in the form for lists: without its steps, its changes, and all notes except the last one and those that may mention somebody.
 */
export function briefTask(task: Task): Task {
  const { prompt, notes, tries, result, pipeline } = task
  return {
    ...task,
    prompt: cutText(prompt, most.prompt),
    notes: notes.filter((note, at) => at === notes.length - 1 || mayMention(note)).map(briefNote),
    history: [],
    ...(tries === undefined ? {} : { tries: tries.map(briefTry) }),
    ...(result === undefined ? {} : { result: briefResult(result) }),
    ...(pipeline === undefined ? {} : { pipeline: briefPlace(pipeline) }),
  }
}

/** A change of a brief task. `cut` means that something was left out, so that a reader of the whole task has to read it again. */
export type BriefChange = HubChange & { cut?: true }

export function briefChange(change: HubChange): BriefChange {
  if (change.type === 'schedule') return { ...change, schedule: briefSchedule(change.schedule) }
  if (change.type !== 'task') return change
  const { set, note, try: tried } = change
  const brief = {
    ...change,
    set: {
      ...set,
      ...(set.prompt === undefined ? {} : { prompt: cutText(set.prompt, most.prompt) }),
      ...(set.result === undefined ? {} : { result: briefResult(set.result) }),
      ...(set.pipeline === undefined ? {} : { pipeline: briefPlace(set.pipeline) }),
    },
    ...(note === undefined ? {} : { note: briefNote(note) }),
    ...(tried === undefined ? {} : { try: briefTry(tried) }),
  }
  const isLess = tried && brief.try && Object.keys(tried).length > Object.keys(brief.try).length
  const isCut = set.result !== undefined || isLess || brief.set.prompt !== set.prompt || brief.note !== note
  return isCut ? { ...brief, cut: true } : brief
}

/** A schedule without the tasks of its plan, which pages do not show. */
export function briefSchedule(schedule: Schedule): Schedule {
  return { ...schedule, plan: { name: schedule.name, tasks: [] } }
}

/** The place of a task in its pipeline without the parts of its prompt. */
function briefPlace({ template: _, ...place }: PipelinePlace): PipelinePlace {
  return place
}

const mayMention = ({ kind, text }: TaskNote) => kind === 'comment' && text.includes('@')

function briefNote(note: TaskNote): TaskNote {
  return note.text.length <= most.note ? note : { ...note, text: cutText(note.text, most.note) }
}

const briefResult = ({ message }: TaskResult): TaskResult => ({ message: cutText(message, most.answer) })

/** A try without its answer and its changes: only its agent, times, outcome and usage. */
function briefTry({ number, agent, began, ended, end, spent }: TaskTry): TaskTry {
  return {
    number,
    agent,
    began,
    ...(ended === undefined ? {} : { ended }),
    ...(end === undefined ? {} : { end }),
    ...(spent === undefined ? {} : { spent }),
  }
}

const cutText = (text: string, length: number) => (text.length <= length ? text : `${text.slice(0, length)} …`)
