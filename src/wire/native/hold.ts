import type { Policy } from '../../core/work/policy.ts'
import type { Mode } from '../../safety/rules/modes.ts'
import type { Permissions } from '../settings/settings.ts'
import type { NativeParts } from './parts.ts'
import { policy } from '../../safety/rules/policy.ts'
import { parseRules } from '../../safety/rules/rule.ts'
import { pathsOf } from '../../tools/paths.ts'

/** What our own agent is held by: the rules of the settings, and what was said "always" to in this project. */
export async function heldBy(
  permissions: Permissions,
  readable: readonly string[],
  parts: NativeParts,
): Promise<Policy> {
  const { root, env, home, project } = parts
  const kept = (await project.read()).rules ?? []
  const { rules } = parseRules({ ...permissions, allow: [...permissions.allow, ...kept] })
  return policy({
    root,
    home: env.HOME ?? home,
    mode: (): Mode => permissions.mode,
    rules: () => rules,
    pathsOf,
    readable,
    remember: async (rule) =>
      void (await project.update((doc) => ({ ...doc, rules: [...new Set([...(doc.rules ?? []), rule])] }))),
  })
}
