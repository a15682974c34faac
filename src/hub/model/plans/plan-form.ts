import type { Matrix } from './plan-matrix.ts'
import type { Place, Shape } from '../../../core/data/shape.ts'
import { durationMs } from '../../../base/time/duration.ts'
import {
  anything,
  either,
  integer,
  list,
  mapOf,
  numberAbove,
  object,
  oneOf,
  optional,
  recognised,
  string,
} from '../../../core/data/shape.ts'

/** The most tasks of one plan, its matrices included. */
export const mostTasks = 500

const text = string({ min: 1 })

/** The name of a task or of a value of a matrix, as templates write it. */
const namePattern = /^[A-Za-z][\w-]{0,63}$/
const name = string({ matches: namePattern, wants: 'a name of letters, digits, "-" and "_" that begins with a letter' })

const duration = recognised('a duration such as 90s, 15m, 1h30m or 2d', (value) =>
  typeof value === 'string' ? durationMs(value) : undefined,
)

/** A time as a clock shows it, in ms as if it were UTC; `zoned` if the text names its zone. */
export type WrittenTime = { shown: number; zoned: boolean }

const moment = recognised('a time such as 2026-11-30T18:00', (value): WrittenTime | undefined => {
  const [, date, time, zone] =
    /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d)?)(Z|[+-]\d\d:\d\d)?$/.exec(String(value)) ?? []
  const shown = date === undefined ? NaN : Date.parse(`${date}T${time}${zone ?? 'Z'}`)
  return Number.isNaN(shown) ? undefined : { shown, zoned: zone !== undefined }
})

const deadline = either(duration, moment)
const retries = either(integer(0, 20), object({ times: integer(0, 20), pause: optional(duration) }))

/** Numbers and booleans are allowed as values of a matrix, because they are only inserted into texts. */
const scalar = recognised('a text or a number', (value) =>
  ['string', 'number', 'boolean'].includes(typeof value) && value !== '' ? String(value) : undefined,
)

const combinations = list(mapOf(scalar, name))

const matrix: Shape<Matrix> = {
  wants: 'names, each with a list of values, and perhaps include and exclude',
  json: () => ({ type: 'object' }),
  read(value, at) {
    const { include = [], exclude = [], ...axes } = mapOf(anything(), name).read(value, at)
    const inside = (key: string): Place => ({ ...at, path: [...at.path, key] })
    return {
      axes: mapOf(list(scalar, 1)).read(axes, at),
      include: combinations.read(include, inside('include')),
      exclude: combinations.read(exclude, inside('exclude')),
    }
  },
}

/** The fields that each task may have, and that `defaults` may set for all tasks. */
const common = {
  workspace: optional(text),
  agent: optional(text),
  capabilities: optional(list(text)),
  priority: optional(integer(-100, 100)),
  retries: optional(retries),
  deadline: optional(deadline),
}

/** The form of a plan in a file. */
export const planForm = object({
  name: string({
    matches: /^[^\s\p{Cc}](?:[^\p{Cc}]{0,78}[^\s\p{Cc}])?$/u,
    wants: 'a name of at most 80 characters in one line',
  }),
  zone: optional(text),
  schedule: optional(either(text, object({ cron: text, overlap: optional(oneOf('allow', 'skip')) }))),
  deadline: optional(deadline),
  budget: optional(object({ tokens: optional(integer(1)), cost: optional(numberAbove(0)), time: optional(duration) })),
  defaults: optional(object(common)),
  tasks: list(
    object({
      name,
      prompt: text,
      needs: optional(either(text, list(text, 0, mostTasks))),
      matrix: optional(matrix),
      ...common,
    }),
    1,
    mostTasks,
  ),
})
