import type { Prunable, Pruned } from '../tasks/removed-tasks.ts'
import type { Operation } from './operation.ts'
import { about, boolean, integer, list, object, oneOf, optional } from '../../../core/data/shape.ts'
import { taskStates } from '../tasks/task.ts'
import { plainText, shapeOf } from './described.ts'
import { keptText } from './hub-shapes.ts'
import { wholeNumber } from './input-shapes.ts'

/** Time limits, in seconds, for counting and removing: both read all finished tasks. */
const allTasks = 360

/** The files of tasks, and the removal of finished tasks. */
export const storageOperations = {
  'POST /api/attachments': {
    about: 'Keeps a file for a task that is added afterwards.',
    right: 'add',
    takesPieces: true,
    output: keptText,
    patience: 600,
  },
  'GET /api/tasks/:id/attachments/:number': {
    about: 'A file of a task; files are numbered from 1.',
    right: 'read',
    output: plainText,
  },
  'GET /api/retention': {
    about:
      'Counts what would be removed with finished tasks that are older than a given age: tasks by state, pipelines, notes, long texts and bytes.',
    right: 'prune',
    input: { keptMs: optional(about('how many ms ago the tasks were last touched, at least', wholeNumber)) },
    output: shapeOf<Prunable>()(
      object({
        tasks: list(object({ state: oneOf(...taskStates), count: integer(0) })),
        pipelines: integer(0),
        notes: integer(0),
        texts: integer(0),
        bytes: integer(0),
      }),
    ),
    patience: allTasks,
  },
  'POST /api/retention/prune': {
    about:
      'Removes finished tasks that are older than a given age, for about two seconds; `more` says that there may be more to remove.',
    right: 'prune',
    input: { keptMs: integer(0) },
    output: shapeOf<Pruned>()(object({ tasks: integer(0), pipelines: integer(0), more: boolean() })),
    patience: allTasks,
  },
} as const satisfies Record<string, Operation>
