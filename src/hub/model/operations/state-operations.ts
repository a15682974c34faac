import type { HubState } from '../hub-state.ts'
import type { Schedule } from '../plans/schedule.ts'
import type { Task } from '../tasks/task.ts'
import type { Operation } from './operation.ts'
import { ofDashboard } from './described.ts'
import { state } from './hub-shapes.ts'
import { pageFields, taskQueryFields } from './input-shapes.ts'

/**
 * The state at one moment: complete for programs, and in brief for the dashboard, which loads finished tasks gradually and a complete
 * task when a person opens it.
 */
export const stateOperations = {
  'GET /api/state': {
    about: 'Everything at one moment: agents, tasks, pipelines.',
    right: 'read',
    input: taskQueryFields,
    output: state,
  },
  'GET /api/page': {
    about: 'Open tasks in short form, and everything else at one moment, as the dashboard first shows it.',
    right: 'read',
    output: ofDashboard<HubState & { place: string; count: number; schedules: Schedule[] }>(),
  },
  'GET /api/page/tasks': {
    about: 'Finished tasks in short form, newest first, as the dashboard lists them.',
    right: 'read',
    input: pageFields,
    output: ofDashboard<{ seq: number; tasks: Task[]; after?: string }>(),
  },
  'GET /api/page/tasks/:id': {
    about: 'One task, with the number of the newest change.',
    right: 'read',
    output: ofDashboard<{ seq: number; task: Task }>(),
  },
} as const satisfies Record<string, Operation>
