import { nearest } from '../base/nearest.ts'

/**
 * What a settings file may hold, as data that checks itself in the person's words and tells editors the same.
 * By hand, because a validator's start alone would cost a turn more than all the rest of the settings.
 */
export type Path = readonly (string | number)[]

/** What is wrong, and at which key. */
export type Fault = { path: Path; words: string }

export interface Shape<T> {
  /** What is allowed, after "allowed:" or before "is needed". */
  words: string
  check(value: unknown, path: Path): Fault | undefined
  /** The same as JSON Schema. */
  schema: Record<string, unknown>
  /** The type it stands for; never there at run time. */
  type?: T
  optional?: true
  /** The keys of an object, for whoever mistyped one. */
  keys?: Record<string, Shape<unknown>>
}

export type TypeOf<S> = S extends Shape<infer T> ? T : never

type Fields = Record<string, Shape<unknown>>
type Optional<F extends Fields> = { [K in keyof F as F[K] extends { optional: true } ? K : never]?: TypeOf<F[K]> }
type Needed<F extends Fields> = { [K in keyof F as F[K] extends { optional: true } ? never : K]: TypeOf<F[K]> }

function plain<T>(words: string, schema: Record<string, unknown>, fits: (value: unknown) => boolean): Shape<T> {
  return {
    words,
    schema,
    check: (value, path) => (fits(value) ? undefined : { path, words: `found ${shown(value)}, allowed: ${words}` }),
  }
}

export const text = plain<string>('a text', { type: 'string' }, (value) => typeof value === 'string')
export const filled = plain<string>(
  'a text that is not empty',
  { type: 'string', pattern: '\\S' },
  (value) => typeof value === 'string' && value.trim() !== '',
)
export const flag = plain<boolean>('true or false', { type: 'boolean' }, (value) => typeof value === 'boolean')
export const anything = plain<unknown>('anything', {}, () => true)
export const amount = plain<number>(
  'a number above 0',
  { type: 'number', exclusiveMinimum: 0 },
  (value) => typeof value === 'number' && value > 0,
)
export const count = plain<number>(
  'a whole number above 0',
  { type: 'integer', exclusiveMinimum: 0 },
  (value) => Number.isSafeInteger(value) && (value as number) > 0,
)
export const name = plain<string>(
  'letters, digits, ".", "_" and "-"',
  { type: 'string', pattern: '^[\\w.-]+$' },
  (value) => typeof value === 'string' && /^[\w.-]+$/.test(value),
)

export function oneOf<const T extends readonly string[]>(choices: T): Shape<T[number]> {
  const words = choices.map((choice) => JSON.stringify(choice)).join(', ')
  const itself = plain<T[number]>(words, { enum: choices }, (value) => choices.includes(value as string))
  return {
    ...itself,
    check(value, path) {
      const fault = itself.check(value, path)
      const near = fault && typeof value === 'string' ? nearest(value, choices) : undefined
      return near === undefined ? fault : { path, words: `found ${shown(value)}; did you mean "${near}"?` }
    },
  }
}

export function either<A, B>(a: Shape<A>, b: Shape<B>): Shape<A | B> {
  const words = `${a.words} or ${b.words}`
  return plain(words, { anyOf: [a.schema, b.schema] }, (value) => !a.check(value, []) || !b.check(value, []))
}

/** A list or an object, each with faults of its own. */
export function eachOr<A, B>(listed: Shape<A[]>, mapped: Shape<B>): Shape<A[] | B> {
  return {
    words: `${listed.words} or ${mapped.words}`,
    schema: { anyOf: [listed.schema, mapped.schema] },
    check: (value, path) => (Array.isArray(value) ? listed : mapped).check(value, path),
  }
}

export function maybe<T>(shape: Shape<T>): Shape<T> & { optional: true } {
  return { ...shape, optional: true }
}

export function list<T>(each: Shape<T>): Shape<T[]> {
  const itself = plain<T[]>('a list', { type: 'array', items: each.schema }, Array.isArray)
  return {
    ...itself,
    check: (value, path) =>
      itself.check(value, path) ??
      first((value as unknown[]).map((item, index) => () => each.check(item, [...path, index]))),
  }
}

/** An object whose keys are the person's own words, each of the shape `key`. */
export function mapOf<T>(each: Shape<T>, key: Shape<string> = text): Shape<Record<string, T>> {
  const schema = { type: 'object', propertyNames: key.schema, additionalProperties: each.schema }
  const itself = plain<Record<string, T>>('an object', schema, isObject)
  return {
    ...itself,
    check: (value, path) =>
      itself.check(value, path) ??
      first(
        Object.entries(value as object).map(
          ([word, item]) =>
            () =>
              key.check(word, [...path, word]) ?? each.check(item, [...path, word]),
        ),
      ),
  }
}

/** An object with these keys and no others. */
export function object<F extends Fields>(fields: F): Shape<Optional<F> & Needed<F>> {
  const required = Object.keys(fields).filter((key) => !fields[key]!.optional)
  const properties = Object.fromEntries(Object.entries(fields).map(([key, { schema }]) => [key, schema]))
  const schema = { type: 'object', properties, additionalProperties: false, ...(required.length ? { required } : {}) }
  const itself = plain<Optional<F> & Needed<F>>('an object', schema, isObject)
  const fieldFault = (found: Record<string, unknown>, key: string, path: Path): Fault | undefined => {
    const shape = fields[key]!
    if (found[key] !== undefined) return shape.check(found[key], [...path, key])
    return shape.optional ? undefined : { path: [...path, key], words: `missing; ${shape.words} is needed` }
  }
  return {
    ...itself,
    keys: fields,
    check(value, path) {
      const wrong = itself.check(value, path)
      if (wrong) return wrong
      const found = value as Record<string, unknown>
      const stray = Object.keys(found).find((key) => !Object.hasOwn(fields, key))
      if (stray !== undefined) return { path: [...path, stray], words: unknownKey(stray, Object.keys(fields)) }
      return first(Object.keys(fields).map((key) => () => fieldFault(found, key, path)))
    },
  }
}

function first(checks: readonly (() => Fault | undefined)[]): Fault | undefined {
  for (const check of checks) {
    const fault = check()
    if (fault) return fault
  }
  return undefined
}

const isObject = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value)

function shown(value: unknown): string {
  const json = JSON.stringify(value) ?? String(value)
  return json.length > 60 ? `${json.slice(0, 60)}…` : json
}

function unknownKey(key: string, known: readonly string[]): string {
  const near = nearest(key, known)
  if (near !== undefined) return `unknown key; did you mean "${near}"?`
  return `unknown key; allowed: ${known.filter((other) => !other.startsWith('$')).join(', ')}`
}
