import type { Tool } from '../../core/work/tool.ts'
import type { UserSubagent } from '../../agents/native/user-subagents.ts'
import type { Agent } from '../../core/work/agent.ts'
import type { Model } from '../../core/work/model.ts'
import type { McpServers } from '../../tools/mcp/remote-servers.ts'
import type { Consult, NativeParts, NativeSeat } from './native-parts.ts'
import { dirname } from 'node:path'
import { opening } from '../../agents/native/session-opening.ts'
import { NestedInstructions } from '../../agents/native/nested-instructions.ts'
import { nativeAgent } from '../../agents/native/native-loop.ts'
import { frameOf } from '../../agents/native/model-messages.ts'
import { chosenSubagent } from '../../agents/native/user-subagents.ts'
import { hookNames, isMatch } from '../../safety/hooks/hook-run.ts'
import { withModel } from '../../settings/agent-settings.ts'
import { loadableSkills, offeredTools, openTools, borderedTool, touchingTool } from './toolbox.ts'
import { policyFor } from './native-permissions.ts'
import { subagentHooks, toolWithHooks } from './native-hooks.ts'
import { modelOf, patienceOf } from './native-model.ts'

export type SubagentParts = {
  seat: NativeSeat
  parts: NativeParts
  trusted: boolean
  model: Model
  date: string
  /** The machine's facts, in words. */
  system: string
  subagents: readonly UserSubagent[]
  servers: McpServers | undefined
  /** The limits of the commands, in words. */
  wall: string | undefined
}

/** Has a task done by a fresh agent that sees only the task; only its answer comes back. */
export function subagentConsult(given: SubagentParts): Consult {
  return async (request, call) => {
    const { subagent, task } = chosenSubagent(request, given.subagents)
    const outcome = await call.consult(await openSubagent(given, subagent), subagent?.name ?? 'subagent', task)
    if (!outcome.ok) throw new Error(outcome.failure.message)
    const { text, denials } = outcome
    return denials ? { text, data: { denied: denials.join('\n') } } : text
  }
}

async function openSubagent(given: SubagentParts, subagent: UserSubagent | undefined): Promise<Agent> {
  const { seat, parts, trusted, date, system: machine, servers } = given
  const { cwd, root, home } = parts
  const place = { cwd, root, home, trusted, untrusted: seat.settings.untrustedInstructions }
  const { system, skills } = opening(place, {
    mode: 'subagent',
    date,
    system: machine,
    role: subagent?.role,
    wall: given.wall,
  })
  const nested = new NestedInstructions(place, seat.agent.name)
  const box = openTools(seat.agent.name, parts, loadableSkills(skills))
  const tools = offeredTools(
    box.tools,
    servers,
    (tool) => !tool.delegates && !tool.leadOnly && isNamed(tool, subagent?.tools),
    subagent?.tools ? undefined : servers,
  )
  const frame = frameOf(system, tools.frame)
  const model =
    subagent?.model === undefined
      ? given.model
      : modelOf({ ...seat, agent: withModel(seat.agent, { model: subagent.model }) }, parts)
  return nativeAgent({
    name: seat.agent.name,
    model,
    patience: patienceOf(seat),
    tools: tools.all.map((tool) => borderedTool(toolWithHooks(touchingTool(tool, nested, parts), seat, parts), parts)),
    // The person has been told with the turn itself which instruction files are used.
    before: async () => nested.take().guides,
    ...subagentHooks(seat, parts),
    policy: await policyFor(seat, box.tools, [...box.own, ...skills.map(({ path }) => dirname(path))], parts),
    frame,
    steps: seat.settings.steps,
    close: () => box.close(),
  })
}

/** Whether a subagent's file names the tool, by our name or by the name that another program has for it. */
function isNamed(tool: Tool, wanted: readonly string[] | undefined): boolean {
  return wanted?.some((one) => /^\w+$/.test(one) && isMatch(one, hookNames(tool))) ?? true
}
