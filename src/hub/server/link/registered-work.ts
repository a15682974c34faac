import type { Clock } from '../../../base/time/clock.ts'
import type { Asker, MachinesAtWork, MachineWork, WorkContext, WorkKind } from '../../model/machine-work.ts'
import type { Machines } from '../dashboard/machine-ids.ts'
import { callAfter } from '../../../base/time/clock.ts'
import { messageOf } from '../../../base/error-message.ts'
import { longestWorkMs, MachineAway, mostWorkAtOnce, mostWorkBytes, WorkRefused } from '../../model/machine-work.ts'
import { awayWords } from '../dashboard/machine-ids.ts'

type Registered = { kind: WorkKind<unknown, unknown>; run(input: unknown, context: WorkContext): Promise<unknown> }

/** The work that this machine does for its hub. */
export class RegisteredWork implements MachineWork {
  #clock: Clock
  #kinds = new Map<string, Registered>()
  #running = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  register<Input, Output>(
    kind: WorkKind<Input, Output>,
    run: (input: Input, context: WorkContext) => Promise<Output>,
  ): void {
    const { name } = kind
    if (!/^[a-z0-9][a-z0-9.-]{0,63}$/.test(name)) throw new Error(`"${name}" is not a valid name for work`)
    if (this.#kinds.has(name)) throw new Error(`the work ${name} is registered already`)
    this.#kinds.set(name, { kind, run: run })
  }

  names(): string[] {
    return [...this.#kinds.keys()].toSorted()
  }

  async run(name: string, input: unknown, { by, signal }: WorkContext): Promise<unknown> {
    const found = this.#kinds.get(name)
    if (!found) throw new WorkRefused(`This machine does not do the work "${name.slice(0, 64)}".`)
    if (this.#running >= mostWorkAtOnce)
      throw new WorkRefused(`This machine does ${mostWorkAtOnce} things for the hub already. Try again later.`)
    checkSize(input, 'input')
    const { kind, run } = found
    const over = new AbortController()
    const late = Promise.withResolvers<never>()
    const mostMs = Math.min(kind.mostMs, longestWorkMs)
    callAfter(this.#clock, mostMs, over.signal, () =>
      late.reject(
        new WorkRefused(`The work ${name} took longer than ${Math.round(mostMs / 1000)} s and was given up.`),
      ),
    )
    const left = new AbortController()
    this.#running++
    const done = (async () => run(kind.input.parse(input), { by, signal: AbortSignal.any([signal, left.signal]) }))()
    // Work that continues after it was given up counts until it is over.
    done.then(
      () => this.#running--,
      () => this.#running--,
    )
    try {
      const output = await Promise.race([done, late.promise])
      checkSize(output, 'output')
      return output
    } catch (error) {
      throw error instanceof WorkRefused ? error : new WorkRefused(messageOf(error))
    } finally {
      left.abort('over')
      over.abort('over')
    }
  }
}

function checkSize(value: unknown, what: 'input' | 'output'): void {
  if (Buffer.byteLength(JSON.stringify(value) ?? '') > mostWorkBytes)
    throw new WorkRefused(`The ${what} of the work has more than ${mostWorkBytes / 1024} kB.`)
}

/** The work of all machines: the hub's own machine works in this process, other machines over their links. */
export class WorkOfMachines implements MachinesAtWork {
  #own: MachineWork
  #machines: Machines

  constructor(own: MachineWork, machines: Machines) {
    this.#own = own
    this.#machines = machines
  }

  async withWork(name: string): Promise<string[]> {
    const far = this.#machines.reachable().filter(({ works }) => works.includes(name))
    const own = this.#own.names().includes(name) ? [this.#machines.own] : []
    return [...own, ...far.map(({ machine }) => machine)].toSorted()
  }

  async ask<Input, Output>(
    machine: string,
    kind: WorkKind<Input, Output>,
    input: Input,
    { by, signal = new AbortController().signal }: { by: Asker; signal?: AbortSignal },
  ): Promise<Output> {
    signal.throwIfAborted()
    if (machine === this.#machines.own) return kind.output.parse(await this.#own.run(kind.name, input, { by, signal }))
    const far = this.#machines.reach(machine)
    if (far) return far.work(kind, input, { by, signal })
    const known = this.#machines.standings().find((each) => each.machine === machine)
    throw new MachineAway(machine, awayWords(machine, this.#machines), known?.since)
  }
}
