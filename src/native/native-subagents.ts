import type { Tool } from '../core/work/tool.ts'
import type { Mode } from '../safety/rules/permission-modes.ts'
import type { Subagent } from './loop/subagent-files.ts'
import type { Agent } from '../core/work/agent.ts'
import type { Model } from '../core/work/model.ts'
import type { McpServers } from './tools/mcp/remote-servers.ts'
import type { Consult, NativeParts, NativeSeat } from './native-parts.ts'
import { dirname } from 'node:path'
import { opening } from './loop/session-opening.ts'
import { NestedInstructions } from './loop/nested-instructions.ts'
import { nativeAgent } from './loop/native-loop.ts'
import { frameOf } from './loop/model-messages.ts'
import { chosenSubagent } from './loop/subagent-files.ts'
import { hookNames } from '../safety/hooks/hook-run.ts'
import { withModel } from '../settings/agent-settings.ts'
import { loadSkill } from './tools/load-skill.ts'
import { loadableSkills, offeredTools, openTools, borderedTool, touchingTool } from './toolbox.ts'
import { policyFor } from './native-permissions.ts'
import { diagnosedTool } from './native-diagnostics.ts'
import { subagentHooks, toolWithHooks } from './native-hooks.ts'
import { fileModel, modelOf, patienceOf } from './native-model.ts'
import { noteOnce } from './native-parts.ts'
import { callLimit } from '../safety/rules/permission-policy.ts'
import { defaultModel } from '../models/provider.ts'
import { efforts } from '../core/profile/effort.ts'
import { isPlanTool } from '../core/work/tool.ts'
import { defined } from '../base/defined.ts'
import { foldersWords } from './added-folders.ts'

type SubagentParts = {
  seat: NativeSeat
  parts: NativeParts
  trusted: boolean
  /** The trusted folders above the project that have instruction files. */
  above: readonly string[]
  model: Model
  date: string
  /** The machine's facts, as text. */
  system: string
  subagents: readonly Subagent[]
  servers: McpServers | undefined
  /** The limits of the commands, as text. */
  wall: string | undefined
}

/** Gives a task to a new agent that sees only the task; only its answer is returned. */
export function subagentConsult(given: SubagentParts): Consult {
  return async (request, call) => {
    const { subagent, task } = chosenSubagent(request, given.subagents)
    const outcome = await call.consult(await openSubagent(given, subagent), subagent?.name ?? 'subagent', task)
    if (!outcome.ok) throw new Error(outcome.failure.message)
    const { text, denials } = outcome
    return denials ? { text, data: { denied: denials.join('\n') } } : text
  }
}

async function openSubagent(given: SubagentParts, subagent: Subagent | undefined): Promise<Agent> {
  const { parts, trusted, above, date, system: machine, servers } = given
  const { cwd, root, home } = parts
  const seat = subagent ? subagentSeat(subagent, given.seat, parts) : given.seat
  const place = { cwd, root, home, trusted, above, untrusted: seat.settings.untrustedInstructions }
  const { system, skills } = opening(place, {
    mode: 'subagent',
    loadsSkills: hasTool(loadSkill([]), subagent ?? {}),
    date,
    system: machine,
    role: subagent?.role,
    wall: given.wall,
    folders: foldersWords(parts.folders.now),
  })
  const nested = new NestedInstructions(place, seat.agent.name)
  const box = openTools(seat.agent.name, parts, loadableSkills(skills))
  const plan = seat.settings.permissions.mode === 'plan'
  const suits = (tool: Tool) =>
    !tool.delegates && !tool.leadOnly && !tool.reports && (!plan || isPlanTool(tool)) && hasTool(tool, subagent ?? {})
  const model = seat.agent === given.seat.agent ? given.model : modelOf(seat, parts)
  const tools = offeredTools(box.tools, servers, model.name, suits, subagent?.tools ? undefined : servers)
  for (const words of unknownTools(subagent, [...box.tools, ...(servers?.tools() ?? [])])) noteOnce(parts, words)
  const limits = subagent?.tools ? [callLimit(`The subagent ${subagent.name}`, subagent.tools, 'free')] : []
  return nativeAgent({
    name: seat.agent.name,
    model,
    patience: patienceOf(seat),
    tools: tools.all.map((tool) =>
      borderedTool(diagnosedTool(toolWithHooks(touchingTool(tool, nested, parts), seat, parts), seat, parts), parts),
    ),
    // The turn itself has already told the person which instruction files are used.
    before: async () => nested.take().guides,
    ...subagentHooks(seat, parts),
    policy: await policyFor(seat, box.tools, [...box.own, ...skills.map(({ path }) => dirname(path))], parts, limits),
    frame: frameOf(system, tools.frame),
    steps: seat.settings.steps,
    maxSteps: subagent?.steps,
    close: () => box.close(),
  })
}

/** The seat of a subagent: its model, effort and permission mode, each only if its file may determine it. */
function subagentSeat(subagent: Subagent, seat: NativeSeat, parts: NativeParts): NativeSeat {
  const { place, from, model: wanted, effort: hard, mode: said } = subagent
  const found = wanted === undefined ? undefined : fileModel(wanted, from, seat)
  if (found && 'why' in found)
    noteOnce(
      parts,
      `${place}: the model ${wanted} is not used, because ${found.why}. ${subagent.name} has the model of the session.`,
    )
  const effort = efforts.find((one) => one === hard)
  const model = found && 'model' in found ? found.model : (seat.agent.model ?? defaultModel)
  const agent = (found && 'model' in found) || effort ? withModel(seat.agent, defined({ model, effort })) : seat.agent
  const { permissions } = seat.settings
  const mode = stricterMode(permissions.mode, said)
  return { ...seat, agent, settings: { ...seat.settings, permissions: { ...permissions, mode } } }
}

/** The modes from the loosest to the strictest: each lets an agent do less without a question than the one before. */
const fromLoose: readonly Mode[] = ['bypass', 'acceptEdits', 'default', 'dontAsk', 'plan']

/** The stricter of the session's mode and the mode that a file names, by our name or Claude Code's name. */
function stricterMode(mode: Mode, said: string | undefined): Mode {
  const at = fromLoose.indexOf(said as Mode)
  return at > fromLoose.indexOf(mode) ? fromLoose[at]! : mode
}

/** Whether a subagent has a tool: its file lists it or lists none, and does not exclude it. */
function hasTool(tool: Tool, { tools, without = [] }: Pick<Partial<Subagent>, 'tools' | 'without'>): boolean {
  if (tools && !tools.some((one) => isNamed(one, tool))) return false
  // A file that excludes editing or writing excludes every tool that changes files.
  return !without.some((one) => isNamed(one, tool) || (/^(edit|write)$/i.test(one) && tool.risk === 'write'))
}

/** Whether a word in a file stands for a tool, by our name or another program's, ignoring case; a star matches anything. */
function isNamed(word: string, tool: Tool): boolean {
  const name = word.replace(/\(.*$/s, '').toLowerCase()
  const pattern = new RegExp(`^${name.split('*').map(literal).join('.*')}(?:__.*)?$`)
  return hookNames(tool).some((known) => {
    const one = known.toLowerCase()
    return name.startsWith('mcp__') || name.includes('*') ? pattern.test(one) : one === name
  })
}

const literal = (text: string) => text.replaceAll(/[^\w]/g, '\\$&')

/** Says which tools in a subagent's file do not exist here; MCP tools may appear later. */
function unknownTools(subagent: Subagent | undefined, all: readonly Tool[]): string[] {
  const unknown = (subagent?.tools ?? []).filter(
    (one) => !one.startsWith('mcp__') && !all.some((tool) => isNamed(one, tool)),
  )
  if (!subagent || unknown.length === 0) return []
  return [`${subagent.place}: there is no tool ${unknown.join(', ')} here, so ${subagent.name} works without.`]
}
