import type { MachineStanding } from '../../model/machine-standing.ts'
import type { FarMachine } from '../../../wire/link/far-machine.ts'

/** The machines that a hub can reach, apart from its own. */
export interface Machines {
  readonly own: string
  reachable(): FarMachine[]
  reach(machine: string): FarMachine | undefined
  standings(): readonly MachineStanding[]
  /** Calls `see` after each change of the machines, until the returned function is called. */
  listen(see: () => void): () => void
}

/** The machines whose items are shown together, and the form of the items' ids. */
export type JoinedMachines = {
  machines: Machines
  /** Whether the ids of the hub's own machine also contain its name, because other hubs show the same items under these ids. */
  namesOwn: boolean
}

/** The id that the hub shows for an item of another machine: the machine's name comes first, because two machines may use the same id. */
export const idOn = (machine: string, id: string) => `${machine}/${id}`

/** The machine that an id names, and the id on that machine. An id without a machine belongs to the hub's own machine. */
export function placeOfId(id: string, own: string): { machine: string; id: string } {
  const slash = id.indexOf('/')
  return slash < 0 ? { machine: own, id } : { machine: id.slice(0, slash), id: id.slice(slash + 1) }
}

/** Why a machine cannot be reached, for a person. */
export function awayWords(machine: string, machines: Pick<Machines, 'standings'>): string {
  const known = machines.standings().find((each) => each.machine === machine)
  if (!known) return `${machine} is not linked to this hub.`
  return `${machine} has been offline since ${new Date(known.since).toISOString().replace('T', ' ').slice(0, 16)} UTC.`
}
