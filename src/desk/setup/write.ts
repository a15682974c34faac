import type { Leash } from '../../core/work/agent.ts'
import type { FileSettings } from '../../settings/settings-schema.ts'
import type { Offer } from '../../app/offers/agent-offers.ts'
import { copyFileSync, existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { writeSettings } from '../../settings/settings-editor.ts'

/** Who was found and who of them takes turns, in their order. */
export type Plan = { found: readonly Offer[]; chosen: readonly Offer[]; leash: Leash }

/** Those that are chosen and can be held to the leash. */
export function heldIn({ chosen, leash }: Plan): Offer[] {
  return chosen.filter((offer) => offer.means(leash) !== undefined)
}

/** Everyone who was found is written down, so that switching one on is one word. */
export function settingsFor(plan: Plan): FileSettings {
  const held = heldIn(plan)
  const agents = [...held, ...plan.found.filter((offer) => !held.includes(offer))].map((offer) => ({
    ...offer.settings(plan.leash),
    ...(held.includes(offer) ? {} : { enabled: false }),
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
