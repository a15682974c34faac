import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

type Schema = Record<string, any>

const schemaFile = createRequire(import.meta.url).resolve('@agentclientprotocol/sdk/schema/v1/schema.json')
const { $defs } = JSON.parse(readFileSync(schemaFile, 'utf8')) as { $defs: Record<string, Schema> }

const typeOf = (value: unknown) => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value)
const fitsType = (type: string, value: unknown) =>
  type === 'integer' ? Number.isInteger(value) : type === typeOf(value)

/** The parts of a value that the schema does not allow: as much of JSON Schema as ACP's own schema uses. */
function faults(schema: Schema, value: unknown, path: string): string[] {
  if (schema.$ref) return faults($defs[schema.$ref.replace('#/$defs/', '')]!, value, path)
  const found: string[] = []
  const types: string[] = schema.type === undefined ? [] : [schema.type].flat()
  if (types.length > 0 && !types.some((type) => fitsType(type, value)))
    found.push(`${path} is no ${types.join(' or ')}`)
  if ('const' in schema && value !== schema.const) found.push(`${path} is not ${schema.const}`)
  if (schema.enum && !schema.enum.includes(value)) found.push(`${path} is none of ${schema.enum}`)
  if (typeof value === 'number' && value < (schema.minimum ?? -Infinity)) found.push(`${path} is too small`)
  for (const part of schema.allOf ?? []) found.push(...faults(part, value, path))
  for (const choices of [schema.anyOf, schema.oneOf])
    if (choices && !choices.some((choice: Schema) => faults(choice, value, path).length === 0))
      found.push(`${path} is none of its ${choices.length} forms`)
  if (schema.not && faults(schema.not, value, path).length === 0) found.push(`${path} is what it must not be`)
  if (typeOf(value) === 'array' && schema.items)
    for (const [at, item] of (value as unknown[]).entries()) found.push(...faults(schema.items, item, `${path}[${at}]`))
  if (typeOf(value) === 'object') {
    const object = value as Record<string, unknown>
    for (const key of schema.required ?? []) if (object[key] === undefined) found.push(`${path}.${key} is missing`)
    for (const [key, part] of Object.entries(schema.properties ?? {}))
      if (object[key] !== undefined) found.push(...faults(part as Schema, object[key], `${path}.${key}`))
    if (typeof schema.additionalProperties === 'object')
      for (const [key, item] of Object.entries(object))
        if (!schema.properties?.[key]) found.push(...faults(schema.additionalProperties, item, `${path}.${key}`))
  }
  return found
}

function shapeOf(method: string, side: 'Request' | 'Notification' | 'Response'): Schema | undefined {
  return Object.entries($defs).find(([name, def]) => def['x-method'] === method && name.endsWith(side))?.[1]
}

/** Checks every message we sent against the protocol's own schema; `theirs` says what our answers answer. */
export function frameFaults(ours: readonly any[], theirs: readonly any[]): string[] {
  const asked = new Map(
    theirs.filter(({ method, id }) => method && id !== undefined).map((one) => [one.id, one.method]),
  )
  return ours.flatMap((frame) => {
    if (frame.jsonrpc !== '2.0') return [`no JSON-RPC: ${JSON.stringify(frame)}`]
    if (frame.error) return faults($defs.Error!, frame.error, 'error')
    const method = frame.method ?? asked.get(frame.id)
    const side = frame.method === undefined ? 'Response' : frame.id === undefined ? 'Notification' : 'Request'
    const schema = shapeOf(method, side)
    // The protocol leaves methods that begin with an underscore to everybody.
    if (!schema && String(method).startsWith('_')) return []
    // A request of an agent beyond the protocol may be answered in any way.
    if (!schema && side === 'Response') return []
    if (!schema) return [`${method} is no ${side} of ACP`]
    return faults(schema, side === 'Response' ? frame.result : frame.params, `${method} ${side}`)
  })
}
