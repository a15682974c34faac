import { test } from 'node:test'
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Ajv } from '@modelcontextprotocol/client/validators/ajv'
import fc from '../cases.ts'
import type { JsonSchema } from '../../src/core/data/shape.ts'
import { UsageError } from '../../src/core/io.ts'
import { projectForm } from '../../src/settings/settings-schema.ts'
import { checkFile, problemsIn, readSettingsFile } from '../../src/settings/settings-file.ts'
import { projectSettingsSchema, settingsSchema } from '../../src/settings/settings-json-schema.ts'
import { usualSettings } from '../../src/settings/settings.ts'

/** A validator that nobody of us wrote. A matcher of a hook is any regular expression of JavaScript. */
function validator(schema: JsonSchema): (value: unknown) => boolean {
  const ajv = new Ajv({ strict: false, strictSchema: true })
  ajv.addFormat('regex', (text) => {
    try {
      return new RegExp(text) instanceof RegExp
    } catch {
      return false
    }
  })
  const { $schema: _, ...body } = schema
  return ajv.compile(body) as (value: unknown) => boolean
}

/** Texts that are nearly a name, a rule, an address, a pattern or a choice. */
const texts = fc.oneof(
  fc.constantFrom('', ' ', 'claude', '-a', 'auto', 'user', 'a b', '(', '*', 'HOME', '1A', 'Stop', 'command', 'ask'),
  fc.constantFrom('bash', 'bash()', 'bash( )', 'Bash(ls:*)', 'Bash(ls:* x)', 'bash(ls\\:*x)', 'bash(:*)', 'web(:*x)'),
  fc.constantFrom('web(domain:)', 'web(domain: a)', 'bash(ls', ' ls (a) ', 'ls(a))', 'bash(a:*)b)', 'bash(\n:*\n)'),
  fc.constantFrom('https://ntfy.sh/a', 'http://', 'HTTP://[::1]:80/x', 'ftp://a', 'https://a b', 'http://a:b'),
  fc.string({ maxLength: 4 }),
)
const junk = fc.oneof(
  texts,
  fc.constantFrom<unknown>(null, true, false, 0, 1, 1.5, -1, 2 ** 53, 1e300, [], {}, [1], { a: 1 }),
)

/** Values that mostly hold to a schema; here and there something else stands in their place. */
function near(schema: JsonSchema): fc.Arbitrary<unknown> {
  const good = held(schema)
  return fc.oneof({ weight: 12, arbitrary: good }, { weight: 1, arbitrary: junk })
}

function held(schema: JsonSchema): fc.Arbitrary<unknown> {
  const { type, anyOf, properties, items, additionalProperties: each, propertyNames: keys } = schema
  if ('const' in schema) return fc.constant(schema.const)
  if (Array.isArray(schema.enum)) return fc.constantFrom(...(schema.enum as unknown[]))
  if (properties) return objectNear(schema)
  if (Array.isArray(anyOf)) return fc.oneof(...(anyOf as JsonSchema[]).map(near))
  if (items) return fc.array(near(items as JsonSchema), { maxLength: 2 })
  if (keys) return fc.dictionary(keyNear(keys as JsonSchema), near(each as JsonSchema), { maxKeys: 2 })
  if (type === 'boolean') return fc.boolean()
  if (type === 'integer' || type === 'number') return fc.constantFrom(0, 1, 2.5, 7, 2 ** 53 - 1, 2 ** 53)
  if (type === 'string') return fc.oneof({ weight: 3, arbitrary: fc.constantFrom('bash', 'a') }, texts)
  return junk
}

const keyNear = (schema: JsonSchema) => held(schema).map((key) => (key === '__proto__' ? 'a' : String(key)))

/** An object with some of its fields, those that it needs more often, and now and then a field that it does not have. */
function objectNear({ properties, required = [] }: JsonSchema): fc.Arbitrary<unknown> {
  const needed = required as string[]
  const fields = Object.entries(properties as Record<string, JsonSchema>).map(([name, schema]) =>
    fc
      .tuple(near(schema), fc.integer({ min: 0, max: 15 }))
      .map(([value, chance]): [string, unknown][] =>
        (needed.includes(name) ? chance > 0 : chance < 2) ? [[name, value]] : [],
      ),
  )
  const stray = fc.oneof(
    { weight: 15, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.constant([['stray', 1] as [string, unknown]]) },
  )
  return fc.tuple(...fields, stray).map((parts) => Object.fromEntries(parts.flat()))
}

async function isRead(read: () => Promise<unknown>): Promise<boolean> {
  try {
    await read()
    return true
  } catch (error) {
    if (error instanceof UsageError) return false
    throw error
  }
}

/** Two agents of the same name, and a chat without a key that sends, are refused by the reader alone. */
function readable(value: unknown): unknown {
  const { agents, keys } = (value ?? {}) as { agents?: unknown; keys?: { send?: unknown } }
  if (Array.isArray(keys?.send) && keys.send.length === 0) keys.send = 'f12'
  if (!Array.isArray(agents)) return value
  const names = new Map(agents.map((agent) => [(agent as { name?: unknown } | null)?.name, agent]))
  return { ...(value as object), agents: [...names.values()] }
}

test('property: settings are read exactly when their schema accepts them', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'termaite-schema-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const file = join(folder, 'settings.json')
  const schema = settingsSchema()
  const accepts = validator(schema)
  const seen = { accepted: 0, refused: 0 }
  await fc.assert(
    fc.asyncProperty(near(schema).map(readable), async (value) => {
      writeFileSync(file, JSON.stringify(value))
      const accepted = accepts(JSON.parse(readFileSync(file, 'utf8')))
      seen[accepted ? 'accepted' : 'refused']++
      assert.equal(await isRead(() => readSettingsFile(file)), accepted)
    }),
    { numRuns: process.env.FULL === '1' ? 20_000 : 500 },
  )
  assert.ok(seen.accepted > 50 && seen.refused > 50, JSON.stringify(seen))
})

test('property: a project’s settings are read exactly when their schema accepts them', async () => {
  const schema = projectSettingsSchema()
  const accepts = validator(schema)
  await fc.assert(
    fc.asyncProperty(near(schema), async (value) => {
      const text = JSON.stringify(value)
      const read = () => checkFile('settings.json', text, (found) => problemsIn(projectForm, found))
      assert.equal(await isRead(read), accepts(JSON.parse(text)))
    }),
    { numRuns: process.env.FULL === '1' ? 20_000 : 500 },
  )
})

test('the schema accepts the defaults, and knows the meaning of every key', () => {
  const schema = settingsSchema()
  assert.equal(validator(schema)(usualSettings), true)
  for (const one of [schema, projectSettingsSchema()]) assert.deepEqual(keysWithoutMeaning(one, ''), [])
})

/** The paths of the fields that have no description; one that has a single value needs none. */
function keysWithoutMeaning(schema: JsonSchema, at: string): string[] {
  const { properties, items, additionalProperties: each, anyOf } = schema
  const inside = [items, each].filter((one) => typeof one === 'object') as JsonSchema[]
  const nested = inside.flatMap((one) => keysWithoutMeaning(one, `${at}[]`))
  if (!properties) return [...nested, ...((anyOf ?? []) as JsonSchema[]).flatMap((one) => keysWithoutMeaning(one, at))]
  return Object.entries(properties as Record<string, JsonSchema>).flatMap(([name, field]) => [
    ...(field.description === undefined && field.const === undefined ? [`${at}.${name}`] : []),
    ...keysWithoutMeaning(field, `${at}.${name}`),
  ])
}
