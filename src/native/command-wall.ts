import type { Leash } from '../core/work/agent.ts'
import type { Tool } from '../core/work/tool.ts'
import type { CommandPlace, NoWall, WallFacts } from '../safety/rules/command-place.ts'
import type { TurnScratch, Wall } from '../safety/wall/wall.ts'
import type { wallEnvironment } from '../safety/wall/wall-environment.ts'
import type { NativeParts, NativeSeat, WithState } from './native-parts.ts'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defined } from '../base/defined.ts'
import { withoutProject } from '../base/process/program-path.ts'
import { cliPlaces } from '../profiles/all.ts'
import { temporary } from '../safety/wall/hidden-places.ts'
import { wallOf } from '../safety/wall/wall.ts'
import { isRuleFor } from '../safety/rules/permission-rule.ts'
import { rulesOf } from '../settings/permission-settings.ts'

/** The place for code that examines the machine: never behind a wall, because there it would examine the sandbox. */
export function outsidePlace({ network }: WallFacts): CommandPlace {
  if (network === 'closed')
    throw new Error(
      'the settings close the network, and only the sandbox keeps it closed, so the machine cannot be seen.',
    )
  return { outside: 'it looks at the machine itself' }
}

/** Whether commands of a leash should run behind a wall. `all` has no wall, unless the settings close the network. */
export const isWalled = ({ settings: { sandbox } }: Pick<NativeSeat, 'settings'>, leash: Leash): boolean =>
  sandbox.enabled && (leash !== 'all' || sandbox.network === 'none')

/** The facts about the wall around a seat's commands; undefined if the commands have none. */
export async function wallFacts(
  seat: Pick<NativeSeat, 'settings' | 'leash'>,
  tools: readonly Tool[],
  parts: NativeParts,
): Promise<WallFacts | undefined> {
  if (!isWalled(seat, seat.leash) || (await sandboxOf(parts).none()) !== undefined) return undefined
  // On macOS all programs share the temporary folder.
  return defined({
    network: networkOf(seat.settings, tools),
    temporary: process.platform === 'linux' ? temporary : undefined,
  })
}

/** The wall around a seat's commands, or the reason why they have none; undefined if the leash needs no wall. */
export async function wallAround(
  seat: Pick<NativeSeat, 'settings' | 'leash'>,
  tools: readonly Tool[],
  parts: NativeParts,
): Promise<WallFacts | NoWall | undefined> {
  const { enabled } = seat.settings.sandbox
  if (!enabled && seat.leash !== 'all') return { none: 'the settings switch it off' }
  if (!isWalled(seat, seat.leash)) return undefined
  const none = await sandboxOf(parts).none()
  return none === undefined ? wallFacts(seat, tools, parts) : { none }
}

function networkOf({ sandbox, permissions }: NativeSeat['settings'], tools: readonly Tool[]): WallFacts['network'] {
  if (sandbox.network === 'all') return 'open'
  if (sandbox.network === 'none') return 'closed'
  const { allow, spared } = rulesOf(permissions)
  const online = tools.filter(({ coversShell }) => coversShell === 'network')
  const isOpen = [...allow, ...spared].some(
    (rule) => rule.spec === undefined && online.some((tool) => isRuleFor(rule, tool)),
  )
  return isOpen ? 'open' : 'asked'
}

/** The names of the environment variables behind the wall. */
export function walledNames(
  { settings }: NativeSeat,
  scratch: TurnScratch | undefined,
  caches: string | undefined,
): Parameters<typeof wallEnvironment>[1] {
  const own = process.platform === 'linux' ? temporary : (scratch?.folder ?? tmpdir())
  return { extra: settings.sandbox.env ?? [], temporary: own, caches: caches ?? join(own, 'caches') }
}

export const sandboxOf = ({ state, env, root }: Pick<NativeParts, 'env' | 'root'> & WithState<'tools'>): Wall =>
  (state.tools.sandbox ??= wallOf({
    platform: process.platform,
    env: withoutProject(env, root),
    logins: cliPlaces({ home: env.HOME ?? '', cwd: root, env }),
  }))
