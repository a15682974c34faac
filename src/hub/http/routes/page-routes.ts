import type { Hub } from '../../engine/hub.ts'
import type { HubState } from '../../model/hub-state.ts'
import type { HubRoute } from '../access/hub-router.ts'
import type { Patience } from './route-forms.ts'
import { defined } from '../../../base/defined.ts'
import { briefSchedule, briefTask } from '../../model/task-brief.ts'
import { taskIdOf } from '../../engine/rules/task-rules.ts'
import { placeText } from './change-feed.ts'
import { cursorText, pageIn, pageWords, taskQueryIn, taskQueryWords } from './task-lists.ts'

/**
 * Everything at one moment: complete for programs, and in brief for the dashboard, which gets finished tasks gradually and a complete task
 * when it is opened.
 */
export function pageRoutes(hub: Hub, { get }: Patience): HubRoute[] {
  return [
    get(
      '/api/state',
      { about: 'Everything at one moment: agents, tasks, pipelines.', query: taskQueryWords },
      async ({ query }) => {
        if (query.size === 0) return placed(await hub.state())
        const { most, ...wanted } = taskQueryIn(query)
        const state = await hub.state({ ...wanted, most: most + 1 })
        const tasks = state.tasks.slice(0, most)
        const next = state.tasks.length > most ? cursorText(tasks.at(-1)!) : undefined
        return defined({ ...placed(state), tasks, next })
      },
    ),
    get(
      '/api/page',
      'Open tasks and everything else at one moment in short, as the dashboard shows it first.',
      async () => {
        const page = await hub.page()
        return { ...placed(page), tasks: page.tasks.map(briefTask), schedules: page.schedules.map(briefSchedule) }
      },
    ),
    get(
      '/api/page/tasks',
      { about: 'Finished tasks in short, the newest first, as the dashboard lists them.', query: pageWords },
      async ({ query }) => {
        const { seq, tasks, after } = await hub.pageOfTasks(pageIn(query))
        return defined({ seq, tasks: tasks.map(briefTask), after: after && cursorText(after) })
      },
    ),
    get('/api/page/tasks/:id', 'One task, with the number of the newest change.', async ({ id }) =>
      hub.taskAt(taskIdOf(id)),
    ),
  ]
}

/** A state with `place`, from which a follower of the changes continues. */
const placed = <S extends HubState>(state: S) => ({ ...state, place: placeText(state) })
