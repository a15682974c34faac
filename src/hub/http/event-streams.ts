import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Writable } from 'node:stream'
import type { Clock } from '../../base/time/clock.ts'
import type { Conversations } from '../../core/turns/conversations.ts'
import type { MachineTurns } from '../../core/turns/machine-turns.ts'
import type { AgentStanding } from '../model/tasks/agent-status.ts'
import type { FullDisk } from '../../core/work/full-disk.ts'
import type { HubCaller } from '../model/access/hub-key.ts'
import type { MachineStanding } from '../model/machine-standing.ts'
import type { PageFiles } from '../../page/page-files.ts'
import type { ChangeFeed } from './routes/change-feed.ts'
import type { KnownMachines, MachineParts } from './routes/machine-routes.ts'
import { once } from 'node:events'
import { constants, createGzip } from 'node:zlib'
import { briefChange } from '../model/task-brief.ts'
import { mayDo } from '../model/access/rights.ts'
import { heartbeatMs } from '../../page/heartbeat.ts'
import { eventStreamText, newestOfEach, placeIn } from './routes/change-feed.ts'
import { answerHeaders, hangUpSignal, send, takesGzip } from './access/hub-answers.ts'
import { refusal } from './access/hub-router.ts'

/** The sources of the event streams. */
export type StreamParts = {
  clock: Clock
  changes: ChangeFeed
  /** Yields whether each agent waits and is present, and then each change. */
  standings?(signal: AbortSignal): AsyncIterable<AgentStanding>
  /** The turns of all machines, for people who may answer them. */
  turns?: MachineTurns
  /** The machines, for everybody who may read. */
  machines?: Pick<KnownMachines, 'standings' | 'listen'>
  conversations?: Conversations
  /** Yields when the disk of the ledger becomes nearly full, and when it has room again. */
  disk?(signal: AbortSignal): AsyncIterable<{ full?: FullDisk }>
  /** The files of the page; a hub without them serves only its API. */
  page?: PageFiles
}

/** Streams every change after the number that the follower sends, and then each new one. */
export async function streamChanges(
  request: IncomingMessage,
  response: ServerResponse,
  { url, caller }: { url: URL; caller: HubCaller },
  { changes, clock, turns, machines, standings, disk, page }: StreamParts,
): Promise<void> {
  if (!mayDo(caller.role, 'read')) return send(response, refusal(403, 'this key may not read changes'))
  if (request.method !== 'GET') return send(response, refusal(405, `/api/events accepts GET, not ${request.method}`))
  const after = placeIn(namedIn(request, url))
  if (!after) return send(response, refusal(400, 'after must be the id of an event, or a whole number from 0 on'))
  const brief = url.searchParams.has('brief')
  // A page that stays open while termaite is updated reloads itself.
  response.setHeader('x-termaite-version', page?.version ?? '')
  const { stream, hungUp } = openStream(request, response, { clock, isSmall: brief })
  // An agent starts waiting for a person's answer once somebody sees its question, so only people who can answer see it.
  const isLive = url.searchParams.has('turns')
  if (turns && isLive && mayDo(caller.role, 'turns'))
    void sendLive(stream, turns.follow(hungUp), ({ type }) => type, hungUp)
  if (machines && isLive) void sendLive(stream, machineChanges(machines, hungUp), () => 'machines', hungUp)
  if (standings && isLive) void sendLive(stream, standings(hungUp), () => 'standing', hungUp)
  if (disk && isLive) void sendLive(stream, disk(hungUp), () => 'disk', hungUp)
  for await (const more of changes.after(after, hungUp, brief ? mostBehind : Infinity)) {
    const sent = brief ? newestOfEach(more?.changes ?? []).map(briefChange) : more?.changes
    const text = more ? sent!.map((change) => eventStreamText(change, more.epoch)).join('') : eventStreamText(undefined)
    if (!stream.write(text) && !hungUp.aborted) await once(stream, 'drain', { signal: hungUp }).catch(() => {})
  }
  stream.end()
}

/** Streams one conversation to a client that may read it. */
export async function streamConversation(
  request: IncomingMessage,
  response: ServerResponse,
  { url, caller, session }: { url: URL; caller: HubCaller; session: string },
  { turns, conversations, clock }: StreamParts,
): Promise<void> {
  if (!mayDo(caller.role, 'watch')) return send(response, refusal(403, 'this key may not read conversations'))
  if (caller.session !== undefined && caller.session !== session)
    return send(response, refusal(403, 'This link is for another session.'))
  if (request.method !== 'GET')
    return send(response, refusal(405, `${url.pathname} accepts GET, not ${request.method}`))
  const after = numberIn(request, url)
  if (after === undefined) return send(response, refusal(400, 'after must be a whole number from 0 on'))
  const { stream, hungUp } = openStream(request, response, { clock, isSmall: true })
  await streamSession(stream, { session, after }, { turns, conversations }, hungUp)
}

/** The id of the last event that a follower says it has. */
function namedIn({ headers }: IncomingMessage, url: URL): string {
  return String(headers['last-event-id'] ?? url.searchParams.get('after') ?? 0)
}

/** The number of the last event that a follower has; undefined if it sent no valid number. */
function numberIn(request: IncomingMessage, url: URL): number | undefined {
  const after = Number(namedIn(request, url))
  return Number.isSafeInteger(after) && after >= 0 ? after : undefined
}

/** Begins a stream of events, compressed if requested and supported by the reader; `hungUp` aborts when the reader is gone. */
function openStream(
  request: IncomingMessage,
  response: ServerResponse,
  { clock, isSmall }: { clock: Clock; isSmall: boolean },
): { stream: Writable; hungUp: AbortSignal } {
  const hungUp = hangUpSignal(request, response)
  const isCompressed = isSmall && takesGzip(request)
  response.writeHead(200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
    ...answerHeaders,
    ...(isCompressed ? { 'content-encoding': 'gzip', vary: 'accept-encoding' } : undefined),
  })
  const stream = isCompressed ? compressedInto(response) : response
  stream.write(': hello\n\n')
  // Ends with the connection, so it is not awaited.
  void sendHeartbeats(stream, clock, hungUp)
  return { stream, hungUp }
}

function compressedInto(response: ServerResponse): Writable {
  const stream = createGzip(streamCompression)
  // When a reader hangs up, the stream ends and later writes are discarded.
  stream.on('error', () => {}).pipe(response)
  response.once('close', () => stream.destroy())
  return stream
}

/** A page that has missed more changes than this reads the brief state instead, which is shorter than so many changes. */
const mostBehind = 2_000

/** Every write is sent at once; the window is small because each reader has its own. */
const streamCompression = { flush: constants.Z_SYNC_FLUSH, level: 4, windowBits: 13, memLevel: 6 }

/**
 * Streams news that is not stored, such as the turns of this machine. The news has no numbers: a follower that reconnects gets all of it
 * again.
 */
async function sendLive<T>(
  stream: Writable,
  changes: AsyncIterable<T>,
  nameOf: (change: T) => string,
  hungUp: AbortSignal,
): Promise<void> {
  for await (const change of changes)
    if (!stream.write(`event: ${nameOf(change)}\ndata: ${JSON.stringify(change)}\n\n`) && !hungUp.aborted)
      await once(stream, 'drain', { signal: hungUp }).catch(() => {})
}

/** Yields all machines, and yields them again after each change. */
async function* machineChanges(
  known: Pick<KnownMachines, 'standings' | 'listen'>,
  signal: AbortSignal,
): AsyncGenerator<{ machines: readonly MachineStanding[] }> {
  let wake = () => {}
  const leave = known.listen(() => wake())
  const stop = () => wake()
  signal.addEventListener('abort', stop, { once: true })
  try {
    for (let last = ''; !signal.aborted;) {
      const changed = new Promise<void>((resolve) => (wake = resolve))
      const machines = known.standings()
      const now = JSON.stringify(machines)
      if (now !== last) yield { machines }
      last = now
      if (!signal.aborted) await changed
    }
  } finally {
    signal.removeEventListener('abort', stop)
    leave()
  }
}

async function sendHeartbeats(stream: Writable, clock: Clock, hungUp: AbortSignal): Promise<void> {
  for (;;) {
    await clock.sleep(heartbeatMs, hungUp)
    if (hungUp.aborted) return
    stream.write(': still here\n\n')
  }
}

/**
 * Streams one conversation: each entry as soon as it is kept, under its position in the log, and before that the live output of the
 * running turn. Live output has no number: a reader that reconnects gets it again, but no entry twice.
 */
async function streamSession(
  stream: Writable,
  { session, after }: { session: string; after: number },
  { turns, conversations }: MachineParts,
  hungUp: AbortSignal,
): Promise<void> {
  const over = new AbortController()
  const either = AbortSignal.any([hungUp, over.signal])
  const send = async (text: string) => {
    if (!stream.write(text) && !either.aborted) await once(stream, 'drain', { signal: either }).catch(() => {})
  }
  const live = async () => {
    for await (const change of turns?.watch(session, either) ?? [])
      await send(`event: ${change.type}\ndata: ${JSON.stringify(change)}\n\n`)
  }
  const kept = async () => {
    for await (const placed of conversations?.follow(session, after, either) ?? []) {
      if (!placed) return send('event: lost\ndata: {}\n\n')
      await send(`id: ${placed.at}\nevent: entry\ndata: ${JSON.stringify(placed)}\n\n`)
    }
  }
  // The log matters: if it fails, the stream ends, while without live output the stream continues.
  const spoken = live().catch(() => {})
  try {
    await kept()
  } finally {
    over.abort()
    await spoken
    stream.end()
  }
}
