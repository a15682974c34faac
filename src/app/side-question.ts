import type { Event, Usage } from '../core/talk/entry.ts'
import type { Failure } from '../core/talk/outcome.ts'
import type { Ask } from '../core/talk/question.ts'
import type { Blobs, BlobWriter, Ref } from '../core/talk/store.ts'
import type { App } from '../turn/app.ts'
import { newId } from '../base/id.ts'
import { drain } from '../base/relay.ts'
import { compactAt } from '../core/talk/compaction.ts'
import { readText } from '../core/talk/store.ts'
import { lastTurns } from '../core/talk/view.ts'
import { consult } from '../core/work/verbs.ts'
import { UsageError } from '../core/io.ts'
import { smallestWindow } from '../settings/enabled-agents.ts'
import { MemoryBlobs } from '../store/memory-store.ts'
import { readersOf } from '../think/turn/framework-resources.ts'
import { nativeIn } from '../turn/copies/folder-roster.ts'
import { openConsultant } from '../turn/rotation.ts'

type SideQuestion = {
  question: string
  ask: Ask
  signal: AbortSignal
  /** Called with a sentence about an agent that failed or was skipped. */
  say(words: string): void
}

/** The answer to a side question, with the usage of every agent that was asked. */
type SideAnswer = { by: string; used: readonly SignedUsage[] } & (
  | { text: string; failure?: undefined }
  | { failure: Failure }
)

type SignedUsage = Usage & { by?: string }

/** How much of the smallest window the conversation may fill, so that the question and the answer have room. */
const toldShare = compactAt / 2

/**
 * Asks an agent that can only read, even while a turn runs. The agent gets the conversation up to the last finished turn. Neither the
 * question nor the answer is stored or becomes part of a thread; only the tokens are counted, because they were spent.
 */
export async function askAside(app: App, { question, ask, signal, say }: SideQuestion): Promise<SideAnswer> {
  const readers = await readersOf(app)
  if ('why' in readers) throw new UsageError(`No agent can answer a side question: ${readers.why}.`)
  const { view, place, io, budget } = { ...app, view: await app.conversation.view() }
  const blobs = new UnkeptBlobs(app.blobs)
  // A running turn of our own agent has tools with its own leash, which must not become those of the answer.
  const { native, close } = nativeIn(app, place)
  const aside: App = { ...app, blobs, native: { ...native, blobs } }
  const told = lastTurns(view, smallestWindow(app.settings) * toldShare)
  // A thread that went on with the question would know of it in every later turn.
  const history = told.filter(({ type }) => type !== 'thread')
  const used: SignedUsage[] = []
  let by = 'the agent'
  const see = (event: Event): void => {
    if (event.type === 'inner') see(event.event)
    else if (event.type === 'usage') used.push(event)
    else if (event.type === 'reply') by = event.by ?? by
    else if (event.type === 'note') say(event.text)
  }
  try {
    const outcome = await drain(
      consult(openConsultant(aside, view, { names: readers.names }), 'aside', {
        id: newId(io.clock.now()),
        prompt: asidePrompt(question),
        history,
        attempts: [],
        steered: [],
        cwd: place.cwd,
        leash: 'read',
        signal,
        clock: io.clock,
        ask,
        budget: budget.turn?.() ?? budget,
        steer: async () => [],
      }),
      see,
    )
    if (!outcome.ok) return { by, used, failure: outcome.failure }
    return { by, used, text: outcome.whole ? await readText(blobs, outcome.whole) : outcome.text }
  } finally {
    await close()
    for (const { by: agent, ...usage } of used) await app.conversation.append(usage, agent ?? 'termaite')
  }
}

const asidePrompt = (question: string) =>
  `The person asks this aside, beside the work of the conversation. Answer it briefly. Change nothing, and do not go on with the work.\n\n${question}`

/** Bodies that are stored only in memory; bodies of the conversation are read from its own store. */
class UnkeptBlobs implements Blobs {
  #kept: Blobs
  #own = new MemoryBlobs()
  #written = new Set<string>()

  constructor(kept: Blobs) {
    this.#kept = kept
  }

  async put(body: string | Uint8Array, media: string): Promise<Ref> {
    return this.#noted(await this.#own.put(body, media))
  }

  writer(media: string): BlobWriter {
    const writer = this.#own.writer(media)
    return { ...writer, done: async () => this.#noted(await writer.done()) }
  }

  read(ref: Ref): AsyncIterable<Uint8Array> {
    return this.#blobsOf(ref).read(ref)
  }

  place(ref: Ref): string | undefined {
    return this.#blobsOf(ref).place(ref)
  }

  #noted(ref: Ref): Ref {
    this.#written.add(ref.sha)
    return ref
  }

  #blobsOf({ sha }: Ref): Blobs {
    return this.#written.has(sha) ? this.#own : this.#kept
  }

  keepOnly(shas: ReadonlySet<string>): Promise<void> {
    return this.#own.keepOnly(shas)
  }

  clear(): Promise<void> {
    return this.#own.clear()
  }
}
