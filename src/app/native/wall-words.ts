import type { Leash } from '../../core/work/agent.ts'
import type { WallFacts } from '../../safety/rules/command-place.ts'
import type { Wall } from '../../safety/wall/wall.ts'
import type { Settings } from '../../settings/settings.ts'
import { isWalled } from './native-sandbox.ts'

/** Says to the person whether and how the commands of a leash are sandboxed. */
export async function sandboxWords(settings: Settings, wall: Wall, leash: Leash): Promise<string> {
  const { enabled, network } = settings.sandbox
  if (enabled && !isWalled({ settings }, leash)) return 'Commands run without a sandbox: the leash is all.'
  const none = enabled ? await wall.none() : 'the settings switch it off'
  if (none !== undefined) return `${unwalledWords(none)}${leash === 'read' ? onlyUnderstood : ''}`
  if (leash === 'read')
    return `Commands run in a sandbox that lets them write nothing; keys are hidden, and the network ${openings.read[network]}.`
  const held =
    leash === 'edit'
      ? ' Commands inside the sandbox run without a question; termaite asks before one runs outside.'
      : ''
  return `Commands run in a sandbox: the project is writable, the system and your toolchains can be read, the rest of your home is hidden, and the network ${openings.edit[network]}.${held}`
}

export const unwalledWords = (none: string): string =>
  `Commands run without a sandbox: ${none.replace(/\.$/, '')}. Only the permission rules restrict them.`

const onlyUnderstood = ' On the leash read, a command runs only if the rules understand all of it.'

const openings = {
  read: { rule: 'is open where a rule allows it', all: 'is open', none: 'is closed' },
  edit: { rule: 'is open where a rule or your yes allows it', all: 'is open', none: 'is closed' },
}

/** Tells the model how its commands are restricted; `wall` is undefined where there is no wall. */
export function wallPrompt(leash: Leash, wall: WallFacts | undefined): string {
  if (!wall) return 'Commands run without a sandbox.'
  const network = { open: 'an open network', asked: 'no network unless the user allows it', closed: 'no network' }
  const writable = leash === 'read' ? 'only to /tmp' : 'only to the project and /tmp'
  return `Commands run in a sandbox: they can write ${writable} (emptied after the turn), and have no keys and ${network[wall.network]}.`
}
