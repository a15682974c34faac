import type { Event } from '../../core/talk/entry.ts'
import type { Turn } from '../../core/work/agent.ts'
import type { ProjectTree } from '../../core/work/project-copy.ts'
import type { CheckSeen } from '../../crew/workers/measured-envelope.ts'
import type { App } from '../app.ts'
import { drain } from '../../base/relay.ts'
import { checkCommand } from '../../mind/think/goal-check.ts'
import { projectChecks } from '../../mind/think/project-checks.ts'
import { machineOf } from '../native/machine-facts.ts'
import { frameworkTools } from '../thinking/framework-tools.ts'

/** The commands that build and test the project, as thinking finds them. */
export async function foundChecks(app: App): Promise<string[]> {
  const { spec } = await machineOf(app.native).known()
  const { checks } = await projectChecks({ tools: frameworkTools(app), machine: { spec, description: '' } })
  return checks.flatMap((check) => (check.kind === 'command' ? [check.command] : []))
}

/** Builds and tests the project itself, under the rules of the turn; empty where it has no command that can run here. */
export async function projectEvidence(app: App, turn: Turn, see: (event: Event) => void): Promise<CheckSeen[]> {
  const tools = frameworkTools(app)
  const seen: CheckSeen[] = []
  for (const command of await foundChecks(app)) {
    const result = await drain(checkCommand({ command }, { tools }, turn), async (event) => see(event))
    seen.push({ command, ...result })
    // The build comes first: after it fails, the tests would only fail for the same reason.
    if (!result.passed) break
  }
  return seen
}

/** The files of the project itself, by its snapshots. */
export function projectTree({ snapshots }: Pick<App, 'snapshots'>): ProjectTree {
  return {
    async mark() {
      const taken = await snapshots.take()
      return 'tree' in taken ? taken.tree : undefined
    },
    changed: (mark) => snapshots.changed(mark),
  }
}
