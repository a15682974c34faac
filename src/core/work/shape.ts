/** One field of an input: what the model is told of it, and how what it sent is read. */
export type Field<T, O extends boolean = boolean> = {
  schema: Record<string, unknown>
  optional: O
  read(value: unknown, name: string): T
}

type Fields = Record<string, Field<unknown>>
type Of<F> = F extends Field<infer T> ? T : never
type Needed<F extends Fields> = { [K in keyof F as F[K] extends Field<unknown, true> ? never : K]: Of<F[K]> }
type Free<F extends Fields> = { [K in keyof F as F[K] extends Field<unknown, true> ? K : never]?: Of<F[K]> }

/** What a tool is given, once it was read. */
export type Input<F extends Fields> = Needed<F> & Free<F>

export type Shape<T> = { schema: Record<string, unknown>; parse(input: unknown): T }

/** One description of an input gives its schema and its parser, so that the two cannot drift apart. */
export function shape<F extends Fields>(fields: F): Shape<Input<F>> {
  const { schema, read } = object(fields)
  return { schema, parse: (input) => read(fromJson(input) ?? {}, '') }
}

/** `strange`: what becomes of fields that nobody asked for; an answer in words brings some along. */
export function object<F extends Fields>(
  fields: F,
  strange: 'refused' | 'ignored' = 'refused',
): Field<Input<F>, false> {
  const names = Object.keys(fields)
  const required = names.filter((name) => !fields[name]!.optional)
  const properties = Object.fromEntries(names.map((name) => [name, fields[name]!.schema]))
  // Bounds and strange fields are left to the parser, whose words teach them once: here they would cost bytes in
  // every request.
  const schema = { type: 'object', properties, ...(required.length > 0 ? { required } : {}) }
  const read = (value: unknown, at: string): Input<F> => {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw new Error(`${at || 'the input'} must be an object with ${listed(names)}, not ${kind(value)}.`)
    const sent = value as Record<string, unknown>
    const unknown = Object.keys(sent).find((name) => !names.includes(name))
    if (unknown !== undefined && strange === 'refused') {
      const allowed = names.length > 0 ? `the fields are ${listed(names)}` : 'it takes no fields'
      throw new Error(`there is no field ${inside(at, unknown)}; ${allowed}.`)
    }
    const got: Record<string, unknown> = {}
    for (const name of names) {
      // Some providers send null for what is left out.
      if (sent[name] !== undefined && sent[name] !== null) got[name] = fields[name]!.read(sent[name], inside(at, name))
      else if (!fields[name]!.optional) throw new Error(`${inside(at, name)} is missing.`)
    }
    return got as Input<F>
  }
  return { schema, optional: false, read }
}

export const string = (allowed: { min?: number } = {}): Field<string, false> => ({
  schema: { type: 'string' },
  optional: false,
  read(value, name) {
    if (typeof value !== 'string') throw new Error(`${name} must be a string, not ${kind(value)}.`)
    if (value.length < (allowed.min ?? 0)) throw new Error(`${name} must not be empty.`)
    return value
  },
})

export const oneOf = <T extends string>(...words: readonly T[]): Field<T, false> => ({
  schema: { type: 'string', enum: words },
  optional: false,
  read(value, name) {
    const word = words.find((one) => one === value)
    if (!word) throw new Error(`${name} must be one of ${listed(words)}, not ${JSON.stringify(value)}.`)
    return word
  },
})

export const integer = (min: number, max?: number): Field<number, false> => ({
  schema: { type: 'integer' },
  optional: false,
  read(value, name) {
    // Many models write a number as a text.
    const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value
    const fits = Number.isSafeInteger(number) && (number as number) >= min && (number as number) <= (max ?? Infinity)
    const range = max === undefined ? `from ${min} on` : `from ${min} to ${max}`
    if (!fits) throw new Error(`${name} must be a whole number ${range}, not ${JSON.stringify(value)}.`)
    return number as number
  },
})

export const boolean = (): Field<boolean, false> => ({
  schema: { type: 'boolean' },
  optional: false,
  read(value, name) {
    if (value === 'true' || value === 'false') return value === 'true'
    if (typeof value !== 'boolean') throw new Error(`${name} must be true or false, not ${kind(value)}.`)
    return value
  },
})

export const list = <T>(item: Field<T>, min: number, max?: number): Field<T[], false> => ({
  schema: { type: 'array', items: item.schema },
  optional: false,
  read(value, name) {
    const items = fromJson(value)
    if (!Array.isArray(items)) throw new Error(`${name} must be a list, not ${kind(value)}.`)
    const count = min === max ? `exactly ${min}` : items.length < min ? `at least ${min}` : `at most ${max}`
    if (items.length < min || items.length > (max ?? Infinity))
      throw new Error(`${name} must have ${count} ${count.endsWith(' 1') ? 'item' : 'items'}, not ${items.length}.`)
    return items.map((one, i) => item.read(one, `${name}[${i}]`))
  },
})

export const number = (min: number): Field<number, false> => ({
  schema: { type: 'number' },
  optional: false,
  read(value, name) {
    const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
    if (typeof number !== 'number' || !Number.isFinite(number) || number < min)
      throw new Error(`${name} must be a number from ${min} on, not ${JSON.stringify(value)}.`)
    return number
  },
})

/** The first of them that it is. */
export const either = <A, B>(a: Field<A, false>, b: Field<B, false>): Field<A | B, false> => ({
  schema: { anyOf: [a.schema, b.schema] },
  optional: false,
  read(value, name) {
    try {
      return a.read(value, name)
    } catch {
      return b.read(value, name)
    }
  },
})

/** Whatever JSON holds. */
export const anything = (): Field<unknown, false> => ({ schema: {}, optional: false, read: (value) => value })

/** The same field, with what it is for. */
export const about = <T, O extends boolean>(description: string, field: Field<T, O>): Field<T, O> => ({
  ...field,
  schema: { ...field.schema, description },
})

export const optional = <T>(field: Field<T, false>): Field<T, true> => ({ ...field, optional: true })

/** Some models send an object or a list as the text of it. */
function fromJson(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}

const inside = (at: string, name: string) => (at === '' ? name : `${at}.${name}`)

const listed = (names: readonly string[]) => names.join(', ')

const kind = (value: unknown) => (value === null ? 'null' : Array.isArray(value) ? 'a list' : `a ${typeof value}`)
