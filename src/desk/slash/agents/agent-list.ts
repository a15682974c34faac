import type { CommandWorld, ListRow, ListTalk, ListView } from '../../../core/talk/command.ts'
import type { KnownSettings } from '../../../people/offers/known-agents.ts'
import type { AgentSettings, WrittenAgent } from '../../../settings/agent-settings.ts'
import type { DeskControls } from '../../desk-controls.ts'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { UsageError } from '../../../core/io.ts'
import { unknownWindow } from '../../../models/model-windows.ts'
import { agentHindrance } from '../../../people/doctor/agent-checkup.ts'
import { withAdded, withEnabled, withMoved, withoutAgent } from '../../../people/offers/agent-edits.ts'
import { cliOffer, nativeOffers, sourcesOf } from '../../../people/offers/agent-offers.ts'
import { knownSettings } from '../../../people/offers/known-agents.ts'
import { installedProfiles } from '../../../profiles/installed-programs.ts'
import { leashOf } from '../../../settings/enabled-agents.ts'
import { rewriteSettings, writeSettings } from '../../../settings/settings-editor.ts'
import { channelWords, leashWords } from '../../../turn/agent-channel.ts'
import { stateWords } from '../shared/state-words.ts'

/** Shows the agents of the settings as a list with keys, until the person leaves it. */
export async function showAgents(controls: DeskControls, { screen }: CommandWorld): Promise<void> {
  await screen.list!(new AgentList(controls))
}

class AgentList implements ListView {
  readonly name = 'agents'
  readonly title = 'Agents'
  readonly searches = false
  readonly actions = { toggle: 'on or off', raise: 'up', lower: 'down', add: 'adds', remove: 'removes' }
  #controls: DeskControls
  /** The reasons why agents cannot be used, which are looked for once. */
  #hindrances = new Map<string, string | undefined>()

  constructor(controls: DeskControls) {
    this.#controls = controls
  }

  empty(): string {
    return 'There is no agent in your settings yet. Press a to add one that is installed here, or a command of your own.'
  }

  async rows(): Promise<ListRow[]> {
    const { settings } = this.#controls.app()
    return Promise.all(settings.agents.map((agent, at) => this.#row(agent, at)))
  }

  async act(action: string, row: ListRow | undefined, talk: ListTalk): Promise<string | undefined> {
    const { home } = this.#controls.app().place
    if (action === 'add') return this.#add(await this.#file(), talk)
    if (!row) return undefined
    const file = await this.#file()
    if (!file) throw new UsageError(`There is no settings file in ${home} that this list can change. Use /config.`)
    const agent = file.agents.find(({ name }) => name === row.id)
    switch (action) {
      case 'toggle':
      case 'open': {
        const enabled = agent?.enabled === false
        await this.#write(file, withEnabled(file, row.id, enabled))
        return enabled ? `${row.id} takes turns now.` : `${row.id} takes no turns now.`
      }
      case 'raise':
      case 'lower':
        await this.#write(file, withMoved(file, row.id, action === 'raise' ? -1 : 1))
        return undefined
      case 'remove': {
        const words = `Remove ${row.id} from your settings? Its entry in settings.json is deleted; the program itself stays installed.`
        if (!(await talk.sure(words))) return undefined
        await this.#write(file, withoutAgent(file, row.id))
        return `${row.id} is not in your settings any more.`
      }
      default:
        return undefined
    }
  }

  async #row(agent: AgentSettings, at: number): Promise<ListRow> {
    const { settings, leash } = this.#controls.app()
    const { agents, next } = this.#controls.standing()
    const { name } = agent
    if (!this.#hindrances.has(name)) this.#hindrances.set(name, await agentHindrance(this.#controls.app(), agent))
    const why = this.#hindrances.get(name)
    const isOn = agent.enabled !== false
    const known = agents.find((one) => one.name === name)
    const state = !isOn ? 'off' : known ? stateWords(known) : 'not used in this mode'
    const held = leashOf(settings, agent, { leash })
    return {
      id: name,
      title: `${isOn ? '●' : '○'} ${at + 1} ${name}${next === name ? ' (next turn)' : ''}`,
      cells: [state],
      note: [...(why === undefined ? [] : [why]), leashWords(agent, held), channelWords(agent)].join(' · '),
    }
  }

  /** Reads the settings file again; undefined if it does not exist yet. */
  async #file(): Promise<KnownSettings | undefined> {
    const { home } = this.#controls.app().place
    const file = await knownSettings(home)
    const other = ['settings.json', 'config.yaml'].map((name) => join(home, name)).find((path) => existsSync(path))
    if (!file && other)
      throw new UsageError(`${other} has no JSON list of agents, so this list cannot change it. Use /config.`)
    return file
  }

  /** Writes the settings and reads them again. A change that they do not allow is taken back. */
  async #write(file: KnownSettings, text: string): Promise<void> {
    const { home } = this.#controls.app().place
    if (readFileSync(file.file, 'utf8') !== file.text)
      throw new UsageError(`${file.file} was changed meanwhile, so nothing was written. Try again.`)
    if (text === file.text) return
    await rewriteSettings(home, text)
    try {
      await this.#controls.reload()
    } catch (error) {
      await rewriteSettings(home, file.text)
      throw error
    }
  }

  /** Adds an agent that is installed here, or a command that the person types. */
  async #add(file: KnownSettings | undefined, talk: ListTalk): Promise<string | undefined> {
    const { io, place, settings } = this.#controls.app()
    const world = { env: io.env, home: place.home, cwd: place.cwd, clock: io.clock }
    const clis = installedProfiles(world).map((profile) => cliOffer(profile, io.env))
    const known = new Set(settings.agents.map(({ name }) => name))
    const offers = [...clis, ...(await nativeOffers(sourcesOf(world), io.env))].filter(({ name }) => !known.has(name))
    const picked = await talk.pick('Add an agent', [
      ...offers.map(({ name, title, words }) => ({ id: name, title, note: words })),
      {
        id: ownCommand,
        title: 'A command of your own',
        note: 'it gets the request on its standard input, and prints its answer',
      },
    ])
    if (picked === undefined) return undefined
    const offer = offers.find(({ name }) => name === picked)
    const agent = offer ? offer.settings(settings.leash) : await typedAgent(talk)
    if (!agent) return undefined
    if (known.has(agent.name)) throw new UsageError(`There is an agent ${agent.name} already. Choose another name.`)
    const isHeld = !offer || offer.means(settings.leash) !== undefined
    const written = isHeld ? agent : { ...agent, enabled: false }
    if (file) await this.#write(file, withAdded(file, written))
    else {
      await writeSettings(place.home, { agents: [written] })
      await this.#controls.reload()
    }
    return isHeld
      ? `${agent.name} takes turns now.`
      : `The leash “${settings.leash}” cannot limit ${agent.name}, so it is off. To let it do everything, give it "leash": "all" with /config.`
  }
}

const ownCommand = ' own'

async function typedAgent(talk: ListTalk): Promise<WrittenAgent | undefined> {
  const name = (await talk.line('Name'))?.trim()
  if (name === undefined || name === '') return undefined
  const command = (await talk.line(`Command of ${name}`))?.trim()
  if (command === undefined || command === '') return undefined
  return { name, command, contextWindowTokens: unknownWindow }
}
