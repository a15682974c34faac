import type { Tool } from '../core/work/tool.ts'
import { relative } from 'node:path'
import { isInScope } from '../core/data/path-scope.ts'
import type { Policy } from '../core/work/policy.ts'
import type { Mode } from '../safety/rules/permission-modes.ts'
import type { NativeParts, NativeSeat } from './native-parts.ts'
import type { CallLimit } from '../safety/rules/permission-policy.ts'
import { policy } from '../safety/rules/permission-policy.ts'
import { rulesOf } from '../settings/permission-settings.ts'
import { withHooks } from './native-hooks.ts'
import { wallAround } from './command-wall.ts'
import { withAudit } from './native-audit.ts'

/** Makes the policy of our own agent: the rules from the settings, and those to which the person answered "always" in this project. */
export async function policyFor(
  seat: NativeSeat,
  tools: readonly Tool[],
  readable: readonly string[],
  parts: NativeParts,
  limits?: readonly CallLimit[],
): Promise<Policy> {
  const { root, env, home, project } = parts
  const { permissions } = seat.settings
  const held = policy({
    root,
    home: env.HOME ?? home,
    path: env.PATH,
    mode: () => modeOf(seat),
    // The rules are read for each call, so that a permission that a person gives or withdraws meanwhile, here or in another window,
    // counts at once.
    rules: async () => rulesOf(permissions, await project.read()),
    tools,
    added: () => parts.folders.now,
    readable,
    limits,
    judged(input, call, place) {
      if (typeof input === 'object' && input !== null) parts.state.tools.judged.set(input, { ...call, place })
    },
    wall: (leash) => wallAround({ ...seat, leash }, tools, parts),
    untold() {
      const isFirst = parts.state.notes.unwalled === undefined
      parts.state.notes.unwalled = true
      return isFirst
    },
    async remember(rule, outside) {
      const kept = outside ? 'outside' : 'rules'
      await project.update((doc) => ({ ...doc, [kept]: [...new Set([...(doc[kept] ?? []), rule])] }))
    },
  })
  const scope = seat.limits?.scope
  return withAudit(withHooks(scope ? limitToScope(held, scope, root) : held, seat, parts), seat.agent.name, parts)
}

/** Refuses a worker's writes outside its scope. The sandbox limits the writes of commands. */
function limitToScope(held: Policy, scope: readonly string[], root: string): Policy {
  return async (tool, input, turn) => {
    const decision = await held(tool, input, turn)
    const effect = tool.effect?.(input, turn.cwd)
    if (decision.verdict === 'no' || effect?.does !== 'access') return decision
    const realOf = (path: string) => decision.places?.find((place) => place.path === path)?.real ?? path
    const stray = effect.paths.find(
      ({ access, path }) => access === 'write' && !isInScope(relative(root, realOf(path)), scope),
    )
    if (!stray) return decision
    const why = `${relative(root, stray.path)} is not in the scope of this worker, which is ${scope.join(', ')}`
    return { verdict: 'no', why }
  }
}

/** The permission mode: the leash `all` lifts the two usual modes, and a stricter mode stays as it is. */
export function modeOf({ leash, settings }: NativeSeat): Mode {
  const { mode } = settings.permissions
  return leash === 'all' && (mode === 'default' || mode === 'acceptEdits') ? 'bypass' : mode
}
