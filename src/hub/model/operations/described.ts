import type { Fields, JsonSchema, Shape, TypeOf } from '../../../core/data/shape.ts'
import { anything, object, string } from '../../../core/data/shape.ts'

/** The shapes that have a name in the descriptions, by their names. */
export const namedShapes: Record<string, Shape<unknown>> = {}

type KeyOf<T> = T extends unknown ? keyof T : never

/** Does not compile if a shape lacks a field of the type that it describes, or has a field that the type lacks. */
type Whole<T, S> = [KeyOf<T>, KeyOf<TypeOf<S>>] extends [KeyOf<TypeOf<S>>, KeyOf<T>] ? unknown : never

/** A shape for all fields of a type of the hub. */
export const shapeOf =
  <T>() =>
  <S extends Shape<unknown>>(shape: S & Whole<T, S>): Shape<T> =>
    shape as Shape<unknown> as Shape<T>

/** A shape for those fields of a type that other programs can rely on; answers also contain the others. */
export const partOf =
  <T>() =>
  <F extends Fields>(fields: F & (keyof F extends KeyOf<T> ? unknown : never)): Shape<T> =>
    object(fields, 'ignored') as Shape<unknown> as Shape<T>

/** Gives a shape a name in the descriptions. */
export function nameShape<T>(name: string, shape: Shape<T>): Shape<T> {
  namedShapes[name] = shape
  return { ...shape, json: (): JsonSchema => ({ $ref: `#/components/schemas/${name}` }) }
}

/** A shape with a name, for all fields of a type of the hub. */
export const describeType =
  <T>() =>
  <S extends Shape<unknown>>(name: string, shape: S & Whole<T, S>): Shape<T> =>
    nameShape(name, shape as Shape<unknown> as Shape<T>)

/** Plain text or bytes instead of JSON. */
export const plainText: Shape<string> & { is: 'plain text' } = { ...string(), is: 'plain text' }
/**
 * An answer in the form in which the dashboard of the same version stores its state. The form changes with the dashboard, so other
 * programs use /api/state.
 */
export const ofDashboard = <T>(): Shape<T> & { is: 'of the dashboard' } => ({
  ...(anything() as Shape<T>),
  is: 'of the dashboard',
})
