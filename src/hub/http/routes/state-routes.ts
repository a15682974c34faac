import type { stateOperations } from '../../model/operations/state-operations.ts'
import type { HubState } from '../../model/hub-state.ts'
import type { Hub } from '../../engine/hub.ts'
import type { Handlers } from '../access/hub-router.ts'
import { defined } from '../../../base/defined.ts'
import { briefSchedule, briefTask } from '../../model/task-brief.ts'
import { taskIdOf } from '../../engine/rules/task-rules.ts'
import { placeText } from './change-feed.ts'
import { cursorText, pageIn, taskQueryIn } from './task-lists.ts'

/** The state of the hub at one moment: complete for programs, and in brief for the dashboard. */
export function stateRoutes(hub: Hub): Handlers<keyof typeof stateOperations> {
  return {
    'GET /api/state': async (fields, { query }) => {
      if (query.size === 0) return withPlace(await hub.state())
      const { most, ...wanted } = taskQueryIn(fields)
      const state = await hub.state({ ...wanted, most: most + 1 })
      const tasks = state.tasks.slice(0, most)
      const next = state.tasks.length > most ? cursorText(tasks.at(-1)!) : undefined
      return defined({ ...withPlace(state), tasks, next })
    },
    'GET /api/page': async () => {
      const page = await hub.page()
      return { ...withPlace(page), tasks: page.tasks.map(briefTask), schedules: page.schedules.map(briefSchedule) }
    },
    'GET /api/page/tasks': async (fields) => {
      const { seq, tasks, after } = await hub.pageOfTasks(pageIn(fields))
      return defined({ seq, tasks: tasks.map(briefTask), after: after && cursorText(after) })
    },
    'GET /api/page/tasks/:id': async (_, { id }) => hub.taskAt(taskIdOf(id)),
  }
}

/** Adds `place` to a state, from which a follower of the changes continues. */
const withPlace = <S extends HubState>(state: S) => ({ ...state, place: placeText(state) })
