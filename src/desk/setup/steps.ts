import type { Clock } from '../../base/clock.ts'
import type { Sources, Offer } from '../../app/offers/agent-offers.ts'
import type { Person } from './questions.ts'
import type { Plan } from './write.ts'
import { profiles } from '../../profiles/all.ts'
import { installedProfiles } from '../../app/installed-programs.ts'
import { nativeOffers, sourcesOf, cliOffer } from '../../app/offers/agent-offers.ts'
import { chooseAgents, chooseLeash, leashOn, mayReplace } from './questions.ts'
import { heldIn, replaceSettings, settingsFor, settingsIn } from './write.ts'

export type SetupWorld = Person & {
  say(text: string, how?: 'error'): void
  env: Record<string, string | undefined>
  home: string
  clock: Clock
  sources?: Sources
}

/** Finds the CLIs and the models of this machine, asks who takes turns and what they may do, and writes the settings. */
export async function runSetup(world: SetupWorld): Promise<'written' | 'nothing found' | 'left'> {
  const { env, sources = sourcesOf(world) } = world
  const clis = installedProfiles(env).map((profile) => cliOffer(profile, env))
  const found = [...clis, ...(await nativeOffers(sources, env))]
  if (found.length === 0) {
    world.say(nothingWords(), 'error')
    return 'nothing found'
  }
  world.say(['Found on this machine:', '', ...foundLines(found), ''].join('\n'))
  const plan = await choices(world, found)
  if (!plan) {
    world.say('Nothing was changed.')
    return 'left'
  }
  const file = replaceSettings(world.home, settingsFor(plan), world.clock.now())
  world.say(writtenWords(file, plan))
  return 'written'
}

async function choices(world: SetupWorld, found: readonly Offer[]): Promise<Plan | undefined> {
  const chosen = await chooseAgents(world, found)
  const leash = chosen && (await chooseLeash(world, chosen))
  if (!leash) return undefined
  const before = settingsIn(world.home)
  return before.length === 0 || (await mayReplace(world, before)) ? { found, chosen, leash } : undefined
}

/** Two lines each, because a table of so many words fits no terminal. */
function foundLines(found: readonly Offer[]): string[] {
  return found.flatMap((offer) => [`  ${offer.title} · ${offer.words}`, `    ${leashOn(offer, 'ask')}`])
}

function nothingWords(): string {
  return [
    'no agent CLI is installed here. Install one, then run setup again:',
    ...profiles.slice(0, 4).map(({ title, install }) => `  ${title.padEnd(12)} ${install}`),
    'Or set the key of a provider (ANTHROPIC_API_KEY, GROQ_API_KEY, …) or start Ollama for our own agent.',
    'Or see it work without any: termaite demo',
  ].join('\n')
}

function writtenWords(file: string, plan: Plan): string {
  const held = heldIn(plan)
  const off = plan.chosen.filter((offer) => !held.includes(offer))
  return [
    ...off.map(({ name }) => `${name} cannot be held to the leash "${plan.leash}" and is switched off; ${trusted}\n`),
    held.length === 0
      ? `Wrote ${file}, but nobody takes turns yet.`
      : `Wrote ${file}: ${held.map(({ name }) => name).join(' → ')}, each until it fails.`,
  ].join('\n')
}

const trusted = 'to let it do everything, give it "enabled": true and "leash": "all" with: termaite config edit'
