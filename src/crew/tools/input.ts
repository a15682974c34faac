import { nearest } from '../../base/nearest.ts'

type Schema = Record<string, unknown>

/** One field of a tool's input: what a model is told of it, and what is made of what it sent; undefined is none of it. */
export type Field<T> = { schema: Schema; read(value: unknown): T | undefined; wants: string }

const field = <T>(wants: string, schema: Schema, read: Field<T>['read']): Field<T> => ({ wants, schema, read })

/** The same field, with what it is for. */
export function about<T>(description: string, of: Field<T>): Field<T> {
  return { ...of, schema: { ...of.schema, description } }
}

export const text = field<string>('a text', { type: 'string' }, (value) =>
  typeof value === 'string' ? value : undefined,
)
export const flag = field<boolean>('true or false', { type: 'boolean' }, (value) =>
  typeof value === 'boolean' ? value : undefined,
)
export const seconds = field<number>('a number of seconds', { type: 'number', minimum: 0 }, (value) =>
  typeof value === 'number' && value >= 0 ? value : undefined,
)
export const slot = field<number>('the number of a slot', { type: 'integer', minimum: 1 }, (value) =>
  Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : undefined,
)

export function upTo(most: number): Field<number> {
  const wants = `a whole number from 1 to ${most}`
  return field(wants, { type: 'integer', minimum: 1, maximum: most }, (value) =>
    Number.isSafeInteger(value) && (value as number) >= 1 && (value as number) <= most ? (value as number) : undefined,
  )
}

export function oneOf<const T extends readonly string[]>(choices: T): Field<T[number]> {
  return field(choices.map((choice) => `"${choice}"`).join(' or '), { type: 'string', enum: choices }, (value) =>
    choices.includes(value as string) ? (value as T[number]) : undefined,
  )
}

export function listOf<T>(each: Field<T>, least = 0): Field<T[]> {
  const schema = { type: 'array', items: each.schema, ...(least > 0 ? { minItems: least } : {}) }
  return field(`a list, each ${each.wants}`, schema, (value) => {
    if (!Array.isArray(value) || value.length < least) return undefined
    const read = value.map((one) => each.read(one))
    return read.some((one) => one === undefined) ? undefined : (read as T[])
  })
}

export function either<A, B>(a: Field<A>, b: Field<B>): Field<A | B> {
  const schema = { anyOf: [a.schema, b.schema] }
  return field<A | B>(`${a.wants}, or ${b.wants}`, schema, (value) => a.read(value) ?? b.read(value))
}

type Fields = Record<string, Field<unknown>>
type Read<F extends Fields> = { [K in keyof F]?: F[K] extends Field<infer T> ? T : never }

/** A tool's input from its fields: a schema for the model, and `parse`, which says what to send instead. */
export function inputOf<F extends Fields>(fields: F, required: readonly (keyof F & string)[] = []) {
  const properties = Object.fromEntries(Object.entries(fields).map(([name, { schema }]) => [name, schema]))
  return {
    schema: { type: 'object', properties, additionalProperties: false, ...(required.length > 0 ? { required } : {}) },
    parse(input: unknown): Read<F> {
      if (typeof input !== 'object' || input === null || Array.isArray(input))
        throw new Error('the input is not an object')
      const found = Object.entries(input).filter(([, value]) => value !== undefined && value !== null)
      const read = found.map(([name, value]) => {
        const known = Object.hasOwn(fields, name) ? fields[name] : undefined
        if (!known) throw new Error(unknownWords(name, Object.keys(fields)))
        const made = known.read(value)
        if (made === undefined) throw new Error(`${name}: found ${shown(value)}, allowed: ${known.wants}`)
        return [name, made]
      })
      const missing = required.find((name) => !found.some(([given]) => given === name))
      if (missing) throw new Error(`${missing} is missing: ${fields[missing]!.wants} is needed`)
      return Object.fromEntries(read) as Read<F>
    },
  }
}

function unknownWords(name: string, known: readonly string[]): string {
  const near = nearest(name, known)
  return `${name} is not known${near ? `; did you mean ${near}?` : `; there are ${known.join(', ')}`}`
}

function shown(value: unknown): string {
  const json = JSON.stringify(value) ?? String(value)
  return json.length > 60 ? `${json.slice(0, 60)}…` : json
}
