import type { Clock } from '../../../base/time/clock.ts'
import type { storageOperations } from '../../model/operations/storage-operations.ts'
import type { Pruned } from '../../model/tasks/removed-tasks.ts'
import type { Hub } from '../../engine/hub.ts'
import type { Handlers } from '../access/hub-router.ts'
import { HubError, taskIdOf } from '../../engine/rules/task-rules.ts'
import { StreamedText } from '../access/hub-router.ts'

/** One request removes tasks for about this long; the client repeats it until all are removed, and can stop in between. */
const partMs = 2_000

/** The files of tasks, which a person sends before the task and its agent reads; and the removal of finished tasks, part by part. */
export function storageRoutes(hub: Hub, clock: Clock): Handlers<keyof typeof storageOperations> {
  return {
    'POST /api/attachments': async (_, { pieces = none() }) => hub.attachments.receive(pieces),
    'GET /api/tasks/:id/attachments/:number': async (_, { id, number }) => {
      const files = (await hub.task(taskIdOf(id))).attachments ?? []
      const found = files[Number(number) - 1]
      if (!found) throw new HubError('missing', `Task ${taskIdOf(id)} has no file ${number}.`)
      return new StreamedText(hub.attachments.read(found), found.bytes)
    },
    'GET /api/retention': async ({ keptMs = 0 }) => hub.retention.prunable(keptMs),
    'POST /api/retention/prune': async ({ keptMs }, { signal }) => {
      const until = clock.elapsed() + partMs
      const sum: Pruned = { tasks: 0, pipelines: 0, more: true }
      while (sum.more && clock.elapsed() < until && !signal.aborted) {
        const { tasks, pipelines, more } = await hub.retention.removeSome(keptMs)
        sum.tasks += tasks
        sum.pipelines += pipelines
        sum.more = more
      }
      return sum
    },
  }
}

async function* none(): AsyncGenerator<Uint8Array> {}
