import type { Pipeline, PipelineView } from '../../model/tasks/pipeline.ts'
import type { Clock } from '../../../base/time/clock.ts'
import type { Hub } from '../../engine/hub.ts'
import type { HubRoute } from '../access/hub-router.ts'
import type { Patience } from './route-forms.ts'
import { defined } from '../../../base/defined.ts'
import { pipelineSpent, pipelineState } from '../../model/tasks/pipeline.ts'
import { optional, parser } from '../../../core/data/shape.ts'
import { anyBody, post, text } from './route-forms.ts'

/** Pipelines and schedules: people add plans, and cancel, retry, pause and answer the pipelines made from them. */
export function pipelineRoutes(hub: Hub, clock: Clock, { get }: Patience): HubRoute[] {
  const { pipelines } = hub
  const view = async (pipeline: Pipeline): Promise<PipelineView> => {
    const tasks = await pipelines.tasksOf(pipeline)
    return { ...pipeline, state: pipelineState(pipeline, tasks), spent: pipelineSpent(tasks, clock.now()) }
  }
  return [
    get('/api/pipelines', 'Lists the pipelines.', async () => Promise.all((await pipelines.all()).map(view))),
    get('/api/pipelines/:id', 'One pipeline with its state and what it has used.', async ({ id }) =>
      view(await pipelines.pipeline(id)),
    ),
    post(
      '/api/pipelines',
      'Adds all tasks of a plan, or none where it has a mistake.',
      'add',
      // `plan` is the text of the file, `file` its name; `workspace` and `zone` are those of the person who sends it.
      parser({ id: text, plan: text, file: optional(text), workspace: text, zone: optional(text) }),
      async ({ plan, ...rest }, { caller }) =>
        pipelines.addText(defined({ ...rest, text: plan, by: caller.name, now: clock.now() })),
    ),
    post(
      '/api/pipelines/:id/cancel',
      'Cancels a pipeline.',
      'direct',
      parser({ why: optional(text) }),
      async ({ why }, { id, caller }) => view(await pipelines.cancel(id, caller.name, why)),
    ),
    post(
      '/api/pipelines/:id/retry',
      'Tries the failed tasks of a pipeline again.',
      'direct',
      anyBody,
      async (_, { id, caller }) => view(await pipelines.retry(id, caller.name)),
    ),
    post(
      '/api/pipelines/:id/pause',
      'Hands out no further task of a pipeline.',
      'direct',
      anyBody,
      async (_, { id, caller }) => view(await pipelines.pause(id, caller.name)),
    ),
    post('/api/pipelines/:id/resume', 'Lets a paused pipeline go on.', 'direct', anyBody, async (_, { id }) =>
      view(await pipelines.resume(id)),
    ),
    post(
      '/api/pipelines/:id/answer',
      'Answers the question about the budget of a pipeline.',
      'answer',
      parser({ text }),
      async (said, { id, caller }) => view(await pipelines.answer(id, said.text, caller.name)),
    ),
    get('/api/schedules', 'Lists the schedules.', async () => pipelines.schedules()),
    post('/api/schedules/:id/pause', 'Pauses a schedule.', 'direct', anyBody, async (_, { id, caller }) =>
      pipelines.pauseSchedule(id, caller.name),
    ),
    post('/api/schedules/:id/resume', 'Lets a paused schedule go on.', 'direct', anyBody, async (_, { id }) =>
      pipelines.resumeSchedule(id),
    ),
    post('/api/schedules/:id/remove', 'Removes a schedule.', 'direct', anyBody, async (_, { id }) =>
      pipelines.removeSchedule(id),
    ),
  ]
}
