import type { JsonSchema } from '../../src/core/data/shape.ts'
import { projectSettingsSchema, settingsSchema } from '../../src/settings/settings-json-schema.ts'
import { code, page, plain, table } from './page.ts'

export function settingsReference(): string {
  return page(
    'Settings',
    'The settings are in `~/.termaite/settings.json` (`termaite config path`), as JSON with comments and trailing commas. `termaite setup` writes them, `termaite config edit` opens them, `termaite config validate` checks them. A `config.yaml` beside it means the same. A flag wins over an environment variable, which wins over the settings; a trusted project can only tighten them.',
    'Editors complete and check them by the JSON Schema that `"$schema"` names; it ships as `settings.schema.json` in this folder, and `project-settings.schema.json` is the one for projects.',
    '## Settings of a person',
    table(['key', 'type', 'default', 'meaning'], rowsOf(settingsSchema())),
    '## Settings of a project',
    'They are in `.termaite/settings.json` of the project, and count once its folder is trusted (`termaite trust`). They can only tighten the limits on agents, and name programs that start.',
    table(['key', 'type', 'default', 'meaning'], rowsOf(projectSettingsSchema())),
  )
}

/** A row for each key, those inside of others too; the keys of agents are the same in a list and in a map. */
function rowsOf(schema: JsonSchema, at = ''): string[][] {
  const seen = new Set<string>()
  return fieldsIn(schema, at).filter(([key]) => !seen.has(key!) && seen.add(key!))
}

function fieldsIn(schema: JsonSchema, at: string): string[][] {
  const { properties, items, additionalProperties: each, anyOf } = schema
  if (properties) {
    const required = (schema.required ?? []) as string[]
    return Object.entries(properties as Record<string, JsonSchema>).flatMap(([name, field]) => [
      [
        code(`${at}${name}`),
        typeWords(field),
        'default' in field ? code(JSON.stringify(field.default)) : required.includes(name) ? 'required' : '',
        plain(String(field.description ?? '')),
      ],
      ...fieldsIn(field, `${at}${name}.`),
    ])
  }
  if (Array.isArray(anyOf)) return (anyOf as JsonSchema[]).flatMap((one) => fieldsIn(one, at))
  if (items) return fieldsIn(items as JsonSchema, at.replace(/\.$/, '[].'))
  // A map of agents has the fields of the list; its keys are their names.
  const inside = typeof each === 'object' ? (each as JsonSchema) : undefined
  return inside ? fieldsIn(inside, at === 'agents.' ? 'agents[].' : `${at}<name>.`) : []
}

/** A schema in a few words. */
export function typeWords(schema: JsonSchema): string {
  const { type, anyOf, items, additionalProperties: each } = schema
  if ('const' in schema) return code(JSON.stringify(schema.const))
  if (Array.isArray(schema.enum)) return (schema.enum as unknown[]).map((one) => code(JSON.stringify(one))).join(', ')
  if (Array.isArray(anyOf) && type === undefined)
    return [...new Set((anyOf as JsonSchema[]).map(typeWords))].join(' or ')
  if (type === 'array') return items ? `list of ${typeWords(items as JsonSchema)}` : 'list'
  if (type === 'object') return typeof each === 'object' ? `map to ${typeWords(each as JsonSchema)}` : 'object'
  if (type === 'integer' || type === 'number') return numberWords(schema)
  return type === undefined ? 'anything' : String(type)
}

function numberWords({ type, minimum, maximum, exclusiveMinimum }: JsonSchema): string {
  const kind = type === 'integer' ? 'whole number' : 'number'
  if (exclusiveMinimum !== undefined) return `${kind} above ${exclusiveMinimum}`
  if (minimum === undefined) return kind
  const isBounded = maximum !== undefined && maximum !== Number.MAX_SAFE_INTEGER
  return isBounded ? `${kind} from ${minimum} to ${maximum}` : `${kind} of ${minimum} or more`
}
