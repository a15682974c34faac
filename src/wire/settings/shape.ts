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
  return plain(words, { enum: choices }, (value) => choices.includes(value as string))
}

export function either<A, B>(a: Shape<A>, b: Shape<B>): Shape<A | B> {
  const words = `${a.words} or ${b.words}`
  return plain(words, { anyOf: [a.schema, b.schema] }, (value) => !a.check(value, []) || !b.check(value, []))
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

export function mapOf<T>(each: Shape<T>): Shape<Record<string, T>> {
  const itself = plain<Record<string, T>>('an object', { type: 'object', additionalProperties: each.schema }, isObject)
  return {
    ...itself,
    check: (value, path) =>
      itself.check(value, path) ??
      first(
        Object.entries(value as object).map(
          ([key, item]) =>
            () =>
              each.check(item, [...path, key]),
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
  const near = known
    .map((other) => ({ other, far: distance(key.toLowerCase(), other.toLowerCase()) }))
    .sort((a, b) => a.far - b.far)[0]
  if (near && near.far <= Math.max(2, key.length / 4)) return `unknown key; did you mean "${near.other}"?`
  return `unknown key; allowed: ${known.filter((other) => !other.startsWith('$')).join(', ')}`
}

/** How many slips of the finger lie between two words. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++)
      next[j] = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1))
    row = next
  }
  return row[b.length]!
}
