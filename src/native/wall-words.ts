import type { Leash } from '../core/work/agent.ts'
import type { WallFacts } from '../safety/rules/command-place.ts'
import type { Wall } from '../safety/wall/wall.ts'
import type { Settings } from '../settings/settings.ts'
import { isWalled } from './command-wall.ts'

/** Explains to the person whether and how the commands of a leash are sandboxed. */
export async function sandboxWords(settings: Settings, wall: Wall, leash: Leash): Promise<string> {
  const { enabled, network } = settings.sandbox
  if (enabled && !isWalled({ settings }, leash)) return 'Commands run without a sandbox: the leash is all.'
  const none = enabled ? await wall.none() : 'the settings switch it off'
  if (none !== undefined) return unwalledWords(none, leash)
  if (leash === 'read')
    return `Commands run in a sandbox that lets them write nothing; keys are hidden, and the network ${openings.read[network]}.`
  const held =
    leash === 'edit'
      ? ' Commands inside the sandbox run without a question; termaite asks before one runs outside.'
      : ''
  return `Commands run in a sandbox: the project is writable, the system and your toolchains can be read, the rest of your home is hidden, and the network ${openings.edit[network]}.${held}`
}

/** Explains why there is no sandbox, and what then applies to the commands of a leash. */
export const unwalledWords = (none: string, leash: Leash): string => `${missingWords(none)} ${heldWords[leash]}`

const missingWords = (none: string): string => `There is no sandbox here: ${none.replace(/\.$/, '')}.`

const askedWords =
  'termaite asks before each command, except a few that only show files and those that a rule of yours names word for word.'

const heldWords: Readonly<Record<Leash, string>> = {
  read: 'On the leash read, commands are refused, except a few that only show files.',
  ask: askedWords,
  edit: askedWords,
  all: 'On the leash all, commands run without a question.',
}

const flagWords =
  'Agents of other vendors are restricted by the flags of their own CLIs alone, and one with "wall": true does not run.'

/** Says on one line what the sandbox of this machine, or the lack of one, means for agents of other vendors. */
export const othersWords = (none: string | undefined): string =>
  none === undefined
    ? 'This machine has a sandbox: agents of other vendors run in it when they are only asked for advice, and always with "wall": true in their settings.'
    : `${missingWords(none)} ${flagWords}`

/** Says what the sandbox of this machine means for agents: for the commands of our own, by leash, and for those of other vendors. */
export async function machineWords(
  settings: Settings,
  wall: Wall,
  { leashes, others }: { leashes: readonly Leash[]; others: boolean },
): Promise<string[]> {
  const none = await wall.none()
  if (none === undefined) {
    const words = await Promise.all(leashes.map((leash) => sandboxWords(settings, wall, leash)))
    return words.map((text, i) => (leashes.length > 1 ? `Leash ${leashes[i]}: ${text}` : text))
  }
  const own = new Set(leashes.map((leash) => heldWords[leash]))
  return [
    missingWords(none),
    ...(own.size > 0 ? [`termaite’s own agent: ${[...own].join(' ')}`] : []),
    ...(others ? [flagWords] : []),
  ]
}

const openings = {
  read: { rule: 'is open if a rule allows it', all: 'is open', none: 'is closed' },
  edit: { rule: 'is open if a rule or your yes allows it', all: 'is open', none: 'is closed' },
}

/** Tells the model how its commands are restricted; `wall` is undefined if there is no wall. */
export function wallPrompt(leash: Leash, wall: WallFacts | undefined): string {
  if (!wall) return bare[leash]
  const network = { open: 'an open network', asked: 'no network unless the user allows it', closed: 'no network' }
  const writable = leash === 'read' ? 'only to /tmp' : 'only to the project and /tmp'
  return `Commands run in a sandbox: they can write ${writable} (emptied after the turn), and have no keys and ${network[wall.network]}.`
}

const asked =
  "There is no sandbox: each command needs the user's yes, except plain ls, cat, head, tail, wc and git status."

const bare: Readonly<Record<Leash, string>> = {
  read: 'There is no sandbox: commands are refused, except plain ls, cat, head, tail, wc and git status.',
  ask: asked,
  edit: asked,
  all: 'Commands run without a sandbox.',
}
