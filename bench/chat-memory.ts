import type { ChatDesk, DeskEvent, DeskEvents } from '../src/chat/desk/chat-desk.ts'
import { realClock } from '../src/base/time/clock.ts'
import { openChat } from '../src/chat/chat.ts'
import { ScriptedDesk } from '../test/chat/scripted-desk.ts'
import { VirtualTerminal } from '../test/chat/virtual-terminal.ts'

/** The chat through ever more turns, in a process of its own; prints what it holds at each mark. */
const marks = [1_000, 10_000]

class Turns extends ScriptedDesk implements ChatDesk {
  override events(signal: AbortSignal): DeskEvents {
    return Object.assign(this.#turns(signal), { takeAll: () => [] })
  }

  async *#turns(signal: AbortSignal): AsyncGenerator<DeskEvent> {
    yield { type: 'opened', entries: [], more: false }
    for (let turn = 1; turn <= marks.at(-1)! && !signal.aborted; turn++) {
      yield* turnOf(`turn${turn}`)
      await new Promise((resolve) => setImmediate(resolve))
      if (marks.includes(turn)) process.stdout.write(`${heapMB()}\n`)
    }
    over.abort()
  }
}

function* turnOf(turn: string): Generator<DeskEvent> {
  const own = { at: Date.now(), session: 's', turn }
  const events = [
    { type: 'prompt', text: 'What does it do?', ...own, id: `${turn}p`, by: 'user' },
    { type: 'text', delta: 'It **adds** two numbers. ', by: 'claude' },
    {
      type: 'call',
      call: `${turn}c`,
      tool: 'Read',
      input: { file_path: 'a.ts' },
      ...own,
      id: `${turn}c`,
      by: 'claude',
    },
    { type: 'result', call: `${turn}c`, ok: true, text: 'line\n'.repeat(40), ...own, id: `${turn}r`, by: 'claude' },
    {
      type: 'reply',
      text: `It **adds** two numbers.\n\n${'A sentence about it. '.repeat(20)}`,
      ...own,
      id: `${turn}a`,
      by: 'claude',
    },
    { type: 'end', outcome: { ok: true, text: '' }, ...own, id: `${turn}e`, by: 'claude' },
  ]
  for (const event of events) yield { type: 'event', turn, event } as DeskEvent
  yield { type: 'closing', closing: { turn, by: 'claude', ms: 10 } }
}

function heapMB(): number {
  gc!()
  return process.memoryUsage().heapUsed / 1e6
}

const over = new AbortController()
const terminal = new VirtualTerminal(120, 40)
// The written text does not matter here, and its memory would be counted.
Object.defineProperty(terminal, 'written', { get: () => '', set: () => {} })
const { signal } = over
await openChat(new Turns(), { clock: realClock, env: { TERM: 'xterm' }, signal, altScreen: true, terminal })
process.exit(0)
