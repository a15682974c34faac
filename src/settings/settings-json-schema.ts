import type { JsonSchema } from '../core/data/shape.ts'
import { usualSettings } from './settings.ts'
import { listForm, mapForm, projectForm } from './settings-schema.ts'

/** The dialect that editors support best. */
const dialect = 'http://json-schema.org/draft-07/schema#'

/**
 * The JSON Schema of settings.json. It accepts exactly what the reader of the settings accepts, with two exceptions: two agents of a
 * list with the same name, and one key for two actions, which no JSON Schema can forbid.
 */
export function settingsSchema(): JsonSchema {
  const form = listForm.json('full')
  const properties = form.properties as Record<string, JsonSchema>
  const { agents: map } = mapForm.json('full').properties as Record<string, JsonSchema>
  const { description, ...list } = properties.agents!
  const { description: _, ...byName } = map!
  const whole = { ...form, properties: { ...properties, agents: { description, anyOf: [list, byName] } } }
  return { $schema: dialect, title: 'Settings of termaite', ...withDefaults(whole, usualSettings) }
}

/** The JSON Schema of a project's .termaite/settings.json. */
export function projectSettingsSchema(): JsonSchema {
  return { $schema: dialect, title: 'Settings of termaite in a project', ...projectForm.json('full') }
}

/** A schema that names the defaults; for an object with fields, each field gets its own default. */
function withDefaults(schema: JsonSchema, value: unknown): JsonSchema {
  if (value === undefined) return schema
  const fields = schema.properties as Record<string, JsonSchema> | undefined
  if (!fields) return { ...schema, default: value }
  const usual = value as Record<string, unknown>
  const properties = Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, withDefaults(field, usual[name])]),
  )
  return { ...schema, properties }
}
