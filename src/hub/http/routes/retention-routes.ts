import type { Clock } from '../../../base/time/clock.ts'
import type { Pruned } from '../../model/tasks/retention.ts'
import type { Retention } from '../../engine/rules/retention.ts'
import type { HubRoute } from '../access/hub-router.ts'
import type { Patience } from './route-forms.ts'
import { integer, parser } from '../../../core/data/shape.ts'
import { post, wholeNumber } from './route-forms.ts'

/** One request removes tasks for about this long; the client repeats it for the rest, so that it can stop in between. */
const partMs = 2_000

/** Removal of finished tasks: counts them, and removes them part by part. */
export function retentionRoutes(retention: Retention, clock: Clock, { get }: Patience): HubRoute[] {
  return [
    get(
      '/api/retention',
      {
        about:
          'Counts what is removed with the finished tasks of an age: tasks by state, pipelines, notes, long texts and bytes.',
        query: { keptMs: 'how many ms ago the tasks were touched last, at least' },
      },
      async ({ query }) => retention.prunable(wholeNumber(query, 'keptMs', 0)),
      'prune',
    ),
    post(
      '/api/retention/prune',
      'Removes finished tasks of an age for about two seconds; `more` says that there may be more to remove.',
      'prune',
      parser({ keptMs: integer(0) }),
      async ({ keptMs }, { signal }) => {
        const until = clock.elapsed() + partMs
        const sum: Pruned = { tasks: 0, pipelines: 0, more: true }
        while (sum.more && clock.elapsed() < until && !signal.aborted) {
          const { tasks, pipelines, more } = await retention.removeSome(keptMs)
          sum.tasks += tasks
          sum.pipelines += pipelines
          sum.more = more
        }
        return sum
      },
    ),
  ]
}
