import type { Env } from '../../../base/env.ts'
import type { Command, CommandWorld } from '../../../core/talk/command.ts'
import type { ProviderName } from '../../../models/provider.ts'
import type { KeyPlace, Keys } from '../../../safety/api-keys.ts'
import type { DeskControls } from '../../desk-controls.ts'
import { defaultModel, providerOf, providers } from '../../../models/provider.ts'
import { openKeys } from '../../../safety/api-keys.ts'
import { providerIn } from '../../../settings/agent-settings.ts'
import { UsageError } from '../../../core/io.ts'
import { choose, goingOn } from '../shared/choice.ts'
import { nativeAgents } from '../../../settings/enabled-agents.ts'

const names = Object.keys(providers) as ProviderName[]
/** The providers that can be given a key: servers on this machine need none, and Google's cloud has its own login. */
const remote = names.filter((name) => !providerOf(name).local && !hasOwnLogin(name))

const places: Record<KeyPlace, string> = {
  environment: 'the environment',
  keychain: 'the keychain of this system',
  'credentials.json': 'credentials.json, which only you can read: this system has no keychain',
}

/** Stores a provider's key. The key goes from the card to the key store and nowhere else. */
export function connectCommand(controls: DeskControls, open: typeof openKeys = openKeys): Command {
  return {
    name: 'connect',
    screen: true,
    words: '[provider] [forget]',
    help: 'Store or forget a provider’s API key.',
    complete: (typed) => goingOn(typed, remote),
    async run(args, world) {
      const [typed, ...more] = args.split(/\s+/).filter((word) => word !== '')
      const forgets = more.length === 1 && more[0] === 'forget'
      if (more.length > 0 && !forgets)
        throw new UsageError(
          'only "forget" may follow the provider. The key is asked for on a card, so that it never appears here.',
        )
      const name = typed === undefined ? await pickProvider(world) : providerTyped(typed)
      if (name === undefined) return
      const { native, out } = controls.app()
      const keys = open(native)
      if (forgets) return world.say(await forgotten(keys, name), 'note')
      const place = await connected(keys, name, world)
      if (place === undefined) return
      // Agents that had no key may try again.
      for (const { name: agent, model } of nativeAgents(controls.app().settings))
        if (providerIn(model ?? defaultModel) === name) out.delete(agent)
      world.say(
        [`The key of ${labelOf(name)} is stored in ${places[place]}.`, ...firstWords(name, native.env)].join(' '),
        'note',
      )
    },
  }
}

async function connected(keys: Keys, name: ProviderName, { ask, signal }: CommandWorld): Promise<KeyPlace | undefined> {
  const text = `Type the API key of ${labelOf(name)}. termaite stores it with your other keys and never shows it in the conversation.`
  const unanswered = 'store no key'
  const picks = await ask({ about: 'login', text, from: [], free: true, secret: true, options: [], unanswered }, signal)
  const key = picks?.[0]?.trim()
  if (!key) return undefined
  // A header cannot hold these characters, and fetch's own error would quote the key.
  if (!/^[\x21-\x7e]+$/.test(key)) throw new UsageError('a key is one word of plain characters. Nothing was stored.')
  return keys.put(name, key)
}

async function forgotten(keys: Keys, name: ProviderName): Promise<string> {
  const was = await keys.remove(name)
  return was ? `The stored key of ${labelOf(name)} was deleted.` : `There is no stored key of ${labelOf(name)}.`
}

const pickProvider = (world: CommandWorld) =>
  choose(
    world,
    'Which provider is the key for?',
    remote.map((id) => ({ id, label: labelOf(id) })),
  )

/** The error does not repeat the typed text, because it may be a key. */
function providerTyped(typed: string): ProviderName {
  const name = names.find((one) => one === typed.toLowerCase())
  if (name === undefined) throw new UsageError(`there is no provider of that name; there are ${remote.join(', ')}.`)
  const { label, local } = providerOf(name)
  if (hasOwnLogin(name))
    throw new UsageError(`${label} takes no key. termaite doctor says which login it uses, or what to do without one.`)
  if (local) throw new UsageError(`${label} runs on this machine and needs no key; ${local.start}.`)
  return name
}

/** Whether a provider is a cloud that can be used only through the login of its own tools. */
function hasOwnLogin(name: ProviderName): boolean {
  const { cloud, keys } = providerOf(name)
  return cloud !== undefined && keys.length === 0
}

/** Warns when an environment variable overrides the stored key. */
function firstWords(name: ProviderName, env: Env): string[] {
  const variable = providerOf(name).keys.find((one) => env[one])
  return variable === undefined ? [] : [`${variable} is set and overrides it.`]
}

function labelOf(name: ProviderName): string {
  return name === 'compatible' ? 'a compatible server' : providerOf(name).label
}
