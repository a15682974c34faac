import type { Env } from '../../../base/env.ts'
import type { Clock } from '../../../base/time/clock.ts'
import type { Hello } from '../../../wire/link/link-greeting.ts'
import type { Answers } from '../../../wire/frames/answering.ts'
import type { KeySource } from '../../client/hub-key-source.ts'
import type { MachineIdentity } from '../../client/machine-identity.ts'
import { messageOf } from '../../../base/error-message.ts'
import { linkPath, readWelcome } from '../../../wire/link/link-greeting.ts'
import { WireAnswering } from '../../../wire/frames/answering.ts'
import { wireVersion, encodeFrame } from '../../../wire/frames/frames.ts'
import { DialFailed, dialHub } from '../../../wire/frames/web-socket-carrier.ts'
import { version } from '../../../base/version.ts'

/** `served`: the hub runs on this machine, so it needs no link. */
export type LinkNews = 'linked' | 'ended' | 'refused' | 'served' | 'failed'

type MachineLinkParts = {
  clock: Clock
  env: Env
  /** The address of the hub; it is looked up again before each attempt. */
  url(): string
  key: KeySource
  identity: MachineIdentity
  answers: Answers
  offers: readonly string[]
  /** The names of the work that this machine can do now. */
  works(): readonly string[]
  /** Tells the person that a link begins, ends, is refused or cannot be made. */
  tell(news: LinkNews, words: string): void
  /** A random number from 0 to 1, so that the machines of a restarted hub do not all reconnect at the same moment. */
  chance?(): number
}

/** The waits between attempts: they double after each failure, up to the longest one. */
const firstWaitMs = 500
const longestWaitMs = 30_000
/** The wait after a refusal that another attempt would not change. */
const refusedWaitMs = 5 * 60_000
/** After a link that lasted this long, the next attempt begins with the shortest wait. */
const goodMs = 10_000
/** How long the hub may take to answer this machine's greeting. */
const welcomeMs = 15_000

/** The outcome of one attempt. `isFinal`: another attempt soon would have the same outcome. */
type Ended = { why: string; news: LinkNews; isFinal?: boolean; heldMs: number }

/**
 * Keeps one outbound connection of this machine to its hub until the signal aborts. After a sleep, a change of address or a cut cable it
 * reconnects, with growing pauses, to the hub that is then at the address.
 */
export async function keepLinked(parts: MachineLinkParts, signal: AbortSignal): Promise<void> {
  const { clock, tell, chance = Math.random } = parts
  let wait = firstWaitMs
  let told = ''
  while (!signal.aborted) {
    const ended = await linkOnce(parts, signal).catch((error: unknown): Ended => ({
      why: messageOf(error),
      news: 'failed',
      heldMs: 0,
    }))
    const { why, news, isFinal = false, heldMs } = ended
    if (signal.aborted) return
    if (heldMs > goodMs) wait = firstWaitMs
    // The same problem is reported only once, however long it lasts.
    if (why !== told) tell(news, news === 'ended' ? `The link to the hub ended: ${why}. Connecting again.` : why)
    told = news === 'ended' ? '' : why
    const pause = isFinal ? refusedWaitMs : wait
    await clock.sleep(pause * (0.5 + chance() / 2), signal)
    wait = Math.min(wait * 2, longestWaitMs)
  }
}

async function linkOnce(parts: MachineLinkParts, signal: AbortSignal): Promise<Ended> {
  const { clock, url, key, identity, answers, offers, works, tell } = parts
  const address = url()
  const { hostname } = new URL(address)
  const dial = (secret: string | undefined) =>
    dialHub(`${address.replace(/\/+$/, '')}${linkPath}`, `Bearer ${secret ?? ''}`, parts, { signal })
  const secret = await key.key()
  let connection
  try {
    connection = await dial(secret).catch(async (error: unknown) => {
      const other = error instanceof DialFailed && error.status === 401 ? await key.instead(secret) : undefined
      if (other === undefined) throw error
      return dial(other)
    })
  } catch (error) {
    const { status } = error as DialFailed
    const isFinal = status === 401 || status === 403 || status === 404
    const why =
      status === 404
        ? `The hub at ${address} is older than this termaite and takes no links of machines. Update termaite there.`
        : `No link to the hub at ${address}: ${messageOf(error)}.`
    return { why, news: 'failed', isFinal, heldMs: 0 }
  }
  const stop = () => connection.end('this machine ends its link')
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  try {
    const hello: Hello = {
      type: 'hello',
      ...wireVersion,
      termaite: version,
      machine: identity.machine,
      proof: identity.proofFor(hostname),
      offers: [...offers],
      works: [...works()],
    }
    connection.send(encodeFrame(hello)!)
    const welcome = readWelcome(await connection.first(welcomeMs))
    if (!welcome) {
      connection.cut('the hub gave no answer')
      const why = `The hub at ${address} did not answer the greeting of this machine.`
      return { why, news: 'failed', heldMs: 0 }
    }
    if (welcome.type === 'refused') {
      const news = welcome.served ? 'served' : 'refused'
      return { why: welcome.why, news, isFinal: !welcome.retry, heldMs: 0 }
    }
    void new WireAnswering(connection, answers)
    const since = clock.elapsed()
    const other =
      welcome.termaite === version ? '' : ` The hub runs termaite ${welcome.termaite}, this machine ${version}.`
    tell('linked', `${welcome.machine} is linked to the hub at ${address}.${other}`)
    const why = await connection.over
    const isFinal = why === 'this machine has linked again'
    return { why, news: 'ended', isFinal, heldMs: Math.max(1, clock.elapsed() - since) }
  } finally {
    signal.removeEventListener('abort', stop)
    connection.end('over')
  }
}
