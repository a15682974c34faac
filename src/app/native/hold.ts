import type { Policy } from '../../core/work/policy.ts'
import type { Mode } from '../../safety/rules/modes.ts'
import type { NativeParts, NativeSeat } from './parts.ts'
import { policy } from '../../safety/rules/policy.ts'
import { rulesOf } from '../../settings/permissions.ts'
import { calledToolName, reachName } from '../../tools/mcp/mcp-tools.ts'
import { pathsOf } from '../../tools/paths.ts'
import { audited } from './audited.ts'
import { hooked } from './hooked.ts'

/** What our own agent is held by: the rules of the settings, and what was said "always" to in this project. */
export async function heldBy(seat: NativeSeat, readable: readonly string[], parts: NativeParts): Promise<Policy> {
  const { root, env, home, project } = parts
  const { permissions } = seat.settings
  const kept = (await project.read()).rules ?? []
  const rules = rulesOf(permissions, kept)
  const held = policy({
    root,
    home: env.HOME ?? home,
    mode: () => modeOf(seat),
    rules: () => rules,
    pathsOf,
    // A rule about a server's tool holds whichever way it is called.
    nameOf: (tool, input) => (tool === reachName ? calledToolName(input) : undefined),
    readable,
    remember: async (rule) =>
      void (await project.update((doc) => ({ ...doc, rules: [...new Set([...(doc.rules ?? []), rule])] }))),
  })
  return audited(hooked(held, seat, parts), seat.agent.name, parts)
}

/** Whoever gives the whole leash means it; a mode that was chosen to be stricter stays so. */
export function modeOf({ leash, settings }: NativeSeat): Mode {
  const { mode } = settings.permissions
  return leash === 'all' && (mode === 'default' || mode === 'acceptEdits') ? 'bypass' : mode
}
