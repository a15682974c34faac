import type { Tool } from '../../core/work/tool.ts'
import type { BackgroundCommands } from './shell/background-commands.ts'
import { defineTool } from './shared/tool-definition.ts'
import { boolean, integer, optional, parser } from '../../core/data/shape.ts'

const input = parser({ job: optional(integer(1)), end: optional(boolean()) })

export function jobs(background: BackgroundCommands): Tool {
  return defineTool({
    name: 'jobs',
    risk: 'run',
    onDemand: 'always',
    input,
    // Stopping the agent's own background command changes nothing else.
    effect: () => ({ does: 'nothing' }),
    async run({ job, end }) {
      if (job === undefined) {
        if (end) throw new Error('end needs the number of the job.')
        return background.any ? background.list() : 'No command was started in the background.'
      }
      return end ? background.end(job) : background.look(job)
    },
  })
}
