import type { Tool, ToolOutput } from '../../core/work/tool.ts'
import type { NativeParts } from './parts.ts'

/** A tool whose words hold no secret, whatever it gives: they are kept, shown, and told to a provider. */
export function maskedTool(tool: Tool, { mask }: Pick<NativeParts, 'mask'>): Tool {
  const { name, description, schema, risk, alone } = tool
  return {
    ...{ name, description, schema, risk, ...(alone === undefined ? {} : { alone }) },
    parse: (input) => tool.parse(input),
    async run(input, call) {
      try {
        return masked(await tool.run(input, { ...call, progress: (delta) => call.progress(mask(delta)) }), mask)
      } catch (error) {
        throw error instanceof Error ? new Error(mask(error.message), { cause: error }) : error
      }
    },
  }
}

function masked(output: ToolOutput, mask: (text: string) => string): ToolOutput {
  if (typeof output === 'string') return mask(output)
  const { text, data, ...rest } = output
  return { ...rest, text: mask(text), ...(data === undefined ? {} : { data: within(data, mask) }) }
}

/** Every text in it. */
function within(data: unknown, mask: (text: string) => string): unknown {
  if (typeof data === 'string') return mask(data)
  if (Array.isArray(data)) return data.map((one) => within(one, mask))
  if (typeof data !== 'object' || data === null) return data
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, within(value, mask)]))
}
