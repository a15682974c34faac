import type { Clock } from '../base/time/clock.ts'
import type { Sources, Offer } from '../people/offers/agent-offers.ts'
import type { Leash } from '../core/work/agent.ts'
import type { KnownOffer, KnownSettings } from '../people/offers/known-agents.ts'
import type { FileSettings } from '../settings/settings-schema.ts'
import type { WrittenAgent } from '../settings/agent-settings.ts'
import type { Ask, Question } from '../core/talk/question.ts'
import type { Wall } from '../safety/wall/wall.ts'
import { projectRoot } from '../base/files/git.ts'
import { withoutProject } from '../base/process/program-path.ts'
import { allProfiles } from '../profiles/all.ts'
import { installedProfiles } from '../profiles/installed-programs.ts'
import { nativeOffers, sourcesOf, cliOffer } from '../people/offers/agent-offers.ts'
import { borderOf } from '../border/border.ts'
import { knownSettings, withAgents, withKnown } from '../people/offers/known-agents.ts'
import { UsageError } from '../core/io.ts'
import { copyFileSync, existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { leashOf } from '../settings/enabled-agents.ts'
import { rewriteSettings, writeSettings } from '../settings/settings-editor.ts'
import { leashMeanings } from '../core/work/agent.ts'
import { wallOf } from '../safety/wall/wall.ts'
import { othersWords, unwalledWords } from '../native/wall-words.ts'
import { consentOptions } from '../core/talk/consent.ts'

type SetupWorld = Person & {
  say(text: string, how?: 'error'): void
  env: Record<string, string | undefined>
  /** The folder that the setup runs in: a program of its project does not count as a CLI of this machine. */
  cwd: string
  home: string
  clock: Clock
  sources?: Sources
  wall?: Wall
  /** Whether the screen itself says what to do when nothing is found. */
  guided?: boolean
  /** Whether a person answers: only then may things that they set up for other CLIs be taken into use. */
  attended?: boolean
}

/** Finds the CLIs and models on this machine, asks which agents take turns and what they may do, and writes the settings. */
export async function runSetup(world: SetupWorld): Promise<'written' | 'nothing found' | 'left'> {
  const { env, sources = sourcesOf(world) } = world
  const clis = installedProfiles(world).map((profile) => cliOffer(profile, env))
  const found = [...clis, ...(await nativeOffers(sources, env))]
  if (found.length === 0) {
    if (!world.guided) world.say(nothingWords(), 'error')
    return 'nothing found'
  }
  const known = await knownSettings(world.home)
  const all = withKnown(found, known?.agents ?? [])
  const title = known?.agents.length ? 'Your agents, and what was found on this machine:' : 'Found on this machine:'
  world.say([title, '', ...foundLines(all), ''].join('\n'))
  const plan = await choices(world, all, known?.leash)
  const words = plan && (known ? await changeSettings(world, plan, known) : await newSettings(world, plan))
  if (words === undefined) {
    world.say('Nothing was changed.')
    return 'left'
  }
  world.say(words)
  const past = await pastWords(world)
  if (past !== undefined) world.say(past)
  await offerOthers(world)
  return 'written'
}

/** Offers to use the things that the person has set up for other CLIs. If nobody answers, only mentions them. */
async function offerOthers(world: SetupWorld): Promise<void> {
  const { env, cwd, home, clock } = world
  const [{ offerBelongings, newThings }, { hasBelongings }, { fileStore }] = await Promise.all([
    import('./belongings-offer.ts'),
    import('../people/belongings/belongings-search.ts'),
    import('../store/files/file-store.ts'),
  ])
  const store = fileStore(home, { clock, tell: (words) => world.say(words, 'error') })
  const offers = { ...world, place: { home, cwd, root: projectRoot(cwd), env }, store }
  const known = allProfiles().filter(hasBelongings)
  if (world.attended) await offerBelongings(offers, known)
  else {
    const words = await newThings(offers, known)
    if (words !== undefined) world.say(words)
  }
}

/** Offers the earlier sessions of other CLIs in this project, if there are any. Their files are only counted here. */
async function pastWords({ env, cwd }: SetupWorld): Promise<string | undefined> {
  const { countPast } = await import('../people/import/past-session.ts')
  const { hasPast } = await import('../people/import/session-files.ts')
  const counts: string[] = []
  for (const profile of allProfiles().filter(hasPast)) {
    const count = await countPast(profile, { home: env.HOME ?? '', env }, projectRoot(cwd)).catch(() => 0)
    if (count > 0) counts.push(`${count} of ${profile.title}`)
  }
  if (counts.length === 0) return undefined
  return `There are earlier sessions in this project: ${counts.join(', ')}. To search and continue them here: termaite import`
}

async function choices(
  world: SetupWorld,
  found: readonly KnownOffer[],
  held: Leash | undefined,
): Promise<SetupPlan | undefined> {
  const chosen = await chooseAgents(world, found)
  const leash = chosen && (await chooseLeash(world, chosen, held))
  if (!leash) return undefined
  const own = await chooseOwnLeash(world, chosen, leash)
  return own && { found, chosen, leash, own }
}

/** Writes settings if none exist, or replaces settings that cannot be changed in part. Undefined if the person keeps the old ones. */
async function newSettings(world: SetupWorld, plan: SetupPlan): Promise<string | undefined> {
  const before = settingsIn(world.home)
  if (before.length > 0 && !(await mayReplace(world, before))) return undefined
  const agents = agentsFor(plan)
  const settings: FileSettings = { rotationStrategy: 'exhaustion', leash: plan.leash, agents }
  const { file, copies } = await replaceSettings(world.home, settings, world.clock.now())
  const kept = copies.map((copy) => `The previous settings are kept as ${copy}; what you had added is only there now.`)
  return [...writtenWords(file, plan, agents, ', each until it fails'), ...kept].join('\n')
}

/** Changes only the agents and the leash in the existing settings. Undefined if the person keeps them as they are. */
async function changeSettings(world: SetupWorld, plan: SetupPlan, known: KnownSettings): Promise<string | undefined> {
  const { file, text: before } = known
  const agents = agentsFor(plan)
  const after = withAgents(known, agents, plan.leash)
  if (after === before) return `${file} says all of this already, so it stays as it is.`
  if (!(await mayChange(world, { file, before, after }))) return undefined
  if (readFileSync(file, 'utf8') !== before)
    throw new UsageError(`${file} was changed meanwhile, so nothing was written. Run termaite setup again.`, 1)
  const copy = copyOf(file, world.clock.now())
  copyFileSync(file, copy)
  await rewriteSettings(world.home, after)
  return [...writtenWords(file, plan, agents), `The previous settings are kept as ${copy}.`].join('\n')
}

/** Says what a sandbox means on this machine. If there is one, offers to let our own agent work inside it without asking. */
async function chooseOwnLeash(world: SetupWorld, chosen: readonly Offer[], leash: Leash): Promise<Leash | undefined> {
  const { env, cwd } = world
  const { wall = wallOf({ platform: process.platform, env: withoutProject(env, cwd) }) } = world
  const none = await wall.none()
  if (!chosen.some(({ own }) => own)) {
    world.say(othersWords(none))
    return leash
  }
  if (none !== undefined) world.say(`termaite’s own agent: ${unwalledWords(none, leash)}`)
  if (none !== undefined || leash !== 'ask') return leash
  const picks = await asked(world, {
    text: 'May termaite’s own agent work in its sandbox without asking?',
    shows: [{ type: 'text', text: insideWords }],
    options: consentOptions({
      always: { id: 'edit', label: 'Yes, and ask before it leaves the sandbox (leash edit)' },
      no: { id: 'ask', label: 'No, ask before every action (leash ask)' },
    }),
    unanswered: 'cancel the setup',
  })
  return (['edit', 'ask'] as const).find((one) => picks?.includes(one))
}

const insideWords =
  'This machine has a sandbox: commands in it can write the project alone, see no keys and have no network. Leaving it always asks: the network, files outside the project, installations, your keys, Docker.'

/** One line for each agent. The choice of the leash, and the summary after writing it, say how much each may do. */
function foundLines(found: readonly KnownOffer[]): string[] {
  return found.map((offer) => `  ${offer.title} · ${offer.words}`)
}

function nothingWords(): string {
  return [
    'no agent CLI is installed here. Install one, then run termaite setup (/setup in the chat):',
    ...allProfiles()
      .slice(0, 4)
      .map(({ title, install }) => `  ${title.padEnd(12)} ${install}`),
    'Or set the key of a provider (ANTHROPIC_API_KEY, GROQ_API_KEY, …) or start Ollama for termaite’s own agent.',
    'Or watch termaite work without any agent: termaite demo',
  ].join('\n')
}

/** Says what was written, which agents take turns, and what each may do; `how` says how turns pass from one agent to the next. */
function writtenWords(file: string, plan: SetupPlan, agents: readonly WrittenAgent[], how = ''): string[] {
  const held = heldIn(plan)
  const off = plan.chosen.filter((offer) => !held.includes(offer))
  return [
    ...off.map(
      ({ name }) => `${name} cannot be restricted to the leash "${plan.leash}" and is switched off; ${trusted}\n`,
    ),
    held.length === 0
      ? `Wrote ${file}, but no agent takes turns yet.`
      : `Wrote ${file}: turns go to ${held.map(({ name }) => name).join(' → ')}${held.length > 1 ? how : ''}.`,
    ...held.map((offer) => `  ${offer.name}: ${heldWords(offer, plan, agents)}`),
  ]
}

/** Says what an agent may do under the settings that were written. */
function heldWords(offer: KnownOffer, plan: SetupPlan, agents: readonly WrittenAgent[]): string {
  const leash = leashOf(
    plan,
    agents.find(({ name }) => name === offer.name),
  )
  const words = leashOn(offer, leash)
  const isItsOwn = offer.known?.leash !== undefined || offer.known?.command !== undefined
  return isItsOwn ? words : `leash ${leash}, ${words}`
}

const trusted = 'to let it do everything, give it "enabled": true and "leash": "all" with: termaite config edit'

/** The agents that were found, the chosen ones in order, their leash, and the leash of our own agent. */
type SetupPlan = { found: readonly KnownOffer[]; chosen: readonly KnownOffer[]; leash: Leash; own: Leash }

/** The chosen agents that can be limited by the leash. */
function heldIn({ chosen, leash }: SetupPlan): KnownOffer[] {
  return chosen.filter((offer) => offer.means(leash) !== undefined)
}

/**
 * Writes down every agent that was found, so that enabling one later means changing one word. Known agents keep the settings that the
 * person gave them.
 */
function agentsFor(plan: SetupPlan): WrittenAgent[] {
  const held = heldIn(plan)
  const written = (offer: KnownOffer): WrittenAgent => {
    const { enabled, ...agent } = offer.settings(plan.leash)
    if (!held.includes(offer)) return { ...offer.settings(plan.leash), enabled: false }
    const own = offer.own && plan.own !== plan.leash ? { leash: plan.own } : {}
    return { ...agent, ...own, ...(enabled === true ? { enabled } : {}) }
  }
  const ordered = plan.found.filter((offer) => held.includes(offer))
  const isSameOrder = plan.found.some(({ known }) => known) && ordered.every((offer, at) => offer === held[at])
  // If the order stays the same, disabled agents keep their places in the settings.
  if (isSameOrder) return plan.found.map(written)
  return [...held, ...plan.found.filter((offer) => !held.includes(offer))].map(written)
}

/** The settings files that already exist. */
function settingsIn(home: string): string[] {
  return ['settings.json', 'config.yaml'].map((name) => join(home, name)).filter(existsSync)
}

/**
 * Writes the new settings before it removes an old config.yaml, which would otherwise be read as well. Also returns the copies of the old
 * ones.
 */
async function replaceSettings(
  home: string,
  settings: FileSettings,
  now: number,
): Promise<{ file: string; copies: string[] }> {
  const before = settingsIn(home)
  const copies = before.map((old) => copyOf(old, now))
  for (const [index, old] of before.entries()) copyFileSync(old, copies[index]!)
  const file = await writeSettings(home, settings)
  for (const old of before) if (old !== file) rmSync(old)
  return { file, copies }
}

const copyOf = (file: string, now: number) => `${file}.${new Date(now).toISOString().replaceAll(/[:.]/g, '-')}.bak`

/** How the setup asks the person. The marked options of a question are the default, else its first option. */
type Person = { ask: Ask; signal: AbortSignal }

/** Asks which agents take turns, and in what order; undefined when the user cancels. */
export async function chooseAgents(person: Person, found: readonly KnownOffer[]): Promise<KnownOffer[] | undefined> {
  if (found.length === 1) return [...found]
  const picks = await asked(person, {
    text: 'Which agents, in what order?',
    multiple: true,
    ordered: true,
    suggests: true,
    marked: usualOf(found).map(({ name }) => name),
    options: found.map(({ name, title }) => ({ id: name, label: title })),
  })
  return picks?.flatMap((pick) => found.filter(({ name }) => name === pick))
}

/** The agents that already take turns, and new CLIs. Agents that cost money or are slow are chosen only if the user picks them. */
function usualOf(found: readonly KnownOffer[]): readonly KnownOffer[] {
  const usual = found.filter(({ aside, known }) => (known ? known.enabled !== false : !aside))
  return usual.length > 0 ? usual : found
}

/** Never offers `all` unless it is already in the settings, because setup must not switch off a CLI's own safety. */
const usualLeashes: readonly Leash[] = ['ask', 'edit', 'read']

/** Asks for the leash; Enter keeps the one in the settings. */
export async function chooseLeash(
  person: Person,
  chosen: readonly KnownOffer[],
  held?: Leash,
): Promise<Leash | undefined> {
  const offered = [...new Set([...usualLeashes, ...(held ? [held] : [])])]
  const meaning = (leash: Leash) => chosen.map((offer) => `  ${offer.name}: ${leashOn(offer, leash)}`).join('\n')
  const picks = await asked(person, {
    text: 'How much may the agents do?',
    shows: [{ type: 'text', text: offered.map((leash) => `${leash}\n${meaning(leash)}`).join('\n') }],
    options: offered.map((leash) => ({
      id: leash,
      label: `${leash}: ${leashMeanings[leash]}${leash === held ? ' (as now)' : ''}`,
    })),
    suggests: true,
    enter: held ?? offered[0]!,
  })
  return offered.find((leash) => picks?.includes(leash))
}

export async function mayReplace(person: Person, before: readonly string[]): Promise<boolean> {
  const picks = await asked(person, {
    about: 'permission',
    text: `${before.join(' and ')} ${before.length > 1 ? 'exist' : 'exists'} already. Replace? termaite keeps a copy.`,
    options: consentOptions({
      once: { id: 'replace', label: 'Yes, replace it' },
      no: { id: 'leave', label: 'No, leave it as it is' },
    }),
  })
  return picks?.includes('replace') === true
}

/** Shows the lines that would change, with secrets masked. */
async function mayChange(world: SetupWorld, { file, before, after }: { file: string; before: string; after: string }) {
  const border = borderOf(world.env, world.home)
  const masked = (text: string) => border.to('export', text)
  const picks = await asked(world, {
    about: 'permission',
    text: `Change ${file}? Everything else in it stays, and termaite keeps a copy.`,
    shows: [{ type: 'diff', path: file, before: masked(before), after: masked(after) }],
    options: consentOptions({
      once: { id: 'change', label: 'Yes, change it' },
      no: { id: 'leave', label: 'No, leave it as it is' },
    }),
  })
  return picks?.includes('change') === true
}

function leashOn(offer: Offer, leash: Leash): string {
  return offer.means(leash) ?? 'has no setting for this leash'
}

function asked({ ask, signal }: Person, question: Partial<Question> & Pick<Question, 'text' | 'options'>) {
  return ask({ about: 'choice', from: [], unanswered: 'cancel the setup', ...question }, signal)
}
