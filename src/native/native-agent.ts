import type { McpServers } from './tools/mcp/remote-servers.ts'
import type { FrameAndTold } from './loop/session-frame.ts'
import type { Agent, SeatLimits, Turn } from '../core/work/agent.ts'
import type { Event, Guide } from '../core/talk/entry.ts'
import type { Model } from '../core/work/model.ts'
import type { Tool } from '../core/work/tool.ts'
import type { Consult, CoordinatorSeat, NativeParts, NativeSeat } from './native-parts.ts'
import type { ContextItem, ToldItem } from './loop/context-changes.ts'
import type { Native } from './loop/native-loop.ts'
import type { Opening, SessionMode } from './loop/session-opening.ts'
import { dirname } from 'node:path'
import { instructedAbove } from './loop/instructions.ts'
import { opening } from './loop/session-opening.ts'
import { NestedInstructions } from './loop/nested-instructions.ts'
import { freezeFrame, sessionFrame } from './loop/session-frame.ts'
import { nativeAgent } from './loop/native-loop.ts'
import { frameOf } from './loop/model-messages.ts'
import { isPlanTool } from '../core/work/tool.ts'
import { toolboxOf, loadableSkills, offeredTools, borderedTool, touchingTool } from './toolbox.ts'
import { policyFor } from './native-permissions.ts'
import { turnHooks, toolWithHooks } from './native-hooks.ts'
import { machineFacts } from './machine-facts.ts'
import { wallFacts } from './command-wall.ts'
import { wallPrompt } from './wall-words.ts'
import { foldersWords } from './added-folders.ts'
import { modelOf, patienceOf } from './native-model.ts'
import { noteOnce } from './native-parts.ts'
import { checkedServers, hasServerFile, serversOf } from './native-servers.ts'
import { diagnosedTool } from './native-diagnostics.ts'
import { shortPath } from '../base/files/short-path.ts'
import { messageOf } from '../base/error-message.ts'
import { toldItems, contextChanges, changeGuide } from './loop/context-changes.ts'
import { requestedSkill, skillGuide } from './loop/skill.ts'
import { vendorOf } from '../settings/agent-settings.ts'
import { guidesOf } from '../core/talk/compaction.ts'

/** Opens our own agent for one turn: its model, tools, rules, and the frame of its session. */
export async function* openNative(
  seat: NativeSeat,
  parts: NativeParts,
  turn: Turn,
  trusted: boolean,
): AsyncGenerator<Event, Agent> {
  const { agent, settings } = seat
  const { blobs, clock, cwd, root, home, state } = parts
  const asked = Promise.withResolvers<void>()
  const model = withFirstRequest(modelOf(seat, parts), asked.resolve)
  const coordinator = seat.advises || seat.limits ? undefined : state.turn.coordinator
  const mode = modeOf(seat, coordinator)
  const { box, use } = toolboxOf(agent.name, parts)
  const { machine, servers, wall, limits } = await surroundingsOf(seat, parts, turn, {
    mode,
    trusted,
    tools: box.tools,
    asked: asked.promise,
  })
  const date = new Date(clock.now()).toISOString().slice(0, 10)
  const instructed = instructedAbove(root)
  const above = instructed.length === 0 ? [] : await (await import('./native-trust.ts')).trustedAbove(parts, instructed)
  const place = { cwd, root, home, trusted, above, untrusted: settings.untrustedInstructions }
  const nested = new NestedInstructions(place, agent.name, turn.history)
  const folders = foldersWords(parts.folders.now)
  const open = () =>
    opening(place, {
      ...{ mode, date, system: machine.words, meta: settings.metaInstruction, wall, folders },
      delegates: !seat.advises,
    })
  const opened = open()
  if (opened.untrusted !== undefined) noteOnce(parts, opened.untrusted)
  const { own } = box
  const subagents = {
    seat,
    parts,
    trusted,
    above,
    model,
    date,
    system: machine.words,
    subagents: opened.subagents,
    servers,
    wall,
  }
  const consult: Consult = async (request, call) => {
    const { subagentConsult } = await import('./native-subagents.ts')
    return subagentConsult(subagents)(request, call)
  }
  use(consult, loadableSkills(opened.skills), opened.subagents.length > 0)
  const offered = () =>
    offeredTools(
      [...box.tools, ...(coordinator?.tools ?? [])],
      servers,
      model.name,
      (tool) => suits(tool, mode, limits) && !(seat.advises && tool.delegates),
    )
  const readable = [...own, ...opened.skills.map(({ path }) => dirname(path))]
  const guarded = (tool: Tool) =>
    borderedTool(diagnosedTool(toolWithHooks(touchingTool(tool, nested, parts), seat, parts), seat, parts), parts)
  const frozen = {
    key: `${seat.advises ? 'advice' : mode} ${model.name}${machine.edition} ${frameEdition}`,
    vendor: vendorOf(agent),
  }
  const framed = yield* sessionFrame(agent.name, turn, blobs, {
    ...frozen,
    async make(): Promise<FrameAndTold> {
      // For an untrusted folder the person gets a different note, which says so.
      if (trusted) state.notes.waiting.push(...opened.warnings)
      const told = opened.tells.map(({ about, hash }) => ({ about, hash }))
      await quickStart(servers, parts, turn)
      return { frame: frameOf(opened.system, offered().frame), told }
    },
  })
  const hooks = turnHooks(seat, parts)
  return nativeAgent({
    name: agent.name,
    model,
    patience: patienceOf(seat),
    tools: offered().all.map(guarded),
    ...hooks,
    ends: coordinator
      ? async (answer, again, turn) => (await coordinator.holdsBack()) ?? hooks.ends?.(answer, again, turn)
      : hooks.ends,
    aside: coordinator && ((_, messages) => coordinator.digest(messages)),
    find(name) {
      const tool = servers?.find(name)
      return tool && guarded(tool)
    },
    policy: await policyFor(seat, box.tools, readable, parts),
    frame: framed.frame,
    reframe: (frame) => freezeFrame({ ...framed, frame }, blobs, frozen),
    before: beforeEach({
      agent: agent.name,
      turn,
      framed,
      opened,
      nested,
      seen: state.session.seen,
      again() {
        const { remembered } = state.session
        delete state.session.remembered
        return remembered ? open().tells : undefined
      },
      servers,
      jobs: () => box.news(),
      diagnostics: () => state.languages?.running?.news(),
      tell(words) {
        state.notes.waiting.push(words)
      },
    }),
    window: () => Math.min(seat.window, model.window),
    steps: settings.steps,
  })
}

/**
 * Prepares the surroundings of the agent: the machine, the MCP servers, the wall, and the limits that can be enforced. The machine is
 * scanned after `asked` resolves. A planner runs nothing, so it has neither servers nor a wall.
 */
async function surroundingsOf(
  seat: NativeSeat,
  parts: NativeParts,
  turn: Turn,
  { mode, trusted, tools, asked }: { mode: SessionMode; trusted: boolean; tools: Tool[]; asked: Promise<void> },
) {
  const { settings, leash } = seat
  if (mode !== 'plan') turn.waits?.('preparing the tools and the MCP servers')
  // Hooks and servers are programs, which could change a file before its snapshot is taken.
  const hasPrograms = Object.keys({ ...settings.hooks, ...settings.mcpServers }).length > 0 || hasServerFile(parts)
  if (hasPrograms) await turn.begun?.()
  const [machine, servers, facts] = await Promise.all([
    machineFacts(parts, asked),
    // A planner calls no server, but a wrong entry is reported to the person in every mode.
    mode === 'plan'
      ? checkedServers(parts, { settings, leash, trusted }).then(() => undefined)
      : serversOf(parts, { settings, leash, trusted }),
    mode === 'plan' ? undefined : wallFacts(seat, tools, parts),
  ])
  const wall = mode === 'plan' ? undefined : wallPrompt(leash, facts)
  // Only a wall can keep commands inside a scope: without a wall, a worker with a scope runs no commands.
  const limits = seat.limits?.scope && !facts ? { ...seat.limits, runs: false as const } : seat.limits
  return { machine, servers, wall, limits }
}

function modeOf({ settings, limits }: NativeSeat, coordinator: CoordinatorSeat | undefined): SessionMode {
  if (settings.permissions.mode === 'plan') return 'plan'
  return limits ? 'subagent' : coordinator ? 'coordinator' : 'agent'
}

/**
 * Whether a tool is offered to an agent: a planner changes nothing, a coordinator has workers, a worker neither asks the person nor sends
 * workers.
 */
function suits(tool: Tool, mode: SessionMode, limits: SeatLimits = {}): boolean {
  if (mode === 'plan') return isPlanTool(tool)
  if (mode === 'coordinator') return !tool.worksAlone
  if (mode === 'agent') return true
  const writes = tool.risk === 'write' && limits.writes === false
  const runs = tool.risk === 'run' && !tool.reports && limits.runs === false
  return !tool.delegates && !tool.leadOnly && !writes && !runs
}

/**
 * The version of a frame. It is increased when the form of the tools in every request changes: older frozen frames are then made again.
 */
const frameEdition = 5

/** The tools of servers that start within this time are part of the first request; a message announces later ones. */
const quickMs = 1000

async function quickStart(servers: McpServers | undefined, { clock }: NativeParts, turn: Turn): Promise<void> {
  if (!servers) return
  turn.waits?.('waiting for the MCP servers to start')
  const over = new AbortController()
  const signal = AbortSignal.any([turn.signal, over.signal])
  await Promise.race([servers.settled(signal), clock.sleep(quickMs, signal)])
  over.abort()
}

/** Calls `asked` with the first request: the machine's scan starts after it, so that the request does not wait for the scan. */
function withFirstRequest(model: Model, asked: () => void): Model {
  return {
    name: model.name,
    get window() {
      return model.window
    },
    unseen: (ref) => model.unseen?.(ref),
    stream(request, signal) {
      asked()
      return model.stream(request, signal)
    },
  }
}

type BeforeParts = {
  agent: string
  turn: Turn
  framed: FrameAndTold
  opened: Pick<Opening, 'tells' | 'skills'>
  nested: NestedInstructions
  /** The items of the context as this process last saw them. */
  seen: Map<string, ContextItem>
  /** The present items of the context, if the person has added a note since the last request. */
  again(): ContextItem[] | undefined
  servers: McpServers | undefined
  /** Events in the background, as text for the model. */
  jobs(): Promise<string | undefined>
  /** Errors that a language server reported too late for the result of its edit. */
  diagnostics(): string | undefined
  /** Shows a note to the person. */
  tell(words: string): void
}

/** Returns the guides for the model before each request. */
function beforeEach(parts: BeforeParts): NonNullable<Native['before']> {
  const { agent, turn, framed, opened, nested, servers, tell } = parts
  const said: ToldItem[] = [...framed.told, ...toldItems(turn.history, agent)]
  const changes = (now: readonly ContextItem[]): Guide[] => {
    const changed = contextChanges(said, now, parts.seen)
    for (const item of now) parts.seen.set(item.about, item)
    said.push(...changed)
    if (changed.length > 0) tell(changedWords(changed, turn.cwd))
    return changed.map(changeGuide)
  }
  let waiting: Guide[] = [...changes(opened.tells), ...requestedGuides(parts)]
  const known = new Set([...framed.frame.tools.map(({ name }) => name), ...lateTools(turn, agent)])
  return async () => {
    const again = parts.again()
    const [told, late] = [[...waiting, ...(again ? changes(again) : [])], servers?.news(known)]
    waiting = []
    for (const name of late?.tools ?? []) known.add(name)
    const news: Guide[] = late ? [{ type: 'guide', name: lateName, text: late.text, mark: late.tools.join(' ') }] : []
    const jobs = await parts.jobs()
    // The mark lets a summary replace the text, because a finished job belongs to the past.
    if (jobs !== undefined) news.push({ type: 'guide', name: 'background jobs', text: jobs, mark: 'jobs' })
    const errors = parts.diagnostics()
    if (errors !== undefined) news.push({ type: 'guide', name: 'diagnostics', text: errors, mark: 'diagnostics' })
    const below = nested.take()
    for (const note of below.notes) tell(note)
    return [...told, ...below.guides, ...news]
  }
}

function changedWords(changed: readonly ToldItem[], cwd: string): string {
  const names = changed.map(({ about }) => shortPath(about, cwd)).join(', ')
  return `The agent was told that these changed: ${names}.`
}

const lateName = 'mcp tools'

/** Names of MCP tools that appeared after the frame was frozen and were announced in this conversation. */
function lateTools({ history }: Turn, agent: string): string[] {
  return history.flatMap((entry) =>
    entry.type === 'guide' && entry.by === agent && entry.name === lateName ? (entry.mark ?? '').split(' ') : [],
  )
}

/** Returns the guide of the skill that the prompt asks for, unless that guide already applies. */
function requestedGuides({ opened, turn, agent, tell }: BeforeParts): Guide[] {
  const skill = requestedSkill(turn.prompt, opened.skills)
  try {
    const guide = skill && skillGuide(skill)
    const inForce = guidesOf(turn.history).some(
      ({ by, name, text }) => by === agent && name === guide?.name && text === guide.text,
    )
    if (!guide || inForce) return []
    tell(`The skill ${skill.name} is loaded.`)
    return [guide]
  } catch (error) {
    tell(messageOf(error))
    return []
  }
}
