import type { MachineTerminals } from '../../core/screen/machine-terminals.ts'
import type { Exit, Terminal } from '../../core/screen/terminal.ts'
import type { Conversations } from '../../core/talk/conversations.ts'
import type { MachinePrompts } from '../../core/talk/machine-prompts.ts'
import type { MachineTurns } from '../../core/talk/machine-turns.ts'
import type { MachineWork } from '../../core/work/machine-work.ts'
import type { MachineOffer } from '../../core/work/machine-standing.ts'
import type { Parser } from '../../core/work/shape.ts'
import type { AnswerContext, Answers } from './link-answering.ts'
import { untilAborted } from '../../base/clock.ts'
import { defined } from '../../base/defined.ts'
import { outputUntil } from '../../core/screen/output-until.ts'
import { offerWords } from '../../core/work/machine-standing.ts'
import { anything, boolean, integer, list, optional, parser, string } from '../../core/work/shape.ts'
import { fittingPicture, fittingRows } from '../fitting-screen.ts'
import { LinkFailure } from './link-asking.ts'
import { longestFrame, OutputPiece } from './link-frames.ts'

/** Everything of one machine that people elsewhere can be offered. */
export type ServedMachine = {
  turns: MachineTurns
  terminals: MachineTerminals
  prompts: MachinePrompts
  conversations: Conversations
  work: MachineWork
}

/** The most terminals that one list names, and the most rows of a screen's past. */
const mostRows = 500
const mostAbove = 5_000
/** The longest text that is typed or pasted at once; written as JSON it fits into a frame. */
const longestTyped = 256 * 1024

type Method = {
  offer?: MachineOffer
  run(params: unknown, context: AnswerContext): Promise<unknown> | AsyncIterable<unknown>
}

/** Reads the parameters of a method before it runs. */
const method = <T>(
  offer: MachineOffer | undefined,
  shape: Parser<T>,
  run: (params: T, context: AnswerContext) => Promise<unknown> | AsyncIterable<unknown>,
): Method => defined({ offer, run: (params: unknown, context: AnswerContext) => run(shape.parse(params), context) })

const text = string({ min: 1 })
const none = parser({})
const place = optional(integer(0))

/** Answers a hub for one machine. A request that the machine does not offer is refused here, even if the hub has let it pass. */
export class MachineAnswers implements Answers {
  #machine: ServedMachine
  #offers: ReadonlySet<MachineOffer>
  #table: Record<string, Method>
  #opened = new Map<string, Promise<Terminal | undefined>>()

  constructor(machine: ServedMachine, offers: Iterable<MachineOffer>) {
    this.#machine = machine
    this.#offers = new Set(offers)
    this.#table = { ...turnMethods(machine), ...this.#terminalMethods(), ...talkMethods(machine) }
  }

  methods(): readonly string[] {
    return Object.keys(this.#table)
  }

  answer(name: string, params: Record<string, unknown>, context: AnswerContext) {
    if (!Object.hasOwn(this.#table, name)) return undefined
    const { offer, run } = this.#table[name]!
    if (offer !== undefined && !this.#offers.has(offer))
      throw new LinkFailure(
        'forbidden',
        `This machine does not let people elsewhere ${offerWords[offer]}. Its owner can allow it: start its link with --offer ${[...this.#offers, offer].join(',')}`,
      )
    try {
      return run(params, context)
    } catch (error) {
      throw error instanceof LinkFailure ? error : new LinkFailure('wrong', (error as Error).message)
    }
  }

  #terminalMethods(): Record<string, Method> {
    const { terminals } = this.#machine
    const onOne = <T>(shape: Parser<T & { id: string }>, work: (terminal: Terminal, params: T) => Promise<unknown>) =>
      method('terminals', shape, async (params) => work(await this.#terminal(params.id), params))
    return {
      'terminals.list': method('terminals', none, async () => (await terminals.list()).slice(0, mostRows)),
      'terminal.open': onOne(parser({ id: text }), async () => true),
      'terminal.screen': onOne(parser({ id: text }), (terminal) => terminal.screen()),
      'terminal.paint': onOne(parser({ id: text, above: integer(0, mostAbove) }), (terminal, { above }) =>
        fittingPicture(terminal, above, longestFrame / 2, bytesOf),
      ),
      'terminal.history': onOne(parser({ id: text, rows: integer(1, mostAbove) }), async (terminal, { rows }) =>
        fittingRows(await terminal.history(rows), longestFrame / 2, mostBytesOf),
      ),
      'terminal.output': method('terminals', parser({ id: text, after: integer(0) }), (params, { signal }) =>
        this.#output(params, signal),
      ),
      'terminal.exited': method('terminals', parser({ id: text }), ({ id }, { signal }) => this.#exited(id, signal)),
      'terminal.type': method(
        'typing',
        parser({ id: text, paste: boolean(), text: string() }),
        async ({ id, paste, text: typed }, { by }) => {
          if (typed.length > longestTyped)
            throw new LinkFailure('long', `At most ${longestTyped / 1024} kB are typed on another machine at once.`)
          await terminals.type(id, { as: paste ? 'paste' : 'keys', text: typed }, by)
          return true
        },
      ),
      'terminal.resize': method(
        'typing',
        parser({ id: text, cols: integer(2, 1_000), rows: integer(2, 1_000) }),
        async ({ id, cols, rows }, { by }) => {
          await terminals.resize(id, { cols, rows }, by)
          return true
        },
      ),
    }
  }

  async *#output({ id, after }: { id: string; after: number }, signal: AbortSignal): AsyncGenerator<OutputPiece> {
    const terminal = await this.#terminal(id)
    for await (const { at, bytes } of outputUntil(signal, terminal, after)) yield new OutputPiece(at, bytes)
  }

  /** Yields how the program ended, once it has. */
  async *#exited(id: string, signal: AbortSignal): AsyncGenerator<Exit> {
    const terminal = await this.#terminal(id)
    const exit = await Promise.race([terminal.exited, untilAborted(signal)])
    if (exit) yield exit
  }

  /** Opens a terminal once for everybody who looks at it; throws where there is none. */
  async #terminal(id: string): Promise<Terminal> {
    let found = this.#opened.get(id)
    if (!found) {
      found = this.#machine.terminals.open(id).catch(() => undefined)
      this.#opened.set(id, found)
      const forget = () => this.#opened.delete(id)
      void found.then((terminal) => terminal?.exited).then(forget)
    }
    const terminal = await found
    if (!terminal) throw new LinkFailure('missing', 'There is no such terminal on the machine now.')
    return terminal
  }
}

function turnMethods({ turns }: ServedMachine): Record<string, Method> {
  return {
    'turns.follow': method('turns', none, (_, { signal }) => turns.follow(signal)),
    'turns.watch': method('turns', parser({ session: text }), ({ session }, { signal }) =>
      turns.watch(session, signal),
    ),
    'turn.answer': method(
      'answers',
      parser({ turn: text, ask: text, picks: optional(list(string())) }),
      ({ turn, ask, picks }, { by }) => turns.answer(turn, ask, picks, by),
    ),
    'turn.steer': method('answers', parser({ turn: text, text }), (params, { by }) =>
      turns.steer(params.turn, params.text, by),
    ),
    'turn.cancel': method('answers', parser({ turn: text }), ({ turn }, { by }) => turns.cancel(turn, by)),
  }
}

function talkMethods({ prompts, conversations, work }: ServedMachine): Record<string, Method> {
  return {
    'prompts.send': method(
      'prompts',
      parser({
        text,
        session: optional(text),
        project: optional(text),
        fresh: optional(boolean()),
        agent: optional(text),
      }),
      (wish, { by }) => prompts.send(defined(wish), by),
    ),
    'conversations.list': method('conversations', none, async () => (await conversations.list()).slice(0, mostRows)),
    'conversations.projects': method('conversations', none, async () =>
      (await conversations.projects()).slice(0, mostRows),
    ),
    'conversations.page': method(
      'conversations',
      parser({ session: text, before: place, after: place, around: optional(text) }),
      ({ session, ...wish }) => conversations.page(session, defined(wish)),
    ),
    'conversations.follow': method(
      'conversations',
      parser({ session: text, after: integer(0) }),
      ({ session, after }, { signal }) => entries(conversations, session, after, signal),
    ),
    work: method(undefined, parser({ name: text, input: anything() }), ({ name, input }, { by, signal }) =>
      work.run(name, input, { by, signal }),
    ),
  }
}

/** A null says that the log no longer has the position. */
async function* entries(conversations: Conversations, session: string, after: number, signal: AbortSignal) {
  for await (const placed of conversations.follow(session, after, signal)) yield placed ?? null
}

/** The bytes of a text as a frame has it. */
const bytesOf = (text: string) => Buffer.byteLength(JSON.stringify(text))

/** The most bytes that a text can have in a frame, without counting them: a character is at most three. */
const mostBytesOf = (text: string) => JSON.stringify(text).length * 3
