import type { AnyMessage, Stream } from '@agentclientprotocol/sdk'
import type { Run } from '../../base/process/run.ts'
import { AnsiStripper } from '../../base/text/ansi.ts'
import { Lines } from '../../base/text/lines.ts'
import { Tail } from '../process-failure.ts'

/** A line of stderr longer than this cannot be a message about a retry. */
const longestComplaint = 64 * 1024

type ConnectionListener = {
  /** Handles a `session/update`; the next line is read after that. */
  update(params: unknown): Promise<void>
  /** Handles a line that is not a message of the protocol. */
  junk(line: string): Promise<void>
  complaint(line: string): void
  /** Called at every sign of life. */
  heard(): void
}

export type AcpConnection = {
  /** All messages except the updates, which go to the listener one by one. */
  stream: Stream
  /** The last text of both outputs, after both were read to the end. */
  words: Promise<{ out: string; err: string }>
}

/**
 * Reads the two outputs of an agent's process. Lines that are not messages are skipped: the protocol asks for an error in reply, but that
 * would only confuse a program that prints a greeting.
 */
export function connectTo(run: Run, hearing: ConnectionListener): AcpConnection {
  const asked = new Set<unknown>()
  let messages: ReadableStreamDefaultController<AnyMessage> | undefined
  const stream: Stream = {
    readable: new ReadableStream({
      start(controller) {
        messages = controller
      },
      // A reader that was cancelled gets no more messages.
      cancel() {
        messages = undefined
      },
    }),
    writable: new WritableStream({
      write(message) {
        if ('method' in message && 'id' in message) asked.add(message.id)
        run.stdin.write(`${JSON.stringify(message)}\n`)
      },
    }),
  }
  const out = new Tail()
  const err = new Tail()

  const take = async (line: string): Promise<void> => {
    const message = parsed(line)
    if (!message) {
      out.add(`${line}\n`)
      return hearing.junk(line)
    }
    if (message.method === 'session/update') return hearing.update(message.params)
    // A reply that matches none of our requests: the agent sent it twice, or without a request.
    if (message.method === undefined && !asked.delete(message.id)) return
    messages?.enqueue(message as unknown as AnyMessage)
  }

  const listen = async (chunks: AsyncIterable<Uint8Array>, each: (chunk: Uint8Array) => Promise<void>) => {
    for await (const chunk of chunks) {
      hearing.heard()
      await each(chunk)
      hearing.heard()
    }
  }

  const lines = new Lines()
  const decoder = new TextDecoder()
  const complaints = new Lines(longestComplaint)
  const stripper = new AnsiStripper()
  const spoken = listen(run.stdout, async (chunk) => {
    for (const line of lines.push(decoder.decode(chunk, { stream: true }))) await take(line)
  })
  const complained = listen(run.stderr, async (chunk) => {
    const text = stripper.push(chunk)
    err.add(text)
    for (const line of complaints.push(text)) hearing.complaint(line)
  })
  const through = spoken.then(async () => {
    for (const line of lines.end()) await take(line)
  })
  return {
    stream,
    words: Promise.all([through.finally(() => messages?.close()), complained]).then(() => {
      err.add(stripper.end())
      return { out: out.text, err: err.text }
    }),
  }
}

type Loose = { method?: unknown; id?: unknown; params?: unknown }

function parsed(line: string): Loose | undefined {
  try {
    const value = JSON.parse(line)
    return value?.jsonrpc === '2.0' && ('id' in value || typeof value.method === 'string') ? value : undefined
  } catch {
    return undefined
  }
}

export type Sdk = typeof import('@agentclientprotocol/sdk')

/** Loads the SDK at the first turn of an ACP agent: its schemas would make up most of every start's time. */
export function loadSdk(): Promise<Sdk> {
  return import('@agentclientprotocol/sdk')
}
