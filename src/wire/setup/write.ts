import type { Profile } from '../../core/screen/profile.ts'
import type { Leash } from '../../core/work/agent.ts'
import type { FileSettings } from '../settings/schema.ts'
import { copyFileSync, existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { channelFor } from '../channel.ts'
import { writeSettings } from '../settings/write.ts'

/** Who was found and who of them takes turns, in their order. */
export type Plan = { found: readonly Profile[]; chosen: readonly Profile[]; leash: Leash }

/** Those that are chosen and can be held to the leash. */
export function heldIn({ chosen, leash }: Plan): Profile[] {
  return chosen.filter((profile) => channelFor(profile, leash) !== undefined)
}

/** Everyone who was found is written down, so that switching one on is one word. */
export function settingsFor(plan: Plan): FileSettings {
  const held = heldIn(plan)
  const agents = [...held, ...plan.found.filter((profile) => !held.includes(profile))].map((profile) => ({
    name: profile.name,
    profile: profile.name,
    ...(channelFor(profile, plan.leash)?.kind === 'acp' ? { kind: 'acp' as const } : {}),
    contextWindowTokens: profile.window,
    ...(held.includes(profile) ? {} : { enabled: false }),
  }))
  return { rotationStrategy: 'exhaustion', leash: plan.leash, agents }
}

/** The settings that are there already. */
export function settingsIn(home: string): string[] {
  return ['settings.json', 'config.yaml'].map((name) => join(home, name)).filter(existsSync)
}

/** The new settings are there before an old config.yaml goes: beside them it would still be read. */
export function replaceSettings(home: string, settings: FileSettings, now: number): string {
  const before = settingsIn(home)
  const moment = new Date(now).toISOString().replaceAll(/[:.]/g, '-')
  for (const old of before) copyFileSync(old, `${old}.${moment}.bak`)
  const file = writeSettings(home, settings)
  for (const old of before) if (old !== file) rmSync(old)
  return file
}
