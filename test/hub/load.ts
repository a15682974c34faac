import type { Task } from '../../src/core/work/task.ts'
import { HubAway, HubClient, HubRefused } from '../../src/wire/hub/client.ts'

export type Load = {
  url: string
  key: string
  agents: number
  tasks: number
  kills: number
  /** Ends the hub without a word, and starts it again at the same address. */
  restart(): Promise<void>
  seed?: number
}

export type LoadResult = { ended: number; doubled: string[]; lost: string[]; unfinished: string[] }

/** A number from 0 to 1, the same for the same seed. */
function chance(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296
    return state / 4_294_967_296
  }
}

/** Agents that hang up, say things twice and lose answers, at a hub that is killed again and again. */
export async function hubLoad({ url, key, agents, tasks, kills, restart, seed = 7 }: Load): Promise<LoadResult> {
  const hub = new HubClient({ url, key })
  const lot = chance(seed)
  const stop = new AbortController()
  /** How often each task was done: the work itself, told by whoever was let to answer. */
  const done = new Map<string, number>()
  const patiently = async <T>(work: () => Promise<T>): Promise<T | undefined> => {
    for (;;) {
      try {
        return await work()
      } catch (error) {
        if (stop.signal.aborted || error instanceof HubRefused) return undefined
        // The hub is down, or went down in the middle: whoever asked asks again.
        if (!(error instanceof HubAway) && !(error instanceof TypeError)) throw error
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    }
  }
  const added: string[] = []
  const giving = (async () => {
    for (let at = 0; at < tasks; at++) {
      const task = await patiently(() => hub.add({ id: `task-${seed}-${at}`, prompt: `task ${at}`, workspace: 'w' }))
      if (task) added.push(task.id)
    }
  })()
  const agent = async (id: string) => {
    const register = () => hub.register({ id, role: 'r', capabilities: [], workspace: 'w', source: 'CLI' })
    await patiently(register)
    while (!stop.signal.aborted) {
      const hangUp = new AbortController()
      if (lot() < 0.1) setTimeout(() => hangUp.abort(), 5)
      const signal = AbortSignal.any([hangUp.signal, stop.signal])
      const given = await hub.wait(id, 2, signal).catch(() => undefined)
      if (given?.type !== 'task') {
        if (!given) await patiently(register)
        continue
      }
      const { ticket, task } = given
      await patiently(() => hub.tell(ticket, 'ack', { agent: id }))
      if (lot() < 0.2) await patiently(() => hub.tell(ticket, 'ack', { agent: id }))
      // It crashes now and then, and comes back for work without an answer.
      if (lot() < 0.02) continue
      const answer = () => hub.respond(ticket, id, { status: 'COMPLETED', message: `by ${id}` })
      const answered = await patiently(answer)
      if (lot() < 0.2) await patiently(answer)
      if (answered?.state === 'COMPLETED') done.set(task.id, (done.get(task.id) ?? 0) + 1)
    }
  }
  const working = Array.from({ length: agents }, (_, at) => agent(`agent-${at}`))
  for (let kill = 1; kill <= kills; kill++) {
    await over(hub, patiently, (kill * tasks) / (kills + 1))
    await restart()
  }
  await giving
  await over(hub, patiently, tasks)
  const all = (await patiently(() => hub.tasks())) ?? []
  stop.abort()
  await Promise.all(working)
  return {
    ended: all.filter(isDone).length,
    doubled: [
      ...[...done].filter(([, times]) => times > 1).map(([id]) => id),
      ...all
        .filter(({ history }) => history.filter(({ state }) => state === 'COMPLETED').length > 1)
        .map(({ id }) => id),
    ],
    lost: added.filter((id) => !all.some((task) => task.id === id)),
    unfinished: all.filter((task) => !isDone(task)).map(({ id, state }) => `${id} ${state}`),
  }
}

const isDone = ({ state }: Task) => state === 'COMPLETED'

/** Until so many tasks are over. */
async function over(
  hub: HubClient,
  patiently: <T>(work: () => Promise<T>) => Promise<T | undefined>,
  count: number,
): Promise<void> {
  for (;;) {
    const ended = (await patiently(() => hub.tasks({ state: 'COMPLETED' }))) ?? []
    if (ended.length >= count) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
