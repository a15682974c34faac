import type { Task } from '../tasks/task.ts'
import type { TaskMerge } from '../tasks/task-try.ts'
import type { Operation } from './operation.ts'
import {
  about,
  anything,
  boolean,
  either,
  integer,
  list,
  numberAbove,
  object,
  oneOf,
  optional,
  string,
} from '../../../core/data/shape.ts'
import { mostChecks } from '../tasks/task-try.ts'
import { plainText, shapeOf } from './described.ts'
import { keptText, merge, note, task, taskFields } from './hub-shapes.ts'
import { nothing, sentBundle, sentCheck, sentPlace, taskQueryFields, text, wholeNumber, picks } from './input-shapes.ts'

const sentDiff = either(string(), object({ id: text, cut: optional(boolean()) }))
const priority = integer(-100, 100)
/** Seconds for sending long texts of a task's work. */
const longTexts = 600

/** Tasks: people add, review and direct them, and agents report on them. */
export const taskOperations = {
  'GET /api/tasks': {
    about: 'Lists tasks, the newest first.',
    right: 'read',
    input: taskQueryFields,
    output: list(task),
  },
  'POST /api/tasks': {
    about: 'Adds a task.',
    right: 'add',
    input: {
      id: optional(text),
      prompt: text,
      workspace: text,
      origin: optional(
        object({ machine: text, path: text, remote: optional(text), branch: optional(text), commit: optional(text) }),
      ),
      wish: optional(text),
      capabilities: optional(list(text)),
      priority: optional(priority),
      needs: optional(list(text)),
      attachments: optional(list(object({ id: text, name: text }))),
      cap: optional(object({ tokens: optional(integer(1)), cost: optional(numberAbove(0)) })),
    },
    output: task,
  },
  'GET /api/tasks/:id': { about: 'One task.', right: 'read', output: task },
  'GET /api/tasks/:id/wait': {
    about: 'Waits until a task is finished, blocked or in review.',
    right: 'read',
    input: { timeout: optional(about('Seconds to wait (290).', string())) },
    output: task,
    patience: 'wait',
  },
  'POST /api/tasks/:id/ack': {
    about: 'Acknowledges a task before its agent begins.',
    right: 'take',
    input: { agent: optional(text) },
    output: task,
  },
  'POST /api/tasks/:id/progress': {
    about: 'Reports the progress of a task.',
    right: 'report',
    input: { agent: optional(text), message: text, percentage: optional(integer(0, 100)) },
    output: task,
    audit: 'none',
  },
  'POST /api/tasks/:id/block': {
    about: 'Asks a question about a task, which waits for the answer.',
    right: 'ask',
    input: { agent: optional(text), reason: text, question: text },
    output: task,
  },
  'POST /api/tasks/:id/release': {
    about: 'Gives a task back to the queue, because its agent cannot work on any task.',
    right: 'report',
    input: { agent: optional(text), reason: text },
    output: task,
  },
  'POST /api/tasks/:id/respond': {
    about: 'Ends a try of a task with its result.',
    right: 'report',
    input: {
      agent: optional(text),
      status: oneOf('COMPLETED', 'FAILED', 'BLOCKED', 'IN_REVIEW'),
      message: text,
      artifacts: optional(list(anything())),
      diff: optional(sentDiff),
      evidence: optional(list(sentCheck, 0, mostChecks)),
      place: optional(sentPlace),
    },
    output: task,
    patience: longTexts,
  },
  'POST /api/tasks/:id/texts': {
    about: 'Keeps a long text of a task, such as a diff, and returns its id.',
    right: 'report',
    takesPieces: true,
    output: keptText,
    patience: longTexts,
  },
  'POST /api/tasks/:id/checks': {
    about: 'Reports the checks that termaite ran on the work.',
    right: 'vouch',
    input: { checks: list(sentCheck, 1, mostChecks) },
    output: task,
    patience: longTexts,
  },
  'GET /api/tasks/:id/tries/:number/diff': { about: 'The diff of a try.', right: 'read', output: plainText },
  'GET /api/tasks/:id/tries/:number/checks/:check/output': {
    about: 'The whole output of a check; checks are numbered from 1.',
    right: 'read',
    output: plainText,
  },
  'GET /api/tasks/:id/notes': {
    about: 'Notes on a task, the newest last.',
    right: 'read',
    input: {
      before: optional(about('Notes before the one with this number.', wholeNumber)),
      most: optional(about('The most notes of one answer (100, at most 500).', wholeNumber)),
    },
    output: object({ notes: list(note), count: integer(0) }),
  },
  'GET /api/tasks/:id/comments': { about: 'The comments on lines of diffs.', right: 'read', output: list(note) },
  'POST /api/tasks/:id/answer': {
    about: 'Answers the question of a blocked task.',
    right: 'answer',
    input: { picks },
    output: task,
  },
  'POST /api/tasks/:id/reject': {
    about: 'Rejects a try; the task goes back to the queue with the reviewer’s words.',
    right: 'review',
    input: { text: optional(text), try: optional(integer(1)) },
    output: task,
  },
  'POST /api/tasks/:id/comment': {
    about: 'Comments on a task, or on a line of its diff.',
    right: 'comment',
    input: {
      text,
      at: optional(object({ try: integer(1), path: text, line: integer(1), side: oneOf('old', 'new') })),
    },
    output: task,
  },
  'POST /api/tasks/:id/comments/:number/resolve': {
    about: 'Resolves a comment, or opens it again.',
    right: 'comment',
    input: { resolved: optional(boolean()) },
    output: task,
  },
  'POST /api/tasks/:id/looked': {
    about: 'Notes the newest try that the caller has seen.',
    right: 'inbox',
    input: { try: integer(1) },
    output: nothing,
    audit: 'none',
  },
  'POST /api/tasks/:id/cancel': {
    about: 'Cancels a task.',
    right: 'direct',
    input: { why: optional(text) },
    output: task,
  },
  'POST /api/tasks/:id/redirect': {
    about: 'Changes the priority of a task, or the agent that should do it.',
    right: 'direct',
    input: { priority: optional(priority), wish: optional(string()) },
    output: task,
  },
  'POST /api/tasks/:id/retry': { about: 'Puts a finished task back into the queue.', right: 'direct', output: task },
  'POST /api/tasks/:id/approve': {
    about: 'Approves a try, and has it merged if that is requested.',
    right: 'review',
    input: {
      try: optional(integer(1)),
      merge: optional(boolean()),
      merged: optional(object({ machine: text, branch: text, into: text, commit: text })),
    },
    output: shapeOf<Task & { merged?: TaskMerge }>()(object({ ...taskFields, merged: optional(merge) })),
    // The hub's machine may have to merge first.
    patience: 960,
  },
  // The parts themselves are sent to /api/tasks/:id/texts.
  'POST /api/tasks/:id/bundle': {
    about: 'Says which parts of a bundle the hub does not have yet.',
    right: 'report',
    input: { bundle: sentBundle },
    output: object({ missing: list(string()) }),
  },
  'POST /api/tasks/:id/late': {
    about: 'Keeps work that came after its agent had lost the task.',
    right: 'report',
    input: {
      agent: optional(text),
      message: text,
      artifacts: optional(list(anything())),
      diff: optional(sentDiff),
      place: optional(sentPlace),
    },
    output: task,
    patience: longTexts,
  },
  'GET /api/tasks/:id/tries/:number/bundle': {
    about: 'The branch of a try as a git bundle.',
    right: 'read',
    input: { from: optional(about('The first byte to send (0).', wholeNumber)) },
    output: plainText,
  },
} as const satisfies Record<string, Operation>
