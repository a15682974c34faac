import type { Tool } from '../core/work/tool.ts'
import type { ToolParts } from './parts.ts'
import { made } from './made.ts'
import { parser, string } from '../core/work/shape.ts'

const input = parser({ language: string({ min: 1 }), code: string({ min: 1 }) })

export function sandbox(sandboxed: NonNullable<ToolParts['sandboxed']>): Tool {
  return made('sandbox', 'run', input, ({ language, code }, call) => sandboxed(language, code, call))
}
