import type { WrittenAgent } from '../../settings/agent-settings.ts'
import type { Profile } from '../../core/work/profile.ts'
import type { Leash } from '../../core/work/agent.ts'
import type { Io } from '../../core/io.ts'
import type { Clock } from '../../base/clock.ts'
import type { LocalServer } from '../../models/local-servers.ts'
import type { ProviderName } from '../../models/provider.ts'
import type { Keys } from '../../safety/api-keys.ts'
import { channelFor } from '../agent-channel.ts'
import { loginTraces } from '../installed-programs.ts'
import { localServers } from '../../models/local-servers.ts'
import { providerOf, providers } from '../../models/provider.ts'
import { knownOf, localWindow, unknownWindow } from '../../models/model-windows.ts'
import { openKeys } from '../../safety/api-keys.ts'
import { keyPlace } from '../provider-key.ts'
import { nativeLeashes } from '../native/native-seat.ts'

/** Somebody who could take turns. */
export type Offer = {
  name: string
  title: string
  /** How it is reached, and whether it is let in. */
  words: string
  /** Where others are, it takes turns only when it is picked: its model is paid by use, or small. */
  aside?: true
  /** What it may do on a leash; undefined when it cannot be held to it. */
  means(leash: Leash): string | undefined
  settings(leash: Leash): WrittenAgent
}

/** A CLI that is installed here. */
export function cliOffer(profile: Profile, env: Io['env']): Offer {
  const { name, title, window, login } = profile
  const reached = channelFor(profile, 'ask')?.words ?? 'one-way pipe'
  return {
    name,
    title,
    words: `${reached} · ${loginTraces(profile, env) ? 'login found' : `log in with: ${login}`}`,
    means: (leash) => channelFor(profile, leash)?.leashes[leash],
    settings: (leash) => ({
      name,
      profile: name,
      ...(channelFor(profile, leash)?.kind === 'acp' ? { kind: 'acp' as const } : {}),
      contextWindowTokens: window,
    }),
  }
}

/** Where models are looked for; tests have their own. */
export type Sources = { keys: Keys; servers(): Promise<LocalServer[]> }

export function sourcesOf(world: { env: Io['env']; home: string; clock: Clock }): Sources {
  return { keys: openKeys(world), servers: () => localServers(world.clock) }
}

/** Our own agent on each provider that has a key here, and on each model server of this machine. */
export async function nativeOffers({ keys, servers }: Sources, env: Io['env']): Promise<Offer[]> {
  const names = Object.keys(providers) as ProviderName[]
  const [keyed, local] = await Promise.all([Promise.all(names.map((name) => onKey(name, keys, env))), servers()])
  return [...keyed, ...local.map(onServer)].filter((offer) => offer !== undefined)
}

async function onKey(name: ProviderName, keys: Keys, env: Io['env']): Promise<Offer | undefined> {
  const { usual, keys: variables } = providerOf(name)
  const place = usual === undefined ? undefined : await keyPlace(keys, name, variables, env)
  if (usual === undefined || place === undefined) return undefined
  return offer(name, usual, `key in ${place}`, { contextWindowTokens: knownOf(name, usual).window })
}

/** A window that is smaller than what the others share would cut their view: it gets a view of its own. */
function onServer({ provider, models }: LocalServer): Offer | undefined {
  const [model] = models.filter(({ id }) => !/embed/i.test(id))
  if (!model) return undefined
  const window = model.window ?? localWindow
  return offer(provider, model.id, 'on this machine', {
    contextWindowTokens: window,
    ...(window < unknownWindow ? { ownView: true } : {}),
  })
}

function offer(
  name: ProviderName,
  model: string,
  found: string,
  more: { contextWindowTokens: number; ownView?: boolean },
): Offer {
  return {
    name,
    title: `termaite on ${providerOf(name).label}`,
    words: `our own agent, asks for permission here · ${model} · ${found}`,
    aside: true,
    means: (leash) => nativeLeashes[leash],
    settings: () => ({ name, kind: 'native', model: `${name}/${model}`, ...more }),
  }
}
