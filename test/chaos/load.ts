import type { HubChange } from '../../src/hub/model/hub-ledger.ts'
import type { Task } from '../../src/hub/model/tasks/task.ts'
import type { NewTask } from '../../src/hub/client/hub-client.ts'
import type { Faults, Follower, KnownAgent } from './witness.ts'
import { setTimeout as pause } from 'node:timers/promises'
import { HubClient } from '../../src/hub/client/hub-client.ts'
import { HubAway, HubRefused } from '../../src/hub/engine/remote-hub.ts'
import { chance } from './chance.ts'
import { Witness } from './witness.ts'
import { until } from '../until.ts'

export type Load = {
  /** The address for agents, givers and followers. */
  url: string
  /** The address at which agents get their keys before the run, which is no part of it. */
  desk: string
  key: string
  agents: number
  /** The number of agents that die for good with a task in their hands that they did not acknowledge. */
  deaths: number
  /** The number of agents that die with a task that they work on, and are started again later, as by systemd. */
  relapses: number
  tasks: number
  followers: number
  /** The disturbances of the hubs, the first long before the end of the tasks; each is a kill and a start. */
  upsets: readonly (() => Promise<void>)[]
  /** See `Witness`. */
  patience: number
  seed: number
}

export type LoadResult = {
  ended: number
  faults: Faults
  handed: number
  missed: number
  changes: number
  hangUps: number
  away: number
  refusals: Record<number, number>
}

type Keyed = KnownAgent & { hub: HubClient }

/** The workspaces of the tasks, and what agents can do; each combination is had by some agent that does not die. */
const workspaces = ['north', 'south']
const skills: readonly (readonly string[])[] = [[], ['docker'], ['docker', 'gpu']]

/** Agents that hang up, say things twice, lose answers and die, at hubs that are killed again and again. */
export async function hubLoad(load: Load): Promise<LoadResult> {
  const run = new Run(load)
  try {
    const { tasks, added } = await run.all()
    const { witness, hangUps, away, refusals } = run
    const faults = witness.faults(added, tasks)
    return { ended: witness.ended, faults, ...witness.counts(tasks), hangUps, away, refusals }
  } finally {
    // Also after a failure, so that no part of the run keeps the process alive.
    run.stop.abort()
  }
}

class Run {
  readonly witness: Witness
  readonly stop = new AbortController()
  hangUps = 0
  /** How often no hub answered, or one fell silent in the middle. */
  away = 0
  /** How often a hub said that it cannot answer now, by its status. */
  refusals: Record<number, number> = {}
  #load: Load
  #hub: HubClient
  #lot: () => number
  #added = new Set<string>()

  constructor(load: Load) {
    this.#load = load
    this.#hub = new HubClient(load)
    this.#lot = chance(load.seed)
    this.witness = new Witness(load.patience)
  }

  /** The whole run, until every task is over; the hubs' tasks at the end, and the ids of those that were added. */
  async all(): Promise<{ tasks: Task[]; added: string[] }> {
    const { followers, tasks } = this.#load
    const following = Array.from({ length: followers }, () => this.follow(this.witness.follower()))
    const plan = this.plan()
    // Agents begin when tasks wait for them, so that the order of the tasks counts.
    const begun = plan.slice(0, tasks / 5)
    await Promise.all(this.give(begun))
    const agents = await this.agents()
    const working = agents.map((agent, at) => this.work(agent, at))
    const giving = this.give(plan.slice(begun.length))
    // The first failure ends the whole run, so that no other part waits in vain.
    await Promise.race([this.upsetting(), Promise.all(working), ...following])
    await Promise.all(giving)
    const books = await this.books()
    this.stop.abort()
    await Promise.all([...working, ...following])
    return { tasks: books, added: plan.map(({ id }) => id!) }
  }

  /** The tasks of the run: some need others that come before them, some want an agent that can do more. */
  plan(): NewTask[] {
    const { seed, tasks } = this.#load
    const some = (part: number) => this.#lot() < part
    const ids = Array.from({ length: tasks }, (_, at) => `task-${seed}-${at}`)
    return ids.map((id, at) => {
      const needs = some(0.2) && at >= givers ? [ids[Math.floor(this.#lot() * (at - (at % givers)))]!] : []
      const capabilities = some(0.3) ? [...skills[Math.floor(this.#lot() * skills.length)]!] : []
      const workspace = workspaces[Math.floor(this.#lot() * workspaces.length)]!
      return { id, prompt: `do ${id}`, workspace, capabilities, needs, priority: Math.floor(this.#lot() * 4) }
    })
  }

  /** The agents, of every kind in turn, each with a key of its own. */
  async agents(): Promise<Keyed[]> {
    const { agents, desk, key, url } = this.#load
    const lender = new HubClient({ url: desk, key })
    return Promise.all(
      Array.from({ length: agents }, async (_, at) => {
        const id = `agent-${at}`
        const workspace = workspaces[at % workspaces.length]!
        const capabilities = skills[Math.floor(at / workspaces.length) % skills.length]!
        const { secret } = await lender.lend(id)
        return { id, workspace, capabilities, hub: new HubClient({ url, key: secret }) }
      }),
    )
  }

  /** Every change by its number, over all lives of the hubs, from whichever hub the connection leads to. */
  async follow(follower: Follower): Promise<void> {
    while (!this.stop.signal.aborted) {
      try {
        for await (const change of this.#changes(follower)) this.witness.saw(follower, change)
      } catch (error) {
        if (this.stop.signal.aborted) return
        if (!isPassing(error)) throw error
      }
      await this.#rest()
    }
  }

  /** Adds tasks, many at the same time; each of the promises is one client. */
  give(tasks: readonly NewTask[]): Promise<void>[] {
    let next = 0
    return Array.from({ length: givers }, async () => {
      while (next < tasks.length) {
        const task = tasks[next++]!
        // A task is added after those that it needs.
        await until(() => (task.needs ?? []).every((need) => this.#added.has(need)) || this.stop.signal.aborted)
        await this.#insist((signal) => this.#hub.add(task, signal))
        this.#added.add(task.id!)
      }
    })
  }

  async upsetting(): Promise<void> {
    const { upsets, tasks } = this.#load
    const running: Promise<void>[] = []
    for (const [at, upset] of upsets.entries()) {
      await this.witness.over(((at + 1) * tasks) / (upsets.length + 1))
      running.push(upset())
    }
    await Promise.all(running)
    await this.witness.over(tasks)
  }

  async work(agent: Keyed, at: number): Promise<void> {
    const { deaths, relapses } = this.#load
    this.witness.knows(agent)
    if (at < deaths) return this.#live(agent, 'received')
    if (at < deaths + relapses) await this.#live(agent, 'acked')
    await this.#live(agent)
  }

  /** The hubs' tasks at the end, once every follower was told of them. */
  async books(): Promise<Task[]> {
    const tasks = await this.#insist(() => this.#hub.tasks())
    await until(() => this.witness.allTold())
    return tasks!
  }

  /** One process of an agent, until the end, or until it dies with a task. */
  async #live({ id, workspace, capabilities, hub }: Keyed, dies?: 'received' | 'acked'): Promise<void> {
    const { witness, stop } = this
    const as = { id, role: 'r', capabilities: [...capabilities], workspace, source: 'CLI' as const }
    await this.#insist(() => hub.register(as))
    while (!stop.signal.aborted) {
      const given = await this.#insist((signal) => hub.wait(id, 2, signal))
      if (given?.type !== 'task') continue
      const { ticket, task } = given
      witness.received(ticket, task, id)
      if (dies === 'received') return
      const done = await this.#done(hub, ticket, id, dies !== undefined)
      witness.letGo(ticket, id, !done)
      if (!done && dies) return
    }
  }

  /** False when the agent comes back for work without an answer. */
  async #done(hub: HubClient, ticket: string, agent: string, dies: boolean): Promise<boolean> {
    const { witness } = this
    const ack = () => this.#insist((signal) => hub.tell(ticket, 'ack', { agent }, signal))
    const answer = () =>
      this.#insist((signal) => hub.respond(ticket, agent, { status: 'COMPLETED', message: `by ${agent}` }, signal))
    if (!(await ack())) return false
    witness.acked(ticket, agent)
    if (this.#lot() < 0.2) await ack()
    if (dies || this.#lot() < 0.02) return false
    witness.answers(ticket)
    if (await answer()) witness.taken(ticket)
    if (this.#lot() < 0.2) await answer()
    return true
  }

  /** Asks until there is an answer: hubs are down, go down in the middle, or we hang up on them. Undefined is a no. */
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
        else if (!isPassing(error)) throw error
        else if (error instanceof HubAway) this.away++
        else this.refusals[error.status] = (this.refusals[error.status] ?? 0) + 1
        if (!hangUp.signal.aborted) await this.#rest()
      } finally {
        clearTimeout(timer)
      }
    }
    return undefined
  }

  /** The stream of a hub as it is sent, not as our own client reads it; the hub is told the id of the last event. */
  async *#changes(follower: Follower & { id?: string }): AsyncGenerator<HubChange> {
    const headers = { authorization: `Bearer ${this.#load.key}`, 'last-event-id': follower.id ?? '0' }
    const answer = await fetch(`${this.#load.url}/api/events`, { headers, signal: this.stop.signal }).catch(toAway)
    if (!answer.ok) throw new HubRefused(answer.status, await answer.text())
    const read = answer.body!.pipeThrough(new TextDecoderStream()).getReader()
    for (let text = ''; ;) {
      const { value, done } = await read.read().catch(toAway)
      if (done) return
      const events = (text + value).split('\n\n')
      text = events.pop()!
      for (const event of events) {
        if (event.startsWith(':')) continue
        const [, id, type, data] = /^id: (.+)\nevent: (\w+)\ndata: (.*)$/.exec(event) ?? []
        if (type === undefined) throw new Error(`a follower does not understand: ${event}`)
        yield JSON.parse(data!) as HubChange
        follower.id = id
      }
    }
  }

  /** A client that was not answered waits a little, each for another time. */
  async #rest(): Promise<void> {
    await pause(20 + this.#lot() * 100, undefined, { signal: this.stop.signal }).catch(() => {})
  }
}

/** The number of clients that add tasks side by side. */
const givers = 32

const toAway = (error: unknown): never => {
  throw new HubAway(String(error))
}

/** Whether asking again helps: nobody answered, or a hub says that it cannot now. */
const isPassing = (error: unknown): error is HubAway | HubRefused =>
  error instanceof HubAway || (error instanceof HubRefused && [502, 503, 504].includes(error.status))
