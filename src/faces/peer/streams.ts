import type { Exit, Terminal } from '../../core/screen/terminal.ts'
import type { Peer } from '../../core/talk/peer.ts'
import { eventFrame, frameOf } from './frame.ts'

/** The frames of one stream, until it is done or whoever asked for it leaves; it returns what it is done with. */
export type Frames = (id: number, left: AbortSignal) => AsyncGenerator<string | undefined, unknown>

type Params = Record<string, unknown>

/** What is answered by more than one frame, or only after a long time. */
const streams: Record<string, (peer: Peer, params: Params) => Frames> = {
  follow: (peer, { turn }) =>
    async function* (id, left) {
      for await (const event of peer.follow(String(turn), left)) yield eventFrame(id, event)
    },
  'terminal.output': (peer, { id: which, after }) =>
    async function* (id, left) {
      const terminal = await peer.terminal(String(which))
      if (!terminal) return
      for await (const { at, bytes } of outputUntil(left, terminal, Number(after) || 0))
        yield frameOf({ id, drawn: { at, bytes: Buffer.from(bytes).toString('base64') } })
    },
  'terminal.exited': (peer, { id: which }) =>
    async function* (_id, left): AsyncGenerator<string, Exit | undefined> {
      const terminal = await peer.terminal(String(which))
      return terminal && (await Promise.race([terminal.exited, aborted(left)]))
    },
}

export function streamOf(method: unknown): ((peer: Peer, params: Params) => Frames) | undefined {
  return typeof method === 'string' && Object.hasOwn(streams, method) ? streams[method] : undefined
}

/** Base 64 of so many bytes is well below the longest frame. */
const longestPiece = 128 * 1024

/** A terminal that draws nothing would keep whoever waits for it: leaving does not wait. */
async function* outputUntil(left: AbortSignal, terminal: Terminal, after: number) {
  const output = terminal.output(after)[Symbol.asyncIterator]()
  let leave = () => {}
  left.addEventListener('abort', () => leave(), { once: true })
  try {
    while (!left.aborted) {
      const next = await new Promise<IteratorResult<{ at: number; bytes: Uint8Array }> | undefined>((resolve) => {
        leave = () => resolve(undefined)
        void output.next().then(resolve)
      })
      if (next === undefined || next.done) return
      const { at, bytes } = next.value
      for (let from = 0; from < bytes.length; from += longestPiece)
        yield { at: at + from, bytes: bytes.subarray(from, from + longestPiece) }
    }
  } finally {
    void output.return?.()
  }
}

function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined)
    signal.addEventListener('abort', () => resolve(undefined), { once: true })
  })
}
