import type { Tool } from '../../core/work/tool.ts'
import type { ToolParts } from './shared/tool-parts.ts'
import { defineTool } from './shared/tool-definition.ts'
import { parser, string } from '../../core/data/shape.ts'

const input = parser({ language: string({ min: 1 }), code: string({ min: 1 }) })

export function sandbox(sandboxed: NonNullable<ToolParts['sandboxed']>): Tool {
  return defineTool({
    name: 'sandbox',
    risk: 'run',
    onDemand: 'always',
    input,
    effect: () => ({ does: 'isolated' }),
    run: ({ language, code }, call) => sandboxed(language, code, call),
  })
}
