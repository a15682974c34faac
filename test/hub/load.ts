import type { Task } from '../../src/core/work/task.ts'
import type { Faults } from './witness.ts'
import { HubClient } from '../../src/app/hub/hub-client.ts'
import { HubAway, HubRefused } from '../../src/hub/remote-hub.ts'
import { Witness } from './witness.ts'
import { until } from '../until.ts'

export type Load = {
  url: string
  key: string
  agents: number
  /** So many of them die for good with a task in their hands, unacknowledged. */
  deaths: number
  tasks: number
  kills: number
  /** Ends the hub without a word, and starts it again at the same address. */
  restart(): Promise<void>
  seed: number
}

export type LoadResult = { ended: number; faults: Faults; handed: number; missed: number; hangUps: number }

/** So many add tasks side by side. */
const givers = 8

/** Agents that hang up, say things twice, lose answers and die, at a hub that is killed again and again. */
export async function hubLoad(load: Load): Promise<LoadResult> {
  const run = new Run(load)
  const following = run.follow()
  const added = Array.from({ length: load.tasks }, (_, at) => `task-${load.seed}-${at}`)
  const working = Array.from({ length: load.agents }, (_, at) => run.work(`agent-${at}`, at < load.deaths))
  const giving = Array.from({ length: givers }, (_, giver) => run.give(added.filter((__, at) => at % givers === giver)))
  // The first failure ends the whole run, so that no other part waits in vain.
  await Promise.race([run.killing(), Promise.all(working), following])
  await Promise.all(giving)
  const tasks = await run.books()
  run.stop.abort()
  await Promise.all([...working, following])
  const { witness, hangUps } = run
  return { ended: witness.ended, faults: witness.faults(added, tasks), ...witness.counts(tasks), hangUps }
}

class Run {
  readonly witness = new Witness()
  readonly stop = new AbortController()
  hangUps = 0
  #load: Load
  #hub: HubClient
  #lot: () => number
  /** Settled while the hub is there. */
  #up = Promise.resolve()

  constructor(load: Load) {
    this.#load = load
    this.#hub = new HubClient(load)
    this.#lot = chance(load.seed)
  }

  /** Every change by its number, over all lives of the hub. */
  async follow(): Promise<void> {
    while (!this.stop.signal.aborted) {
      try {
        for await (const change of this.#hub.changes(this.witness.seq, this.stop.signal)) this.witness.saw(change)
      } catch (error) {
        if (this.stop.signal.aborted) return
        if (!(error instanceof HubAway)) throw error
      }
      await this.#up
    }
  }

  async give(ids: readonly string[]): Promise<void> {
    for (const id of ids)
      await this.#insist((signal) => this.#hub.add({ id, prompt: `do ${id}`, workspace: 'w' }, signal))
  }

  async killing(): Promise<void> {
    const { kills, tasks, restart } = this.#load
    for (let kill = 1; kill <= kills; kill++) {
      await this.witness.over((kill * tasks) / (kills + 1))
      this.#up = restart()
      await this.#up
    }
    await this.witness.over(tasks)
  }

  async work(id: string, dies: boolean): Promise<void> {
    const { witness, stop } = this
    const { secret } = await this.#hub.lend(id)
    const hub = new HubClient({ url: this.#load.url, key: secret })
    await this.#insist(() => hub.register({ id, role: 'r', capabilities: [], workspace: 'w', source: 'CLI' }))
    while (!stop.signal.aborted) {
      const given = await this.#insist((signal) => hub.wait(id, 2, signal))
      if (given?.type !== 'task') continue
      const { ticket, task } = given
      witness.received(ticket, task, id)
      if (dies) return
      const done = await this.#done(hub, ticket, id)
      witness.letGo(ticket, id, !done)
    }
  }

  /** The hub's tasks at the end. */
  async books(): Promise<Task[]> {
    const { tasks, seq } = await this.#hub.state()
    await until(() => this.witness.seq >= seq)
    return tasks
  }

  /** False when it comes back for work without an answer. */
  async #done(hub: HubClient, ticket: string, agent: string): Promise<boolean> {
    const ack = () => this.#insist((signal) => hub.tell(ticket, 'ack', { agent }, signal))
    const answer = () =>
      this.#insist((signal) => hub.respond(ticket, agent, { status: 'COMPLETED', message: `by ${agent}` }, signal))
    if (!(await ack())) return false
    this.witness.acked(ticket, agent)
    if (this.#lot() < 0.2) await ack()
    if (this.#lot() < 0.02) return false
    await answer()
    if (this.#lot() < 0.2) await answer()
    return true
  }

  /** Asks until there is an answer: the hub is down, goes down in the middle, or we hang up on it. Undefined is a no. */
  async #insist<T>(ask: (signal: AbortSignal) => Promise<T>): Promise<T | undefined> {
    const { stop } = this
    while (!stop.signal.aborted) {
      const hangUp = new AbortController()
      const timer = this.#lot() < 0.1 ? setTimeout(() => hangUp.abort(), this.#lot() * 10) : undefined
      try {
        return await ask(AbortSignal.any([hangUp.signal, stop.signal]))
      } catch (error) {
        if (stop.signal.aborted || (error instanceof HubRefused && error.status === 409)) return undefined
        if (hangUp.signal.aborted) this.hangUps++
        else if (error instanceof HubAway) await this.#up
        else throw error
      } finally {
        clearTimeout(timer)
      }
    }
    return undefined
  }
}

/** A number from 0 to 1, the same for the same seed. */
function chance(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296
    return state / 4_294_967_296
  }
}
