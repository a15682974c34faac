import type { Clock } from '../base/clock.ts'
import type { Tool } from '../core/work/tool.ts'
import type { Hub } from './hub.ts'
import { askingTools } from './tools/asking.ts'
import { workingTools } from './tools/working.ts'

/** The hub as a model meets it; `by` is whoever calls. */
export function hubTools(hub: Hub, clock: Clock, by: string): Tool[] {
  return [...workingTools(hub, clock), ...askingTools(hub, clock, by)].map((tool) => {
    if (tool.risk !== 'read') return tool
    const run: Tool['run'] = async (input, call) => {
      await hub.kept()
      return tool.run(input, call)
    }
    return { ...tool, run }
  })
}
