import { defined } from '../../base/defined.ts'
import { nearest } from '../../base/text/nearest.ts'

/**
 * The schema language. One description of a value gives its JSON Schema and its reader, so that the two cannot drift apart: tools
 * describe their inputs in it, agents' answers are asked for and read by it, and settings files are checked by it.
 * Written by hand, because importing a validator would take longer than reading all the settings.
 */
export interface Shape<T> {
  /** The allowed values as text that follows "must be" or "allowed:". */
  wants: string
  json(detail: Detail): JsonSchema
  /** Returns the value, converted to the type of the shape. Throws a Misfit. */
  read(value: unknown, at: Place): T
  /** Whether an object may lack the field. */
  optional?: true
}

export type JsonSchema = Record<string, unknown>

/** `brief` leaves out limits: a model pays for every byte in every request, and the error message names a limit when it matters. */
type Detail = 'brief' | 'full'

export type Path = readonly (string | number)[]

/**
 * The location of a value. `lenient` corrects common mistakes of models: a number, a list or an object as text, null for a missing value.
 * With `faults`, a reader adds each misfit to the list and continues, instead of throwing at the first.
 */
export type Place = { path: Path; lenient: boolean; faults?: Fault[] }

/** A place at which a value does not fit its shape, and the values that would fit. */
export type Fault = { path: Path } & (
  | { is: 'wrong'; found: string; wants: string; near?: string }
  | { is: 'missing'; wants: string }
  | { is: 'unknown'; known: readonly string[] }
)

/** A value that does not fit, with a message that tells a model what to send instead. */
export class Misfit extends Error {
  readonly fault: Fault

  constructor(fault: Fault) {
    super(wordsFor(fault))
    this.fault = fault
  }
}

function wordsFor(fault: Fault): string {
  const at = pathText(fault.path) || 'the input'
  if (fault.is === 'missing') return `${at} is missing.`
  if (fault.is === 'wrong') return `${at} must be ${fault.wants}, not ${fault.found}.`
  const { known } = fault
  return `there is no field ${at}; ${known.length > 0 ? `the fields are ${known.join(', ')}` : 'it takes no fields'}.`
}

/** A fault as a message for the person who edits the file. */
export function faultWords(fault: Fault): string {
  if (fault.is === 'missing') return `missing; ${fault.wants} is needed`
  if (fault.is === 'unknown') return unknownKey(String(fault.path.at(-1)), fault.known)
  return `found ${fault.found}${fault.near === undefined ? `, allowed: ${fault.wants}` : `; did you mean "${fault.near}"?`}`
}

function unknownKey(key: string, known: readonly string[]): string {
  const near = nearest(key, known)
  if (near !== undefined) return `unknown key; did you mean "${near}"?`
  return `unknown key; allowed: ${known.filter((other) => !other.startsWith('$')).join(', ')}`
}

/** A path as people write it: `agents[0].command`. */
export function pathText(path: Path): string {
  return path.reduce<string>(
    (text, part) => (typeof part === 'number' ? `${text}[${part}]` : text ? `${text}.${part}` : part),
    '',
  )
}

/** Finds all mistakes in a value that a person wrote; corrects nothing in it. */
export function faultsIn(shape: Shape<unknown>, value: unknown): Fault[] {
  return faultsAt(shape, value, { path: [], lenient: false })
}

function faultsAt(shape: Shape<unknown>, value: unknown, at: Place): Fault[] {
  const faults: Fault[] = []
  noted(faults, () => shape.read(value, { ...at, faults }))
  return faults
}

/** Reads one value; records its misfit if faults are collected, and throws it otherwise. */
function noted<T>(faults: Fault[] | undefined, read: () => T): T | undefined {
  if (!faults) return read()
  try {
    return read()
  } catch (error) {
    if (!(error instanceof Misfit)) throw error
    faults.push(error.fault)
    return undefined
  }
}

/** The JSON Schema for a sender, and the parser for its values. `parse` throws a message that says what to send instead. */
export type Parser<T> = { schema: JsonSchema; parse(input: unknown): T }

/** `root` is the name of the input in messages; `strays` says how unknown fields are treated. */
export function parser<F extends Fields>(
  fields: F,
  { root, strays }: { root?: string; strays?: Strays } = {},
): Parser<ObjectOf<F>> {
  const shape = object(fields, strays)
  const path = root === undefined ? [] : [root]
  return { schema: shape.json('brief'), parse: (input) => shape.read(input ?? {}, { path, lenient: true }) }
}

export type Fields = Record<string, Shape<unknown>>
type Optional<T> = Shape<T> & { optional: true }
export type TypeOf<S> = S extends Shape<infer T> ? T : never
export type ObjectOf<F extends Fields> = {
  [K in keyof F as F[K] extends Optional<unknown> ? never : K]: TypeOf<F[K]>
} & { [K in keyof F as F[K] extends Optional<unknown> ? K : never]?: TypeOf<F[K]> }

type Strays = 'refused' | 'ignored'

/** Objects with at most this many fields are described by listing their names. */
const fewFields = 8

export function object<F extends Fields>(fields: F, strays: Strays = 'refused'): Shape<ObjectOf<F>> {
  const names = Object.keys(fields)
  const required = names.filter((name) => !fields[name]!.optional)
  const wants = names.length > 0 && names.length <= fewFields ? `an object with ${names.join(', ')}` : 'an object'
  return {
    wants,
    json(detail) {
      const properties = Object.fromEntries(names.map((name) => [name, fields[name]!.json(detail)]))
      const closed = strays === 'refused' ? { additionalProperties: false } : {}
      return { type: 'object', properties, ...closed, ...(required.length > 0 ? { required } : {}) }
    },
    read(value, at) {
      const sent = objectIn(value, wants, at)
      const unknown = strays === 'refused' ? Object.keys(sent).filter((name) => !Object.hasOwn(fields, name)) : []
      for (const stray of unknown)
        noted(at.faults, () => {
          throw new Misfit({ is: 'unknown', path: [...at.path, stray], known: names })
        })
      const got: Record<string, unknown> = {}
      for (const name of names) {
        const { wants, optional } = fields[name]!
        const inside = within(at, name)
        const isThere = sent[name] !== undefined && !(at.lenient && sent[name] === null)
        noted(at.faults, () => {
          if (isThere) got[name] = fields[name]!.read(sent[name], inside)
          else if (!optional) throw new Misfit({ is: 'missing', path: inside.path, wants })
        })
      }
      return got as ObjectOf<F>
    },
  }
}

/** An object whose keys the author chooses, each of the shape `key`. */
export function mapOf<T>(each: Shape<T>, key: Shape<string> = string()): Shape<Record<string, T>> {
  return {
    wants: 'an object',
    json: (detail) => ({
      type: 'object',
      propertyNames: key.json(detail),
      additionalProperties: each.json(detail),
    }),
    read(value, at) {
      const read = Object.entries(objectIn(value, 'an object', at)).map(([name, one]) => {
        const inside = within(at, name)
        return [noted(at.faults, () => key.read(name, inside)), noted(at.faults, () => each.read(one, inside))]
      })
      return Object.fromEntries(read) as Record<string, T>
    },
  }
}

function objectIn(value: unknown, wants: string, at: Place): Record<string, unknown> {
  const sent = unpacked(value, at)
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent)) throw wrong(value, wants, at)
  return sent as Record<string, unknown>
}

export function list<T>(item: Shape<T>, min = 0, max = Infinity): Shape<T[]> {
  const wants = min === 0 && max === Infinity ? 'a list' : `a list of ${countWords(min, max)}`
  return {
    wants,
    json(detail) {
      const bounds = { minItems: min > 0 ? min : undefined, maxItems: max < Infinity ? max : undefined }
      return { type: 'array', items: item.json(detail), ...(detail === 'full' ? defined(bounds) : {}) }
    },
    read(value, at) {
      const items = unpacked(value, at)
      if (!Array.isArray(items)) throw wrong(value, wants, at)
      if (items.length < min || items.length > max)
        throw new Misfit({ is: 'wrong', path: at.path, found: `one of ${items.length}`, wants })
      return items.map((one, index) => noted(at.faults, () => item.read(one, within(at, index))) as T)
    },
  }
}

function countWords(min: number, max: number): string {
  if (min === max) return `exactly ${min} ${min === 1 ? 'item' : 'items'}`
  if (max === Infinity) return `at least ${min} ${min === 1 ? 'item' : 'items'}`
  return `${min === 0 ? 'at most' : `${min} to`} ${max} items`
}

/** `matches` is for values that are more specific than any text; `wants` then describes them. */
export function string(allowed: { min?: 1 } | { matches: RegExp; wants: string } = {}): Shape<string> {
  const { matches, wants, bounds } =
    'matches' in allowed
      ? { ...allowed, bounds: { pattern: allowed.matches.source } }
      : allowed.min
        ? { matches: /[^]/, wants: 'a string that is not empty', bounds: { minLength: 1 } }
        : { matches: undefined, wants: 'a string', bounds: {} }
  return {
    wants,
    json: (detail) => ({ type: 'string', ...(detail === 'full' ? bounds : {}) }),
    read(value, at) {
      if (typeof value !== 'string' || matches?.test(value) === false) throw wrong(value, wants, at)
      return value
    },
  }
}

export function oneOf<T extends string>(...choices: readonly T[]): Shape<T> {
  const wants = `one of ${choices.map((choice) => JSON.stringify(choice)).join(', ')}`
  return {
    wants,
    json: () => ({ type: 'string', enum: choices }),
    read(value, at) {
      const choice = choices.find((one) => one === value)
      if (choice === undefined) throw wrong(value, wants, at, choices)
      return choice
    },
  }
}

export function integer(min: number, max = Infinity): Shape<number> {
  const range = max === Infinity ? `of ${min} or more` : `from ${min} to ${max}`
  return numeric(
    'integer',
    `a whole number ${range}`,
    // A larger number would lose digits.
    { minimum: min, maximum: Math.min(max, Number.MAX_SAFE_INTEGER) },
    Number.isSafeInteger,
  )
}

export const number = (min: number): Shape<number> => numeric('number', `a number of ${min} or more`, { minimum: min })

export const numberAbove = (bound: number): Shape<number> =>
  numeric('number', `a number above ${bound}`, { exclusiveMinimum: bound })

type Bounds = { minimum?: number; maximum?: number; exclusiveMinimum?: number }

function numeric(
  type: 'integer' | 'number',
  wants: string,
  bounds: Bounds,
  isOne: (value: number) => boolean = Number.isFinite,
): Shape<number> {
  const { minimum = -Infinity, maximum = Infinity, exclusiveMinimum = -Infinity } = bounds
  return {
    wants,
    json: (detail) => ({ type, ...(detail === 'full' ? bounds : {}) }),
    read(value, at) {
      const isText = at.lenient && typeof value === 'string' && value.trim() !== ''
      const read = isText ? Number(value) : value
      const fits =
        typeof read === 'number' && isOne(read) && read >= minimum && read <= maximum && read > exclusiveMinimum
      if (!fits) throw wrong(value, wants, at)
      return read
    },
  }
}

export function boolean(): Shape<boolean> {
  const wants = 'true or false'
  return {
    wants,
    json: () => ({ type: 'boolean' }),
    read(value, at) {
      if (at.lenient && (value === 'true' || value === 'false')) return value === 'true'
      if (typeof value !== 'boolean') throw wrong(value, wants, at)
      return value
    },
  }
}

/** Parses the value as the first of the two shapes that fits. */
export function either<A, B>(a: Shape<A>, b: Shape<B>): Shape<A | B> {
  const wants = `${a.wants} or ${b.wants}`
  return {
    wants,
    json: (detail) => ({ anyOf: [a.json(detail), b.json(detail)] }),
    read(value, at) {
      const tried = []
      for (const shape of [a, b]) {
        const faults = faultsAt(shape, value, at)
        if (faults.length === 0) return shape.read(value, at)
        tried.push(faults)
      }
      // A fault inside the value, or a choice that almost matches, shows which of the two was meant.
      const meant = tried.find(([fault]) => fault!.path.length > at.path.length || (fault as { near?: string }).near)
      if (!meant) throw wrong(value, wants, at)
      at.faults?.push(...meant.slice(0, -1))
      throw new Misfit(at.faults ? meant.at(-1)! : meant[0]!)
    },
  }
}

/** The values that `read` recognises; it returns undefined for all others. */
export const recognised = <T>(wants: string, read: (value: unknown) => T | undefined): Shape<T> => ({
  wants,
  json: () => ({ type: 'string' }),
  read(value, at) {
    const got = read(value)
    if (got === undefined) throw wrong(value, wants, at)
    return got
  },
})

/** Any JSON value. */
export const anything = (): Shape<unknown> => ({ wants: 'anything', json: () => ({}), read: (value) => value })

/** Adds a description of its purpose to a shape. */
export const about = <S extends Shape<unknown>>(description: string, shape: S): S => ({
  ...shape,
  json: (detail) => ({ ...shape.json(detail), description }),
})

export const optional = <T>(shape: Shape<T>): Optional<T> => ({ ...shape, optional: true })

const within = (at: Place, key: string | number): Place => ({ ...at, path: [...at.path, key] })

function wrong(value: unknown, wants: string, { path }: Place, choices: readonly string[] = []): Misfit {
  const near = typeof value === 'string' ? nearest(value, choices) : undefined
  return new Misfit({ is: 'wrong', path, found: shown(value), wants, near })
}

function shown(value: unknown): string {
  const json = JSON.stringify(value) ?? String(value)
  return json.length > 60 ? `${json.slice(0, 60)}…` : json
}

/** Some models send an object or a list as JSON text. */
function unpacked(value: unknown, { lenient }: Place): unknown {
  if (!lenient || typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}
