import type { Tool } from '../../core/work/tool.ts'
import type { ToolParts } from './shared/tool-parts.ts'
import { messageOf } from '../../base/error-message.ts'
import { defineTool } from './shared/tool-definition.ts'
import { optional, parser, string } from '../../core/data/shape.ts'

const input = parser({ task: string({ min: 1 }), type: optional(string({})) })

/** Starting a subagent needs no permission, because each of its own calls is judged. If the prompt lists subagents, it names the tool. */
export function subagent(consult: NonNullable<ToolParts['consult']>, isNamed = () => false): Tool {
  return defineTool({
    name: 'subagent',
    risk: 'read',
    onDemand: () => !isNamed(),
    input,
    aliases: { rules: ['Task'], hooks: ['Task'] },
    delegates: true,
    leadOnly: true,
    worksAlone: true,
    effect: () => ({ does: 'nothing' }),
    async run(request, call) {
      try {
        return await consult(request, call)
      } catch (error) {
        return `Subagent execution failed: ${messageOf(error)}`
      }
    },
  })
}
