import type { Clock } from '../../../base/time/clock.ts'
import type { pipelineOperations } from '../../model/operations/pipeline-operations.ts'
import type { Pipeline, PipelineView } from '../../model/tasks/pipeline.ts'
import type { Hub } from '../../engine/hub.ts'
import type { Handlers } from '../access/hub-router.ts'
import { defined } from '../../../base/defined.ts'
import { pipelineSpent, pipelineState } from '../../model/tasks/pipeline.ts'

/** Pipelines and schedules: people add plans, and cancel, retry, pause and answer the pipelines made from them. */
export function pipelineRoutes({ pipelines }: Hub, clock: Clock): Handlers<keyof typeof pipelineOperations> {
  const view = async (pipeline: Pipeline): Promise<PipelineView> => {
    const tasks = await pipelines.tasksOf(pipeline)
    return { ...pipeline, state: pipelineState(pipeline, tasks), spent: pipelineSpent(tasks, clock.now()) }
  }
  return {
    'GET /api/pipelines': async () => Promise.all((await pipelines.all()).map(view)),
    'GET /api/pipelines/:id': async (_, { id }) => view(await pipelines.pipeline(id)),
    'POST /api/pipelines': async ({ plan, ...rest }, { caller }) =>
      pipelines.addText(defined({ ...rest, text: plan, by: caller.name, now: clock.now() })),
    'POST /api/pipelines/:id/cancel': async ({ why }, { id, caller }) =>
      view(await pipelines.cancel(id, caller.name, why)),
    'POST /api/pipelines/:id/retry': async (_, { id, caller }) => view(await pipelines.retry(id, caller.name)),
    'POST /api/pipelines/:id/pause': async (_, { id, caller }) => view(await pipelines.pause(id, caller.name)),
    'POST /api/pipelines/:id/resume': async (_, { id }) => view(await pipelines.resume(id)),
    'POST /api/pipelines/:id/answer': async (said, { id, caller }) =>
      view(await pipelines.answer(id, said.picks, caller.name)),
    'GET /api/schedules': async () => pipelines.schedules(),
    'POST /api/schedules/:id/pause': async (_, { id, caller }) => pipelines.pauseSchedule(id, caller.name),
    'POST /api/schedules/:id/resume': async (_, { id }) => pipelines.resumeSchedule(id),
    'POST /api/schedules/:id/remove': async (_, { id }) => pipelines.removeSchedule(id),
  }
}
