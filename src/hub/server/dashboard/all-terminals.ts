import type { Clock } from '../../../base/time/clock.ts'
import type { FarPerson, MachineTerminals, TerminalRow, Typed } from '../../../core/screen/machine-terminals.ts'
import type { Terminal } from '../../../core/screen/terminal.ts'
import type { FarMachine } from '../../../wire/link/far-machine.ts'
import type { JoinedMachines } from './machine-ids.ts'
import { within } from '../../../base/time/clock.ts'
import { awayWords, idOn, placeOfId } from './machine-ids.ts'

type JoinedTerminalParts = JoinedMachines & {
  /** The terminals of the hub's own machine. */
  own: MachineTerminals
  clock: Clock
}

/** How long to wait for the first list of a machine; a later list is shown by the next reading. */
const firstMs = 1_000

/** The terminals of all machines. A slow machine delays nobody: its last list is used until the next one arrives. */
export class AllTerminals implements MachineTerminals {
  #parts: JoinedTerminalParts
  #lists = new WeakMap<FarMachine, { rows: TerminalRow[]; reading?: Promise<void> }>()

  constructor(parts: JoinedTerminalParts) {
    this.#parts = parts
  }

  async list(): Promise<TerminalRow[]> {
    const { own, machines, clock, namesOwn } = this.#parts
    const far = machines.reachable().filter(({ offers }) => offers.has('terminals'))
    const [here] = await Promise.all([
      own.list(),
      within(clock, Promise.all(far.map((machine) => this.#read(machine))), firstMs),
    ])
    const named = (row: TerminalRow) => ({ ...row, id: idOn(row.machine, row.id) })
    return [
      ...(namesOwn ? here.map(named) : here),
      ...far.flatMap((machine) => (this.#lists.get(machine)?.rows ?? []).map(named)),
    ]
  }

  open(id: string): Promise<Terminal | undefined> {
    const { own, machines } = this.#parts
    const place = placeOfId(id, machines.own)
    if (place.machine === machines.own) return own.open(place.id)
    return machines.reach(place.machine)?.open(place.id) ?? Promise.resolve(undefined)
  }

  async type(id: string, typed: Typed, by: FarPerson): Promise<void> {
    const place = placeOfId(id, this.#parts.machines.own)
    await this.#on(place.machine).type(place.id, typed, by)
  }

  async resize(id: string, size: { cols: number; rows: number }, by: FarPerson): Promise<void> {
    const place = placeOfId(id, this.#parts.machines.own)
    await this.#on(place.machine).resize(place.id, size, by)
  }

  close(): Promise<void> {
    return this.#parts.own.close()
  }

  #on(machine: string): Pick<MachineTerminals, 'type' | 'resize'> {
    const { own, machines } = this.#parts
    const found = machine === machines.own ? own : machines.reach(machine)
    if (!found) throw new Error(awayWords(machine, machines))
    return found
  }

  /** Reads the list of a machine again, unless a reading is under way. Returns at once if a list of the machine is known. */
  #read(machine: FarMachine): Promise<void> {
    const known = this.#lists.get(machine) ?? { rows: [] }
    const isFirst = !this.#lists.has(machine)
    this.#lists.set(machine, known)
    known.reading ??= machine
      .terminals()
      .then(
        (rows) => {
          known.rows = rows
        },
        // An unreachable machine keeps its last list until the machine is gone.
        () => {},
      )
      .finally(() => delete known.reading)
    return isFirst ? known.reading : Promise.resolve()
  }
}
