import { defined } from '../../base/defined.ts'
import type { WrittenAgent } from '../../settings/agent-settings.ts'
import type { Profile } from '../../core/profile/profile.ts'
import type { Leash } from '../../core/work/agent.ts'
import type { Io } from '../../core/io.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { LocalServer } from '../../models/open/local-servers.ts'
import type { CloudName, ProviderName } from '../../models/provider.ts'
import type { Keys } from '../../safety/api-keys.ts'
import { channelFor } from '../../turn/agent-channel.ts'
import { hasLogin } from '../../profiles/installed-programs.ts'
import { localServers } from '../../models/open/local-servers.ts'
import { providerOf, providers } from '../../models/provider.ts'
import { knownOf, localWindow, unknownWindow } from '../../models/model-windows.ts'
import { openKeys } from '../../safety/api-keys.ts'
import { cloudLogin, providerKeyPlace } from '../../turn/provider-key.ts'
import { nativeLeashes } from '../../native/native-seat.ts'

/** An agent that setup can offer. */
export type Offer = {
  name: string
  title: string
  /** How the agent is reached, and whether it is logged in. */
  words: string
  /** Whether the agent is not preselected beside other agents, because its model is paid by use or is small. */
  aside?: true
  /** Whether the agent is our own, whose commands run behind the wall of this machine. */
  own?: true
  /** Says what the agent may do on a leash; undefined if the leash cannot limit it. */
  means(leash: Leash): string | undefined
  settings(leash: Leash): WrittenAgent
}

/** Offers a CLI that is installed on this machine. */
export function cliOffer(profile: Profile, env: Io['env']): Offer {
  const { name, title, window, login } = profile
  const reached = channelFor(profile, 'ask')?.words ?? 'one-way pipe'
  return {
    name,
    title,
    words: `${reached} · ${hasLogin(profile, env) ? 'login found' : `if it is not logged in: ${login}`}`,
    means: (leash) => channelFor(profile, leash)?.leashes[leash],
    settings: (leash) =>
      defined({
        name,
        profile: name,
        kind: channelFor(profile, leash)?.kind === 'acp' ? ('acp' as const) : undefined,
        contextWindowTokens: window,
      }),
  }
}

/** Where to look for models; tests pass in their own sources. Without `cloud`, the clouds of other companies are skipped. */
export type Sources = {
  keys: Keys
  servers(): Promise<LocalServer[]>
  /** Says which login a call of a cloud's model would use, or why it cannot be called. */
  cloud?(name: CloudName, model: string, key: string | undefined): ReturnType<typeof cloudLogin>
}

export function sourcesOf(world: { env: Io['env']; home: string; clock: Clock }): Sources {
  return {
    keys: openKeys(world),
    servers: () => localServers(world.clock),
    cloud: (name, model, key) => cloudLogin(name, model, world, defined({ key })),
  }
}

/** Offers our own agent for each provider that has a key here, and for each model server on this machine. */
export async function nativeOffers(sources: Sources, env: Io['env']): Promise<Offer[]> {
  const names = Object.keys(providers) as ProviderName[]
  const [keyed, local] = await Promise.all([
    Promise.all(
      names.map((name) => (providerOf(name).cloud ? onCloud(name, sources) : onKey(name, sources.keys, env))),
    ),
    sources.servers(),
  ])
  return [...keyed, ...local.map(onServer)].filter((offer) => offer !== undefined)
}

async function onKey(name: ProviderName, keys: Keys, env: Io['env']): Promise<Offer | undefined> {
  const { usual, keys: variables } = providerOf(name)
  const place = usual === undefined ? undefined : await providerKeyPlace(keys, name, variables, env)
  if (usual === undefined || place === undefined) return undefined
  return offer(name, usual, `key in ${place}`, { contextWindowTokens: knownOf(name, usual).window })
}

/** Offers our own agent on a cloud whose credential and location are found here. */
async function onCloud(name: ProviderName, { keys, cloud: login }: Sources): Promise<Offer | undefined> {
  const { usual, cloud, keys: variables } = providerOf(name)
  if (!cloud || usual === undefined || !login) return undefined
  const found = await login(cloud, usual, (await keys.get(name, variables))?.key)
  return 'why' in found
    ? undefined
    : offer(name, usual, found.place, { contextWindowTokens: knownOf(name, usual).window })
}

/** Offers our own agent on a local server. A small window gets its own view, because it would cut the view of the other agents. */
function onServer({ provider, models }: LocalServer): Offer | undefined {
  const [model] = models.filter(({ id }) => !/embed/i.test(id))
  if (!model) return undefined
  const window = model.window ?? localWindow
  return offer(provider, model.id, 'on this machine', {
    contextWindowTokens: window,
    ownView: window < unknownWindow || undefined,
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
    words: `termaite’s own agent, asks for permission here · ${model} · ${found}`,
    aside: true,
    own: true,
    means: (leash) => nativeLeashes[leash],
    settings: () => defined({ name, kind: 'native' as const, model: `${name}/${model}`, ...more }),
  }
}
