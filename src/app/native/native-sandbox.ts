import type { Tool } from '../../core/work/tool.ts'
import type { Sandbox } from '../../safety/sandbox.ts'
import type { ShellClass } from '../../safety/shell/shell-judgement.ts'
import type { NativeParts, NativeSeat } from './native-parts.ts'
import { withGitConfig, noMonitor } from '../../base/git.ts'
import { sandbox } from '../../safety/sandbox.ts'
import { isRuleFor } from '../../safety/rules/permission-rule.ts'
import { rulesOf } from '../../settings/permissions.ts'
import { modeOf } from './native-permissions.ts'

type Argv = readonly [string, ...string[]]

export type SandboxedShell = {
  env: NativeParts['env']
  shell(command: string): Promise<Argv>
  /** A tool whose output says that there was no network, where that is why it failed. */
  told(tool: Tool): Tool
}

/** What a shell command of an agent is run by: walls where the system has them, else the policy alone holds it. */
export function sandboxedShell(name: string, parts: NativeParts, tools: () => readonly Tool[]): SandboxedShell {
  const { root, env, home, state } = parts
  const offline = new Set<string>()
  return {
    // To look at a project runs nothing that its repository names, and writes nothing.
    env: { ...withGitConfig(env, [noMonitor]), GIT_OPTIONAL_LOCKS: '0' },
    async shell(command) {
      const plain: Argv = ['bash', '-c', command]
      const seat = state.seats.get(name)
      if (!seat?.settings.sandbox.enabled) return plain
      const network = await reachesOut(command, seat, tools(), parts)
      const inside = await sandboxOf(parts).wrap(plain, { root, network, home: env.HOME ?? home })
      if (!('none' in inside)) {
        if (!network) offline.add(command)
        return inside
      }
      await tellOnce(inside.none, parts)
      return plain
    },
    told: (tool) => withReason(tool, offline),
  }
}

/** How commands are held in, in words. */
export async function sandboxWords({ sandbox: wanted }: NativeSeat['settings'], walls: Sandbox): Promise<string> {
  const { enabled, network } = wanted
  const none = enabled ? await walls.none() : 'the settings switch it off'
  if (none !== undefined) return `Commands run without a sandbox: ${none}. The rules alone hold them.`
  return `Commands run in a sandbox: the project is writable, the rest only readable, and the network ${reach[network]}.`
}

const reach = { rule: 'is there where a rule or a yes allows it', all: 'is open', none: 'is closed' }

export const sandboxOf = ({ state, env }: NativeParts) =>
  (state.sandbox ??= sandbox({ platform: process.platform, env }))

/** What needs no yes in the usual mode is no reason for a network; everything else had one, or a rule that says so. */
const tame: ReadonlySet<ShellClass> = new Set(['reads', 'edits', 'runs', 'removes', 'outside', 'secrets'])

async function reachesOut(
  command: string,
  seat: NativeSeat,
  tools: readonly Tool[],
  { root, cwd, env, home }: NativeParts,
): Promise<boolean> {
  const { sandbox, permissions } = seat.settings
  if (sandbox.network !== 'rule') return sandbox.network === 'all'
  if (modeOf(seat) === 'bypass') return true
  const { allow, spared } = rulesOf(permissions)
  const online = tools.filter(({ coversShell }) => coversShell === 'network')
  if ([...allow, ...spared].some((rule) => rule.spec === undefined && online.some((tool) => isRuleFor(rule, tool))))
    return true
  const { judge } = await import('../../safety/shell/shell-judge.ts')
  const { parts } = await judge(command, { cwd, root, home: env.HOME ?? home })
  return parts.some((part) => !tame.has(part.class))
}

/** What programs say that find no network. */
const unreached =
  /could not resolve|couldn't resolve|name or service not known|temporary failure in name resolution|network is unreachable|getaddrinfo|EAI_AGAIN|ENETUNREACH|ENOTFOUND|no address associated|failed to lookup address|dial tcp: lookup/i

const offlineWords =
  '[It ran without a network: no rule allows it one. If it needs one, say so: the person can allow it with the rule WebFetch, or with "sandbox": {"network": "all"} in the settings.]'

function withReason(tool: Tool, offline: ReadonlySet<string>): Tool {
  return {
    ...tool,
    async run(input, call) {
      const output = await tool.run(input, call)
      const text = typeof output === 'string' ? output : output.text
      const effect = tool.effect?.(input, call.cwd)
      if (effect?.does !== 'command' || !offline.has(effect.command) || !unreached.test(text)) return output
      const told = `${text}\n${offlineWords}`
      return typeof output === 'string' ? told : { ...output, text: told }
    },
  }
}

async function tellOnce(none: string, { project, state }: NativeParts): Promise<void> {
  const was = (await project.read()).sandboxOff
  if (was === none) return
  state.notes.push(`Commands run without a sandbox: ${none}. The rules alone hold them.`)
  await project.update((doc) => ({ ...doc, sandboxOff: none }))
}
