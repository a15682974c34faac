import type { Tool as Remote } from '@modelcontextprotocol/client'
import type { Tool } from '../../core/work/tool.ts'
import type { Server } from './server.ts'
import { nearest } from '../../base/nearest.ts'
import { isMap } from './check.ts'

/** Longer descriptions cost every request of a session. */
const longestDescription = 2_048

export type Input = Record<string, unknown>

/**
 * A server's tool as one of ours. It counts as one that runs something, whatever the server says of it:
 * only a rule of the person lets it go unasked.
 */
export function remoteTool(server: Server, remote: Remote, name: string): Tool {
  const tool: Tool<Input> = {
    name,
    description: describe(server.config.name, remote),
    schema: schemaOf(remote),
    risk: 'run',
    parse: (input) => parseFor(remote, input),
    run: (input, call) => server.call(remote.name, input, call),
  }
  return tool as Tool
}

export function describe(server: string, { name, title, description }: Remote): string {
  const words = description?.trim() || title?.trim() || ''
  const text = words.length >= 10 ? words : `The tool ${name} of the MCP server ${server}. ${words}`.trim()
  return text.length <= longestDescription ? text : `${text.slice(0, longestDescription)} …`
}

/** As every provider takes it: an object with properties, without the dialect's address. */
export function schemaOf({ inputSchema }: Remote): Record<string, unknown> {
  const { $schema: _, ...schema } = inputSchema as Record<string, unknown>
  return { ...schema, type: 'object', properties: isMap(schema.properties) ? schema.properties : {} }
}

/** The rest is the server's to judge: it knows its schema best, and says what it misses. */
export function parseFor(remote: Remote, input: unknown): Input {
  const given = input === undefined || input === null ? {} : parsed(input)
  if (!isMap(given)) throw new Error('the input must be an object.')
  const { required, properties, additionalProperties } = remote.inputSchema as Record<string, unknown>
  const known = isMap(properties) ? Object.keys(properties) : []
  const missing = (Array.isArray(required) ? required : []).find((key) => given[key] === undefined)
  if (missing !== undefined) throw new Error(`${String(missing)} is missing; it takes ${known.join(', ')}.`)
  const stranger = additionalProperties === false ? Object.keys(given).find((key) => !known.includes(key)) : undefined
  if (stranger === undefined) return given
  const meant = nearest(stranger, known)
  throw new Error(
    `there is no ${stranger}${meant ? `; do you mean ${meant}?` : `; it takes ${known.join(', ') || 'nothing'}.`}`,
  )
}

/** Some models send an object as the text of it. */
function parsed(input: unknown): unknown {
  if (typeof input !== 'string') return input
  try {
    return JSON.parse(input)
  } catch {
    return input
  }
}
