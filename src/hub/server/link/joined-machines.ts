import type { Io } from '../../../core/io.ts'
import type { HubBook } from '../../model/hub-book.ts'
import type { MachinesAtWork, MachineWork } from '../../model/machine-work.ts'
import type { HubParts } from '../../http/hub-http.ts'
import type { MachineParts } from '../../http/routes/machine-routes.ts'
import { randomUUID } from 'node:crypto'
import { defined } from '../../../base/defined.ts'
import { say } from '../../../core/io.ts'
import { machineOffers } from '../../model/machine-standing.ts'
import { HubRelays } from '../../http/hub-relays.ts'
import { MachineLinks } from '../../http/machine-links.ts'
import { machineAnswers } from '../../../wire/link/machine-answers.ts'
import { MemoryHubBook } from '../../engine/memory-hub-book.ts'
import { AllConversations, AllPrompts } from '../dashboard/machine-conversations.ts'
import { AllTerminals } from '../dashboard/all-terminals.ts'
import { AllTurns } from '../dashboard/all-turns.ts'
import { homeOf } from '../../../home/place.ts'
import { version } from '../../../base/version.ts'
import { machineIdentity } from '../../client/machine-identity.ts'
import { WorkOfMachines } from './registered-work.ts'
import { servedMachine } from './served-machine.ts'

type Wishes = {
  allowPrompts: boolean
  /** The address book that this hub shares with other hubs; missing if the hub has its own ledger. */
  book?: HubBook
  /** The address at which the other hubs reach this one. */
  innerUrl?: string
}

/** All machines of a hub, in the form that its parts need. */
type HubMachines = Required<Pick<HubParts, 'terminals' | 'links' | 'relays'> & MachineParts> & {
  /** The work of all machines, and the registry for work on the hub's own machine. */
  work: MachinesAtWork
  ownWork: MachineWork
  /** Keeps the links and the address book until the hub closes. */
  run(): Promise<void>
}

/** Combines the hub's own machine, which needs no connection, with the machines that link to this hub or to other hubs of its ledger. */
export async function hubMachines(io: Io, { allowPrompts, book: shared, innerUrl }: Wishes): Promise<HubMachines> {
  const { clock, env } = io
  const identity = machineIdentity(io, homeOf(env), undefined)
  const own = await servedMachine(io, { machine: identity.machine, allowPrompts })
  const book = shared ?? new MemoryHubBook(clock)
  const id = randomUUID()
  const ownAnswers = machineAnswers(own, machineOffers)
  const relays = new HubRelays({
    ...{ id, clock, env },
    secret: () => book.secret(),
    here: (machine) => (machine === identity.machine ? ownAnswers : links.linked(machine)),
  })
  const links = new MachineLinks(
    defined({
      ...{ id, innerUrl, version, book, clock },
      own: { ...identity, works: () => own.work.names() },
      relay: (hub: { id: string; url: string }) => relays.to(hub),
      warn: (words: string) => say(io, `termaite: ${words}`),
    }),
  )
  const parts = { machines: links, clock, namesOwn: shared !== undefined }
  return {
    turns: new AllTurns({ ...parts, own: own.turns }),
    terminals: new AllTerminals({ ...parts, own: own.terminals }),
    conversations: new AllConversations({ ...parts, own: own.conversations }),
    prompts: new AllPrompts({ ...parts, own: own.prompts }),
    work: new WorkOfMachines(own.work, links),
    ownWork: own.work,
    machines: links,
    links,
    relays,
    run: () => links.run(),
  }
}
