import type { Event } from '../../core/talk/entry.ts'
import type { Turn } from '../../core/work/agent.ts'
import type { CheckSeen } from '../../crew/workers/measured-envelope.ts'
import type { App } from '../app.ts'
import { drain } from '../../base/relay.ts'
import { machineSummary } from '../../machine/machine-summary.ts'
import { checkCommand, checkName } from '../../mind/think/goal-check.ts'
import { projectChecks } from '../../mind/think/project-checks.ts'
import { machineOf } from '../native/machine-facts.ts'
import { frameworkTools } from '../thinking/framework-tools.ts'

/** Runs the commands that build and test the project, under the rules of the turn; empty where the project has none that can run here. */
export async function projectEvidence(app: App, turn: Turn, see: (event: Event) => void): Promise<CheckSeen[]> {
  const tools = frameworkTools(app)
  const { spec } = await machineOf(app.native).known.known()
  const machine = { spec, description: machineSummary(spec), programs: async () => [] }
  const { checks } = await projectChecks({ tools, machine })
  const seen: CheckSeen[] = []
  for (const check of checks) {
    if (check.kind !== 'command') continue
    const result = await drain(checkCommand(check, { tools }, turn), async (event) => see(event))
    seen.push({ command: checkName(check), ...result })
    // A test of what cannot be built says nothing more.
    if (!result.passed) break
  }
  return seen
}
