import type { FarPerson } from '../../../core/screen/machine-terminals.ts'
import type { Conversations, EntryPage, PageWish, PlacedEntry, UsageWish } from '../../../core/turns/conversations.ts'
import type { MachinePrompts, PromptRules, PromptWish } from '../../../core/turns/machine-prompts.ts'
import type { FarMachine } from '../../../wire/link/far-machine.ts'
import type { JoinedMachines, Machines } from './machine-ids.ts'
import { defined } from '../../../base/defined.ts'
import { HubError } from '../../engine/rules/task-rules.ts'
import { awayWords, idOn, placeOfId } from './machine-ids.ts'

type JoinedConversationParts<Own> = JoinedMachines & {
  own: Own
}

/** The machine with this id; throws an error that says why if it cannot be reached. */
function reachMachine(machines: Machines, machine: string): FarMachine {
  const far = machines.reach(machine)
  if (!far) throw new HubError('conflict', awayWords(machine, machines))
  return far
}

/** Sends prompts to the projects of all machines that allow that. */
export class AllPrompts implements MachinePrompts {
  #parts: JoinedConversationParts<MachinePrompts>

  constructor(parts: JoinedConversationParts<MachinePrompts>) {
    this.#parts = parts
  }

  rules(): Promise<PromptRules> {
    return this.#parts.own.rules()
  }

  async send(wish: PromptWish, by: FarPerson): Promise<{ session: string }> {
    const { own, machines, namesOwn } = this.#parts
    const named = wish.session ?? wish.project ?? ''
    const { machine, id } =
      wish.machine === undefined ? placeOfId(named, machines.own) : { machine: wish.machine, id: named }
    const there = defined({
      ...wish,
      machine: undefined,
      session: wish.session === undefined ? undefined : id,
      project: wish.session === undefined ? id : undefined,
    }) as PromptWish
    const isOwn = machine === machines.own
    const { session } = await (isOwn ? own.send(there, by) : reachMachine(machines, machine).prompt(there, by))
    return { session: isOwn && !namesOwn ? session : idOn(machine, session) }
  }
}

/** The conversations of all machines that let people read them. Usage is only counted on the hub's own machine. */
export class AllConversations implements Conversations {
  #parts: JoinedConversationParts<Conversations>

  constructor(parts: JoinedConversationParts<Conversations>) {
    this.#parts = parts
  }

  async list() {
    const lists = await this.#each(
      (own) => own.list(),
      (far) => far.conversations(),
    )
    return lists.toSorted((a, b) => b.last - a.last)
  }

  projects() {
    return this.#each(
      (own) => own.projects(),
      (far) => far.projects(),
    )
  }

  async page(session: string, wish: PageWish): Promise<EntryPage | undefined> {
    const { own, machines } = this.#parts
    const { machine, id } = placeOfId(session, machines.own)
    return machine === machines.own ? own.page(id, wish) : reachMachine(machines, machine).page(id, wish)
  }

  async *follow(session: string, after: number, signal: AbortSignal): AsyncGenerator<PlacedEntry | undefined> {
    const { own, machines } = this.#parts
    const { machine, id } = placeOfId(session, machines.own)
    if (machine === machines.own) yield* own.follow(id, after, signal)
    else yield* machines.reach(machine)?.entries(id, after, signal) ?? []
  }

  search(text: string) {
    return this.#parts.own.search(text)
  }

  usage(wish: UsageWish) {
    return this.#parts.own.usage(wish)
  }

  away() {
    return this.#parts.own.away()
  }

  /** Joins the lists of all machines. A machine that does not answer is left out. */
  async #each<Row extends { id: string }>(
    own: (conversations: Conversations) => Promise<Row[]>,
    far: (machine: FarMachine) => Promise<Row[]>,
  ): Promise<Row[]> {
    const { machines, namesOwn } = this.#parts
    const named = (machine: string, rows: Row[]) => rows.map((row) => ({ ...row, id: idOn(machine, row.id) }))
    const elsewhere = machines
      .reachable()
      .map(async (each) => named(each.machine, await far(each)))
      .map((rows) => rows.catch(() => []))
    const [here, ...others] = await Promise.all([own(this.#parts.own), ...elsewhere])
    return [...(namesOwn ? named(machines.own, here) : here), ...others.flat()]
  }
}
