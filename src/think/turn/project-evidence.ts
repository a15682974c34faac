import type { Event } from '../../core/talk/entry.ts'
import type { Turn } from '../../core/work/agent.ts'
import type { ProjectTree } from '../../hub/model/tasks/project-copy.ts'
import type { CheckSeen } from '../../crew/workers/measured-envelope.ts'
import type { App } from '../../turn/app.ts'
import { drain } from '../../base/relay.ts'
import { checkCommand } from '../goal-check.ts'
import { projectChecks } from '../project-checks.ts'
import { machineOf } from '../../native/machine-facts.ts'
import { frameworkTools } from './framework-tools.ts'

/** The commands that build and test the project, as the frameworks find them, and the programs that other such commands would need. */
export async function foundChecks(app: App): Promise<{ commands: string[]; missing: readonly string[] }> {
  const { spec } = await machineOf(app.native).known()
  const { checks, missing } = await projectChecks({ tools: frameworkTools(app), machine: { spec, description: '' } })
  return { commands: checks.flatMap((check) => (check.kind === 'command' ? [check.command] : [])), missing }
}

/** Builds and tests the project itself, under the rules of the turn; empty if it has no command for that. */
export async function projectEvidence(app: App, turn: Turn, see: (event: Event) => void): Promise<CheckSeen[]> {
  const tools = frameworkTools(app)
  const { commands, missing } = await foundChecks(app)
  const seen = missing.map((program): CheckSeen => {
    return { command: program, passed: false, refused: true, evidence: `${program} is not installed` }
  })
  for (const command of commands) {
    const result = await drain(checkCommand({ command }, { tools }, turn), async (event) => see(event))
    const { passed, evidence, undecided } = result
    seen.push({ command, passed, evidence, ...(undecided ? { refused: true as const } : {}) })
    // The build comes first: if it fails, the tests would only fail for the same reason.
    if (!passed) break
  }
  return seen
}

/** The files of the project itself, read through its snapshots. */
export function projectTree({ snapshots }: Pick<App, 'snapshots'>): ProjectTree {
  return {
    async mark() {
      const taken = await snapshots.take()
      return 'tree' in taken ? taken.tree : undefined
    },
    changed: (mark) => snapshots.changed(mark),
  }
}
