import type { Tool } from '../../core/work/tool.ts'
import type { Wall } from '../../safety/wall/wall.ts'
import type { ShellClass } from '../../safety/shell/shell-judgement.ts'
import type { NativeParts, NativeSeat } from './native-parts.ts'
import { withGitConfig, noMonitor } from '../../base/git.ts'
import { wallOf } from '../../safety/wall/wall.ts'
import { isRuleFor } from '../../safety/rules/permission-rule.ts'
import { rulesOf } from '../../settings/permissions.ts'
import { modeOf } from './native-permissions.ts'

type Argv = readonly [string, ...string[]]

export type SandboxedShell = {
  env: NativeParts['env']
  shell(command: string): Promise<Argv>
  /** Makes the bash tool say that there was no network, where that is why a command failed. */
  explain(tool: Tool): Tool
}

/** How an agent's shell commands are run: in a sandbox where the system has one, else held by the policy alone. */
export function sandboxedShell(name: string, parts: NativeParts, tools: () => readonly Tool[]): SandboxedShell {
  const { root, env, home, state } = parts
  const offline = new Set<string>()
  return {
    // Looking at a repository must run no program that it names, and write nothing into it.
    env: { ...withGitConfig(env, [noMonitor]), GIT_OPTIONAL_LOCKS: '0' },
    async shell(command) {
      const plain: Argv = ['bash', '-c', command]
      const seat = state.seats.get(name)
      if (!seat?.settings.sandbox.enabled) return plain
      const network = await reachesOut(command, seat, tools(), parts)
      const limits = { root, project: 'write', git: 'write', sockets: true, network, home: env.HOME ?? home } as const
      const inside = await sandboxOf(parts).wrap(plain, limits)
      if (!('none' in inside)) {
        if (!network) offline.add(command)
        return inside.argv
      }
      await tellOnce(inside.none, parts)
      return plain
    },
    explain: (tool) => withReason(tool, offline),
  }
}

/** Says in one sentence whether and how commands are sandboxed. */
export async function sandboxWords({ sandbox: wanted }: NativeSeat['settings'], wall: Wall): Promise<string> {
  const { enabled, network } = wanted
  const none = enabled ? await wall.none() : 'the settings switch it off'
  if (none !== undefined) return `Commands run without a sandbox: ${none}. The rules alone hold them.`
  return `Commands run in a sandbox: the project is writable, the rest only readable, and the network ${reach[network]}.`
}

const reach = { rule: 'is open where a rule or your yes allows it', all: 'is open', none: 'is closed' }

export const sandboxOf = ({ state, env }: NativeParts) =>
  (state.sandbox ??= wallOf({ platform: process.platform, env }))

/** Commands that run without a question get no network; every other command was allowed by a yes or by a rule. */
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

/** Messages of programs that find no network. */
const noNetwork =
  /could not resolve|couldn't resolve|name or service not known|temporary failure in name resolution|network is unreachable|getaddrinfo|EAI_AGAIN|ENETUNREACH|ENOTFOUND|no address associated|failed to lookup address|dial tcp: lookup/i

const offlineWords =
  '[The command ran without a network: no rule allows one. If it needs one, tell the person: the rule WebFetch allows it, or "sandbox": {"network": "all"} in the settings.]'

function withReason(tool: Tool, offline: ReadonlySet<string>): Tool {
  return {
    ...tool,
    async run(input, call) {
      const output = await tool.run(input, call)
      const text = typeof output === 'string' ? output : output.text
      const effect = tool.effect?.(input, call.cwd)
      if (effect?.does !== 'command' || !offline.has(effect.command) || !noNetwork.test(text)) return output
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
