import type {
  ClientContext,
  InitializeResponse,
  LoadSessionResponse,
  NewSessionResponse,
  ResumeSessionResponse,
  SetSessionConfigOptionResponse,
} from '@agentclientprotocol/sdk'
import type { PipeSpec } from '../pipe/pipe-command.ts'
import type { Sdk } from './acp-connection.ts'
import type { Leash } from '../../core/work/agent.ts'
import type { Failure } from '../../core/talk/outcome.ts'
import type { LentServer } from '../../core/profile/profile.ts'
import type { Effort } from '../../core/profile/effort.ts'
import { efforts, nearestEffort } from '../../core/profile/effort.ts'
import { defined } from '../../base/defined.ts'
import { messageOf } from '../../base/error-message.ts'
import { cannotHold } from '../process-failure.ts'
import { isAuth, isRpcError } from './acp-outcome.ts'
import { capabilitiesFor } from './acp-client.ts'

/** The settings that can differ between two turns in the same session. */
export type SessionTerms = { spec: PipeSpec; leash: Leash }

type SelectOption = Extract<NonNullable<NewSessionResponse['configOptions']>[number], { type: 'select' }>

export type Wanted = SessionTerms & {
  cwd: string
  /** The key of the thread to resume. */
  key: string | undefined
  /** An MCP server that the agent receives for this turn. */
  server?: LentServer | undefined
  /** Resolves once a `session/load` has finished its replay. */
  quiet(): Promise<void>
}

/**
 * `resumed`: the session continues the wanted thread. `lasting`: a later turn can resume it. `pictures`: the agent accepts pictures with
 * a prompt. `note`: a warning for the person about the session. `made` contains the current modes and options of the session.
 */
export type Session = {
  id: string
  resumed: boolean
  lasting: boolean
  pictures: boolean
  note?: string
  made: NewSessionResponse
}

/** Thrown if no session is opened, although the agent itself did not fail. */
export class SessionRefused extends Error {
  override name = 'Hindered'
  failure: Failure

  constructor(failure: Failure) {
    super(failure.message)
    this.failure = failure
  }
}

/** Initializes the agent, resumes the thread or begins a new one, and limits the session to the leash. */
export async function openSession(agent: ClientContext, sdk: Sdk, wanted: Wanted): Promise<Session> {
  const { spec } = wanted
  const hello = await agent.request<InitializeResponse>(sdk.methods.agent.initialize, {
    protocolVersion: sdk.PROTOCOL_VERSION,
    clientCapabilities: capabilitiesFor(spec.profile?.acp),
  })
  if (hello.protocolVersion !== sdk.PROTOCOL_VERSION) {
    const message = `${spec.name} speaks version ${hello.protocolVersion} of ACP; termaite needs version ${sdk.PROTOCOL_VERSION}`
    throw new SessionRefused({ kind: 'missing', message })
  }
  const resumed = await resume(agent, sdk, hello, wanted)
  const fresh = { cwd: wanted.cwd, mcpServers: serversOf(wanted), ...furtherFolders(hello, wanted) }
  const made = resumed ?? (await agent.request<NewSessionResponse>(sdk.methods.agent.session.new, fresh))
  await hold(agent, sdk, made, { ...wanted, isResumed: resumed !== undefined })
  const notes = [await modelOnly(agent, sdk, made, wanted), await think(agent, sdk, made, wanted)]
  const note = notes.filter((one) => one !== undefined).join('\n') || undefined
  return defined({
    id: made.sessionId,
    resumed: resumed !== undefined,
    lasting: canLoad(hello) || canResume(hello),
    pictures: hello.agentCapabilities?.promptCapabilities?.image === true,
    note,
    made,
  })
}

/** A request that no agent supports: its error reply proves that the agent is alive, and that all its earlier messages have arrived. */
const knock = '_termaite/knock'

/**
 * Adapts an open session to its next turn; `before` are the settings of the last turn. Returns false if only a new process can serve this
 * turn. When this resolves, the agent has answered a request, so it is alive and all its earlier messages have arrived.
 */
export async function renewSession(
  agent: ClientContext,
  sdk: Sdk,
  { made }: Session,
  wanted: SessionTerms,
  before: SessionTerms,
): Promise<boolean> {
  const { model, effort, profile, command } = wanted.spec
  if (model !== before.spec.model && !(await chooseModel(agent, sdk, made, model))) return false
  if (effort !== before.spec.effort) {
    const isArgument = command === undefined && profile?.effort?.acp === true
    if (effort === undefined || isArgument || (await think(agent, sdk, made, wanted)) !== undefined) return false
  }
  // The mode is set even if it did not change: the agent may have left it by itself.
  if (await hold(agent, sdk, made, wanted, true)) return true
  await agent.request(knock, {}).catch((error) => {
    if (!isRpcError(error)) throw error
  })
  return true
}

/**
 * Chooses the model in the session of an agent whose command has no option for it. Returns a message for the person if the session does
 * not offer that model.
 */
async function modelOnly(agent: ClientContext, sdk: Sdk, made: NewSessionResponse, { spec }: SessionTerms) {
  const { model, command, profile, name } = spec
  if (model === undefined || (command === undefined && !profile?.acp?.choosesInSession)) return undefined
  if (await chooseModel(agent, sdk, made, model)) return undefined
  const [option] = offeredModel(made, model)
  const offered = option ? choicesOf(option).map(({ name }) => name) : []
  const instead = offered.length === 0 ? '' : ` It offers: ${offered.slice(0, mostModels).join(', ')}.`
  return `${name} does not offer the model ${model}, so its own choice is used.${instead}`
}

/** The most models that a note names. */
const mostModels = 12

/** Chooses another model in an open session; returns false if the session does not offer it. */
async function chooseModel(agent: ClientContext, sdk: Sdk, made: NewSessionResponse, model: string | undefined) {
  const [option, found] = offeredModel(made, model)
  if (!option || !found) return false
  return setOption(agent, sdk, made, option.id, found.value).then(
    () => true,
    (error) => {
      if (!isRpcError(error)) throw error
      return false
    },
  )
}

/** The session's option for the model, and the choice with this name or this value. */
function offeredModel(made: NewSessionResponse, model: string | undefined) {
  const option = made.configOptions?.find(({ category }) => category === 'model')
  if (option?.type !== 'select') return []
  return [option, choicesOf(option).find(({ value, name }) => value === model || name === model)] as const
}

const choicesOf = ({ options }: SelectOption) => options.flatMap((one) => ('options' in one ? one.options : [one]))

const valuesOf = (option: SelectOption): string[] => choicesOf(option).map(({ value }) => value)

/** Sets an option of a session, and remembers the options that the agent reports afterwards. */
async function setOption(
  agent: ClientContext,
  { methods }: Sdk,
  made: NewSessionResponse,
  configId: string,
  value: string,
): Promise<void> {
  const params = { sessionId: made.sessionId, configId, value }
  const set = agent.request<SetSessionConfigOptionResponse>(methods.agent.session.setConfigOption, params)
  const { configOptions } = await set
  if (configOptions.length > 0) made.configOptions = configOptions
}

/** Every agent that speaks ACP supports MCP servers over stdio. */
const serversOf = ({ server }: Wanted) =>
  server
    ? [
        {
          name: server.name,
          command: server.command,
          args: [...server.args],
          env: Object.entries(server.env).map(([name, value]) => ({ name, value })),
        },
      ]
    : []

/** The added folders, for an agent that declares support for them. */
function furtherFolders({ agentCapabilities }: InitializeResponse, { spec: { folders = [] } }: Wanted) {
  const takes = !!agentCapabilities?.sessionCapabilities?.additionalDirectories
  return takes && folders.length > 0 ? { additionalDirectories: [...folders] } : {}
}

const canResume = ({ agentCapabilities }: InitializeResponse) => !!agentCapabilities?.sessionCapabilities?.resume
const canLoad = ({ agentCapabilities }: InitializeResponse) => agentCapabilities?.loadSession === true

/** Resumes the thread; undefined if the agent cannot, or has lost it. */
async function resume(
  agent: ClientContext,
  { methods }: Sdk,
  hello: InitializeResponse,
  wanted: Wanted,
): Promise<NewSessionResponse | undefined> {
  const { cwd, key: sessionId, quiet } = wanted
  if (sessionId === undefined) return undefined
  const params = { sessionId, cwd, mcpServers: serversOf(wanted), ...furtherFolders(hello, wanted) }
  try {
    if (canResume(hello))
      return { ...(await agent.request<ResumeSessionResponse>(methods.agent.session.resume, params)), sessionId }
    if (!canLoad(hello)) return undefined
    const loaded = await agent.request<LoadSessionResponse>(methods.agent.session.load, params)
    await quiet()
    return { ...loaded, sessionId }
  } catch (error) {
    if (isAuth(error) || !isRpcError(error)) throw error
    return undefined
  }
}

/** The ids of a session's modes, whether the agent lists them as modes or as the choices of an option. */
function modeIds({ modes, configOptions }: NewSessionResponse): string[] {
  const option = configOptions?.find(({ category }) => category === 'mode')
  return [...(modes?.availableModes ?? []).map(({ id }) => id), ...(option?.type === 'select' ? valuesOf(option) : [])]
}

/** The session mode in which the agent plans, if it has one: "plan", or an address that ends with it. */
const planModeOf = (made: NewSessionResponse) => modeIds(made).find((id) => /(?:^|[#/])plan$/.test(id))

/** The mode in which a session goes on that an earlier turn left in its plan mode: its first other one. */
function modeAfterPlanning(made: NewSessionResponse): string | undefined {
  const plan = planModeOf(made)
  const option = made.configOptions?.find(({ category }) => category === 'mode')
  const isPlanning = plan !== undefined && (made.modes?.currentModeId ?? option?.currentValue) === plan
  return isPlanning ? modeIds(made).find((id) => id !== plan) : undefined
}

/**
 * Sets the session mode for planning, or the one that the leash needs, as a mode or as an option; the leash cannot be enforced on an agent
 * that has neither. Returns whether the agent was asked: a mode that it has already is set only with `again`.
 */
async function hold(
  agent: ClientContext,
  sdk: Sdk,
  made: NewSessionResponse,
  { spec, leash, isResumed }: SessionTerms & { isResumed?: boolean },
  again = false,
): Promise<boolean> {
  const facts = spec.profile?.acp
  const mode =
    (spec.plans ? planModeOf(made) : undefined) ??
    facts?.modes?.[leash] ??
    (isResumed && !spec.plans ? modeAfterPlanning(made) : undefined)
  if (mode === undefined) return false
  const { sessionId, modes, configOptions } = made
  const option = configOptions?.find(({ category }) => category === 'mode')
  const held = Object.keys(facts?.leashes ?? {}).filter((other) => other !== leash)
  if (!again && (modes?.currentModeId === mode || option?.currentValue === mode)) return false
  try {
    if (modes?.availableModes.some(({ id }) => id === mode)) {
      await agent.request(sdk.methods.agent.session.setMode, { sessionId, modeId: mode })
      modes.currentModeId = mode
    } else if (option?.type === 'select' && valuesOf(option).includes(mode))
      await setOption(agent, sdk, made, option.id, mode)
    else throw new SessionRefused(cannotHold(spec.name, leash, held, `, because it has no mode "${mode}"`))
  } catch (error) {
    if (!isRpcError(error)) throw error
    throw new SessionRefused(
      cannotHold(spec.name, leash, held, `, because it refused its mode "${mode}" (${messageOf(error)})`),
    )
  }
  return true
}

/**
 * Sets how hard the agent's model thinks, by the option of the session that the agent offers for it. Returns a message for the person if
 * the agent offers no such option and its command has none either.
 */
async function think(agent: ClientContext, sdk: Sdk, made: NewSessionResponse, { spec }: SessionTerms) {
  const { effort, profile, name, command } = spec
  if (effort === undefined || (command === undefined && profile?.effort?.acp)) return undefined
  const none = `${name} has no option for the effort of its model, so the effort ${effort} is not used.`
  const option = made.configOptions?.find(({ category }) => category === 'thought_level')
  if (option?.type !== 'select') return none
  const levels = valuesOf(option).flatMap((value): { level: Effort; value: string }[] => {
    const level = efforts.find((one) => one === value.toLowerCase() || (one === 'none' && /^off$/i.test(value)))
    return level ? [{ level, value }] : []
  })
  const nearest = nearestEffort(
    effort,
    levels.map(({ level }) => level),
  )
  const value = levels.find(({ level }) => level === nearest)?.value
  if (value === undefined) return none
  if (option.currentValue === value) return undefined
  try {
    await setOption(agent, sdk, made, option.id, value)
    return undefined
  } catch (error) {
    if (!isRpcError(error)) throw error
    return `${name} refused to think with the effort ${value}: ${messageOf(error)}`
  }
}
