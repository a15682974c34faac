import type { JsonSchema, Shape } from '../core/data/shape.ts'
import { leashes, leashMeanings } from '../core/work/agent.ts'
import { about, boolean, integer, numberAbove, oneOf, optional, string } from '../core/data/shape.ts'

export const text = string()
export const filled = string({ matches: /\S/, wants: 'a string that is not empty' })
export const name = string({
  matches: /^(?!-)[\w.-]+$/,
  wants: 'letters, digits, ".", "_" and "-", without a "-" at its beginning',
})
export const modelText = string({ matches: /^(?!-)/, wants: 'the name of a model, which does not begin with "-"' })
export const variable = string({ matches: /^[A-Za-z_]\w*$/, wants: 'the name of an environment variable' })
export const flag = boolean()
export const count = integer(1)
export const amount = numberAbove(0)
export const numberFrom0 = integer(0)

/** A setting that may be left out, with its meaning for the person who edits the file. */
export const setting = <T>(meaning: string, shape: Shape<T>) => about(meaning, optional(shape))

/** A shape whose JSON Schema says more than its reader checks; the rest is checked where the whole file is known. */
export const describeSetting = <S extends Shape<unknown>>(shape: S, more: JsonSchema): S => ({
  ...shape,
  json: (detail) => ({ ...shape.json(detail), ...more }),
})

export const leash = oneOf(...leashes)
export const meaningOfLeash = leashes.map((each) => `${each}: ${leashMeanings[each]}`).join('; ')

/** Where the terminal of an agent opens. */
export const spawnMode = oneOf('window', 'pane')
