import type { AddedPlan } from '../plans/schedule.ts'
import type { Operation } from './operation.ts'
import { either, list, object, optional } from '../../../core/data/shape.ts'
import { shapeOf } from './described.ts'
import { pipeline, pipelineFields, schedule } from './hub-shapes.ts'
import { text, picks } from './input-shapes.ts'

/** Pipelines and schedules: people add plans, and cancel, retry, pause and answer the pipelines made from them. */
export const pipelineOperations = {
  'GET /api/pipelines': { about: 'Lists the pipelines.', right: 'read', output: list(pipeline) },
  'GET /api/pipelines/:id': {
    about: 'One pipeline with its state and what it has used.',
    right: 'read',
    output: pipeline,
  },
  'POST /api/pipelines': {
    about: 'Adds all tasks of a plan, or none if it has a mistake.',
    right: 'add',
    // `plan` is the text of the file, `file` its name; `workspace` and `zone` are those of the person who adds the plan.
    input: { id: text, plan: text, file: optional(text), workspace: text, zone: optional(text) },
    output: shapeOf<AddedPlan>()(either(object({ pipeline: object(pipelineFields) }), object({ schedule }))),
  },
  'POST /api/pipelines/:id/cancel': {
    about: 'Cancels a pipeline.',
    right: 'direct',
    input: { why: optional(text) },
    output: pipeline,
  },
  'POST /api/pipelines/:id/retry': {
    about: 'Tries the failed tasks of a pipeline again.',
    right: 'direct',
    output: pipeline,
  },
  'POST /api/pipelines/:id/pause': {
    about: 'Gives out no further task of a pipeline.',
    right: 'direct',
    output: pipeline,
  },
  'POST /api/pipelines/:id/resume': { about: 'Lets a paused pipeline continue.', right: 'direct', output: pipeline },
  'POST /api/pipelines/:id/answer': {
    about: 'Answers the question about the budget of a pipeline.',
    right: 'answer',
    input: { picks },
    output: pipeline,
  },
  'GET /api/schedules': { about: 'Lists the schedules.', right: 'read', output: list(schedule) },
  'POST /api/schedules/:id/pause': { about: 'Pauses a schedule.', right: 'direct', output: schedule },
  'POST /api/schedules/:id/resume': { about: 'Lets a paused schedule continue.', right: 'direct', output: schedule },
  'POST /api/schedules/:id/remove': { about: 'Removes a schedule.', right: 'direct', output: schedule },
} as const satisfies Record<string, Operation>
