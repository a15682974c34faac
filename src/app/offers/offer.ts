import type { Profile } from '../../core/work/profile.ts'
import type { Leash } from '../../core/work/agent.ts'
import type { WrittenAgent } from '../../settings/agent-settings.ts'
import type { Io } from '../../core/io.ts'
import { channelFor } from '../channel.ts'
import { loginTraces } from '../found.ts'

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
