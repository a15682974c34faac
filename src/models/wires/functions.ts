import type { Frame } from '../../core/work/model.ts'

/** The tools as OpenAI's chat format has them, and whoever follows it; none is no field at all. */
export function functionsOf({ tools }: Frame): { tools?: object[] } {
  if (tools.length === 0) return {}
  return {
    tools: tools.map(({ name, description, schema }) => ({
      type: 'function',
      function: { name, description, parameters: schema },
    })),
  }
}
