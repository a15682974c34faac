/** All offers that a machine can make to people elsewhere. The machine itself decides which of them it makes, whatever its hub says. */
export const machineOffers = ['turns', 'answers', 'terminals', 'typing', 'prompts', 'conversations'] as const

export type MachineOffer = (typeof machineOffers)[number]

/** Phrases that complete "people at the hub …". */
export const offerWords: Record<MachineOffer, string> = {
  turns: 'see the turns that run here with their questions',
  answers: 'answer, steer and cancel these turns',
  terminals: 'see the terminals of the agents here',
  typing: 'type into these terminals',
  prompts: 'send prompts to the projects here',
  conversations: 'read the conversations that are kept here',
}

/** The offers of a machine if nobody has set any: people see its work but change nothing. */
export const usualOffers: readonly MachineOffer[] = ['turns', 'terminals']

/** The offers that are useless without another one, and that other one. */
export const neededOffer: Partial<Record<MachineOffer, MachineOffer>> = { answers: 'turns', typing: 'terminals' }

/** How a machine is linked, as text; a machine without a link may still have agents. */
export function linkWords({ online, own, runsHub }: Partial<MachineStanding>): string {
  if (own) return 'runs the hub'
  if (online === undefined) return 'not linked'
  if (!online) return 'offline'
  return runsHub ? 'runs a hub' : 'linked'
}

/** A machine as a hub knows it. `since` is when it was linked, or when it went offline. */
export type MachineStanding = {
  machine: string
  online: boolean
  since: number
  /** Whether the hub itself runs on this machine. */
  own?: true
  /** Whether another hub of the same ledger runs on this machine. */
  runsHub?: true
  /** The version of termaite on the machine, if known. */
  version?: string
  offers: readonly string[]
}

/** Something that runs a version of termaite: a machine, or an agent on a machine that is not linked. */
type Versioned = { name: string; version: string }

/** The fields of an agent that a comparison of versions needs. */
type VersionedAgent = { id: string; about?: boolean; version?: string; status?: { machine?: string } }

/** The version of the answering hub, and the versions of everything else that is present now. */
export function fleetVersions(
  machines: readonly MachineStanding[],
  agents: readonly VersionedAgent[],
): { hub?: string; others: Versioned[] } {
  const hub = machines.find(({ own }) => own)?.version
  const others = new Map<string, Versioned>()
  const add = (name: string, version = '') => {
    if (version !== '') others.set(`${name} ${version}`, { name, version })
  }
  for (const { machine, online, own, version } of machines) if (online && !own) add(machine, version)
  for (const { id, about, version, status } of agents)
    if (about) add(status?.machine === undefined ? id : status.machine, version)
  return hub === undefined ? { others: [...others.values()] } : { hub, others: [...others.values()] }
}

/** Says which machines run a version other than the hub's and which side to update; undefined if all run the same. */
export function versionSkew({ hub, others }: ReturnType<typeof fleetVersions>): string | undefined {
  const groups = new Map<string, string[]>()
  for (const { name, version } of others)
    if (version !== hub) groups.set(version, [...(groups.get(version) ?? []), name])
  if (hub === undefined || groups.size === 0) return undefined
  const parts = [...groups].map(([version, names]) => {
    const older = isOlder(version, hub)
    return `${names.join(', ')}: ${version}, ${older ? 'older' : 'newer'}; update ${older ? 'it there' : 'the hub'}`
  })
  return `The hub runs termaite ${hub}. ${parts.join('. ')} (npm install -g termaite@latest).`
}

/** Whether a version is older than another, by the numbers in both. */
function isOlder(version: string, than: string): boolean {
  const [a, b] = [version, than].map((text) => text.split(/[.+-]/).map(Number))
  for (let at = 0; at < 3; at++) {
    const [one, other] = [a![at] || 0, b![at] || 0]
    if (one !== other) return one < other
  }
  // A version with a word after its numbers is a preview of the version without one.
  return version.includes('-') && !than.includes('-')
}
