import type { Task } from '../../core/work/task.ts'
import type { Io } from '../../core/io.ts'
import { UsageError } from '../../core/io.ts'
import { placeOf } from '../place.ts'
import { readSettings } from '../../settings/settings.ts'
import { hubPlace } from './address.ts'
import { HubClient } from './client.ts'
import { HubAway, HubRefused } from '../../hub/remote-hub.ts'

/** Runs `work` at the hub; what goes wrong there is told as what to do about it. */
export async function atHub<T>(io: Io, work: (hub: HubClient) => Promise<T>, server?: string): Promise<T> {
  const { home } = placeOf(io)
  const hub = new HubClient(hubPlace(io, await readSettings({ home }, { env: io.env }), server))
  try {
    return await work(hub)
  } catch (error) {
    if (error instanceof HubAway) throw new UsageError(`${error.message}. Start the hub: termaite serve`, 1)
    if (error instanceof HubRefused && error.status === 401)
      throw new UsageError(
        `the hub at ${hub.url} does not know our key: set TERMAITE_HUB_KEY to what its hub.key holds.`,
        1,
      )
    if (error instanceof HubRefused) throw new UsageError(error.message, 1)
    throw error
  }
}

/** The task whose id begins, or ends, like that: ids of one moment begin alike. */
export async function taskLike(hub: HubClient, typed: string | undefined): Promise<Task> {
  if (typed === undefined) throw new UsageError('which task? `termaite task list` shows them.')
  const all = await hub.tasks()
  const found = all.filter(({ id }) => id.startsWith(typed) || id.endsWith(typed))
  if (found.length === 1) return found[0]!
  throw new UsageError(
    found.length === 0 ? `there is no task ${typed}.` : `${found.length} tasks are like ${typed}: give more of it.`,
    1,
  )
}

/** As much of an id as a person types. */
export const shortId = (id: string) => id.slice(-8)
