import type { Command, CommandWorld } from '../../../core/talk/command.ts'
import type { Effort } from '../../../core/profile/effort.ts'
import type { DeskControls } from '../../desk-controls.ts'
import type { AgentSettings, CliAgentSettings, ModelChoice } from '../../../settings/agent-settings.ts'
import type { ModelParts } from './native-models.ts'
import { defined } from '../../../base/defined.ts'
import { valueFault } from '../../../base/option-value.ts'
import { efforts, nearestEffort } from '../../../core/profile/effort.ts'
import { hasNoEffort } from '../../../models/model-windows.ts'
import { openKeys } from '../../../safety/api-keys.ts'
import { noEffortReason, noEffortWords, noModelReason, profileOf, withModel } from '../../../settings/agent-settings.ts'
import { UsageError } from '../../../core/io.ts'
import { atDesk, enabledAgents, noAgentWords } from '../../../settings/enabled-agents.ts'
import { nativeKey } from '../../../turn/provider-key.ts'
import { choose, goingOn, knownWord } from '../shared/choice.ts'
import { modelOf, pickNativeModel, typedNativeModel } from './native-models.ts'

/** The word that resets a choice made in the chat. */
const back = 'default'

/** `/model` and `/models`, which are one command: they choose the model, and with a second word the effort, of any agent. */
export function modelCommands(controls: DeskControls, parts: ModelParts = {}): Command[] {
  const command: Command = {
    name: 'model',
    words: '[agent] [model|default] [effort]',
    matters: true,
    help: 'Choose the model of an agent: of the next one, or of the one that you name.',
    complete: (typed) => completed(controls, typed, (agent) => profileOf(agent)?.models?.names ?? []),
    async run(args, world) {
      const named = await targetAgent(controls, args, world)
      if (named === undefined) return
      const { agent, words } = named
      if (words[0] === back && words.length === 1) return takeBack(controls, agent, world)
      const [alone] = words
      const isEffort = words.length === 1 && isOneOf(efforts, alone) && !knownNames(agent).includes(alone)
      if (!isEffort) refuseModel(agent)
      const choice =
        words.length === 0 ? await pickModel(controls, agent, world, parts) : typedChoice(isEffort, words, agent)
      if (choice) await take(controls, agent, choice, world, parts)
    },
  }
  return [command, { ...command, name: 'models', matters: false, help: 'The same as /model.' }]
}

export function effortCommand(controls: DeskControls, parts: ModelParts = {}): Command {
  return {
    name: 'effort',
    words: '[agent] [level|default]',
    help: 'Choose how hard the model of an agent thinks.',
    complete: (typed) => completed(controls, typed, levelsOf),
    async run(args, world) {
      const named = await targetAgent(controls, args, world)
      if (named === undefined) return
      const { agent, words } = named
      if (words.length > 1) throw new UsageError('/effort takes an agent and a level, for example: /effort claude high')
      const [typed] = words
      if (typed === back) return takeBack(controls, agent, world)
      refuseEffort(agent)
      const effort = typed === undefined ? await pickEffort(agent, world) : knownWord('effort', typed, efforts)
      if (effort !== undefined) await take(controls, agent, { effort }, world, parts)
    },
  }
}

/** The agent that the first word names, otherwise the agent of the next turn, and the words after its name. */
async function targetAgent(controls: DeskControls, args: string, world: CommandWorld) {
  const { settings } = controls.app()
  const agents = enabledAgents(settings)
  const words = args.trim().split(/\s+/).filter(Boolean)
  const named = agents.find(({ name }) => name === words[0])
  if (named) return { agent: named, words: words.slice(1) }
  if (agents.length === 0) throw new UsageError(noAgentWords(settings, atDesk))
  const { next } = controls.standing()
  const known = agents.length === 1 ? agents[0] : agents.find(({ name }) => name === next)
  if (known) return { agent: known, words }
  const options = agents.map((agent) => ({ id: agent.name, label: `${agent.name} (${modelWords(agent)})` }))
  const name = await choose(world, 'Which agent’s model?', options)
  const agent = agents.find((one) => one.name === name)
  return agent && { agent, words }
}

/** Reads a model, an effort, or both; an unknown effort is an error with a suggestion. */
function typedChoice(isEffort: boolean, words: readonly string[], agent: AgentSettings): ModelChoice {
  const [first = '', second, ...more] = words
  if (more.length > 0)
    throw new UsageError('/model takes an agent, a model and an effort, for example: /model claude opus high')
  if (isEffort) return { effort: knownWord('effort', first, efforts) }
  const effort = second === undefined ? undefined : knownWord('effort', second, efforts)
  if (agent.kind === 'native') return defined({ ...typedNativeModel(first), effort })
  return defined({ model: cliModel(first), effort })
}

/** A name that a CLI can be given; it knows itself whether there is such a model. */
function cliModel(name: string): string {
  const fault = valueFault(name)
  if (fault !== undefined) throw new UsageError(`${JSON.stringify(name)} is not a model: it ${fault}.`)
  return name
}

/** Sets the choice, and says for which agent, for how long, and how to keep it. */
async function take(
  controls: DeskControls,
  named: AgentSettings,
  choice: ModelChoice,
  world: CommandWorld,
  parts: ModelParts,
): Promise<void> {
  // A command that was typed just before this one may have changed the agent since this one looked for it.
  const agent = agentNow(controls, named)
  if (choice.effort !== undefined) refuseEffort(defined({ ...agent, model: choice.model ?? agent.model }))
  if (agent.kind === 'native') {
    const { model = modelOf(agent) } = choice
    const { effort = hasNoEffort(model) ? undefined : agent.effort } = choice
    const whole = defined({ ...choice, model, effort })
    controls.setModel(agent.name, whole)
    sayChosen(agent.name, whole, world)
    const { native } = controls.app()
    const key = await nativeKey(withModel(agent, whole), (parts.open ?? openKeys)(native), native)
    if (key && 'next' in key) world.say(`Before its next turn, ${key.next}.`, 'note')
    if (key && 'why' in key) world.say(key.why, 'note')
    return
  }
  const { model = agent.model, effort = agent.effort } = choice
  const whole = defined({ model, effort })
  controls.setModel(agent.name, whole)
  sayChosen(agent.name, whole, world)
  const levels = levelsOf(agent)
  const level = choice.effort && nearestEffort(choice.effort, levels)
  if (level !== undefined && level !== choice.effort)
    world.say(`${agent.name} has no effort ${choice.effort}, so it gets the nearest one: ${level}.`, 'note')
}

function sayChosen(name: string, { model, effort }: ModelChoice, { say }: CommandWorld): void {
  const what = model === undefined ? 'its usual model' : model
  const how = effort === undefined ? '' : ` with the effort ${effort}`
  const keys = [...(model === undefined ? [] : ['"model"']), ...(effort === undefined ? [] : ['"effort"'])].join(
    ' and ',
  )
  say(`${name} uses ${what}${how} until you leave. To keep it, set ${keys} with /config.`, 'note')
}

function takeBack(controls: DeskControls, agent: AgentSettings, { say }: CommandWorld): void {
  controls.setModel(agent.name, undefined)
  const now = agentNow(controls, agent)
  say(`${agent.name} uses the model and the effort of its settings again: ${modelWords(now)}.`, 'note')
}

const agentNow = (controls: DeskControls, agent: AgentSettings): AgentSettings =>
  controls.app().settings.agents.find(({ name }) => name === agent.name) ?? agent

function refuseModel(agent: AgentSettings): void {
  const why = noModelReason(agent)
  if (why === undefined) return
  throw new UsageError(
    `the model of ${agent.name} cannot be chosen here: ${why}. /config opens the settings; for another agent, type its name: /model <agent> <model>.`,
  )
}

function refuseEffort(agent: AgentSettings): void {
  const why = noEffortReason(agent)
  if (why === undefined) return
  if (agent.kind === 'native') throw new UsageError(noEffortWords(modelOf(agent)))
  throw new UsageError(
    `the effort of ${agent.name} cannot be chosen here: ${why}. For another agent, type its name: /effort <agent> <level>.`,
  )
}

/** Asks for the model of an agent; undefined if the person leaves the card. Of a CLI any name can be typed. */
async function pickModel(
  controls: DeskControls,
  agent: AgentSettings,
  world: CommandWorld,
  parts: ModelParts,
): Promise<ModelChoice | undefined> {
  if (agent.kind === 'native') return pickNativeModel(controls, agent, world, parts)
  const list = profileOf(agent)?.models?.list
  const text = [
    `Which model should ${agent.name} use? Now: ${modelWords(agent)}.`,
    `Type any name that ${profileOf(agent)?.title ?? 'it'} knows${list === undefined ? '' : `; \`${list}\` in a shell lists them`}.`,
  ].join(' ')
  const own = { id: back, label: 'as the settings say' }
  const options = [...knownNames(agent).map((name) => ({ id: name, label: name })), own]
  const picks = await world.ask({ about: 'choice', text, from: [], free: true, options, unanswered }, world.signal)
  const [pick = ''] = picks ?? []
  if (pick.trim() === '') return undefined
  if (pick === back) {
    takeBack(controls, agent, world)
    return undefined
  }
  const [name = '', effort] = pick.trim().split(/\s+/)
  return typedChoice(false, [name, ...(effort === undefined ? [] : [effort])], agent)
}

const unanswered = 'change nothing'

async function pickEffort(agent: AgentSettings, world: CommandWorld): Promise<Effort | undefined> {
  const options = levelsOf(agent).map((level) => ({ id: level, label: level }))
  return choose(world, `How hard should ${agent.name} think? Now: ${agent.effort ?? 'its usual effort'}.`, options)
}

/** The levels that an agent knows; all of them if only its session or its provider knows. */
function levelsOf(agent: AgentSettings): readonly Effort[] {
  const facts = agent.kind === 'native' ? undefined : profileOf(agent)?.effort
  return facts && (agent.kind !== 'acp' || facts.acp) ? facts.levels : efforts
}

const knownNames = (agent: AgentSettings): readonly string[] => profileOf(agent)?.models?.names ?? []

/** The model and the effort of an agent as they are now. */
function modelWords(agent: AgentSettings): string {
  const model = agent.kind === 'native' ? modelOf(agent) : cliModelWords(agent)
  return agent.effort === undefined ? model : `${model}, effort ${agent.effort}`
}

const cliModelWords = ({ model, command }: CliAgentSettings): string =>
  model ?? (command === undefined ? 'the CLI’s own choice' : 'its own command')

const isOneOf = <T extends string>(all: readonly T[], word: string | undefined): word is T =>
  all.some((one) => one === word)

/** The names of the agents, and the values that the next agent or the named one accepts. */
function completed(controls: DeskControls, typed: string, of: (agent: AgentSettings) => readonly string[]) {
  const agents = enabledAgents(controls.app().settings)
  const [first = '', ...more] = typed.trimStart().split(/\s+/)
  const named = agents.find(({ name }) => name === first)
  const next = agents.find(({ name }) => name === controls.standing().next) ?? agents[0]
  const agent = named ?? next
  const known = agent ? [...of(agent), back] : []
  if (named && more.length > 0) return goingOn(more.join(' '), known).map((word) => `${named.name} ${word}`)
  return goingOn(typed, [...known, ...agents.map(({ name }) => name)])
}
