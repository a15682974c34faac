import type { Io } from '../../../core/io.ts'
import type { MachineWork } from '../../model/machine-work.ts'
import type { Settings } from '../../../settings/settings.ts'
import type { KeySource } from '../../client/hub-key-source.ts'
import type { LinkWishes } from './link-offers.ts'
import type { LinkNews } from './machine-link.ts'
import { join } from 'node:path'
import { shortHash } from '../../../base/hash.ts'
import { machineAnswers } from '../../../wire/link/machine-answers.ts'
import { HeldLock } from '../../../store/files/held-lock.ts'
import { homeOf } from '../../../home/place.ts'
import { isLoopback } from '../../client/server-access.ts'
import { runningHub } from '../../../border/running-processes.ts'
import { offersOf } from './link-offers.ts'
import { machineIdentity } from '../../client/machine-identity.ts'
import { keepLinked } from './machine-link.ts'
import { servedMachine } from './served-machine.ts'

/** How often a process without the link checks whether the linked process has exited. */
const turnMs = 3_000

/** Whether the address of a hub is on this machine. */
export const isHere = (url: string) => isLoopback(new URL(url).hostname.replace(/^\[|\]$/g, ''))

type KeptLinkParts = {
  url(): string
  key: KeySource
  settings: Settings
  wishes: LinkWishes
  /** Registers the work that this machine does for its hub. */
  register?(work: MachineWork): void
  tell(news: LinkNews, words: string): void
}

/**
 * Keeps this machine and home linked to a hub: one process at a time has the link, and when it exits another process takes over. The hub
 * of this home itself needs no link.
 */
export async function keepMachineLink(io: Io, parts: KeptLinkParts, signal: AbortSignal): Promise<void> {
  const { clock, env } = io
  const { url, key, settings, wishes, register, tell } = parts
  const home = homeOf(env)
  const offers = offersOf(wishes, settings)
  const identity = machineIdentity(io, home, wishes.machineName ?? settings.link.name)
  const lock = new HeldLock(join(home, 'run', `link-${shortHash(new URL(url()).host)}.lock`))
  while (!signal.aborted && (isOwnHub(home, url()) || !lock.take())) await clock.sleep(turnMs, signal)
  if (signal.aborted) return lock.release()
  try {
    const allowPrompts = offers.includes('prompts')
    const onlyReading = !offers.includes('answers')
    const served = await servedMachine(io, { machine: identity.machine, allowPrompts, onlyReading })
    register?.(served.work)
    if (settings.hub.merge) await mergesFor(io, { url, key }, identity.machine, served.work)
    const answers = machineAnswers(served, offers)
    const works = () => served.work.names()
    await keepLinked({ clock, env, url, key, identity, answers, offers, works, tell }, signal)
    await served.terminals.close()
  } finally {
    lock.release()
  }
}

/** Whether an address of this machine is that of this home's own hub. */
function isOwnHub(home: string, url: string): boolean {
  const own = runningHub(home)?.url
  return own !== undefined && isHere(url) && new URL(own).port === new URL(url).port
}

/** Lets the hub have approved work merged in the clones of this machine, as its settings allow. */
async function mergesFor(
  io: Io,
  at: Pick<KeptLinkParts, 'url' | 'key'>,
  machine: string,
  work: MachineWork,
): Promise<void> {
  const [{ offerMerging }, { machineMerger }, { HubClient }] = await Promise.all([
    import('../merge/fleet-merge.ts'),
    import('../merge/work-merge.ts'),
    import('../../client/hub-client.ts'),
  ])
  const hub = new HubClient({ ...at, env: io.env })
  offerMerging(
    work,
    machineMerger(io, (id, number, from) => hub.bundle(id, number, from), machine),
  )
}
