import type { Exit, Picture, Screen } from '../../core/screen/terminal.ts'
import type { TerminalRow } from '../../core/screen/machine-terminals.ts'
import type { EntryPage, KeptConversation, KeptProject, PlacedEntry } from '../../core/turns/conversations.ts'
import type { Event } from '../../core/talk/entry.ts'
import type { LiveChange, TurnChange } from '../../core/turns/machine-turns.ts'
import type { TurnAtWork } from '../../core/turns/peer.ts'
import type { MachineOffer } from '../../hub/model/machine-standing.ts'
import type { Parser } from '../../core/data/shape.ts'
import type { AnswerContext, Answers } from './answering.ts'
import type { OutputPiece } from './frames.ts'
import { offerWords } from '../../hub/model/machine-standing.ts'
import { anything, boolean, integer, list, oneOf, optional, parser, string } from '../../core/data/shape.ts'
import { WireFailure } from './frames.ts'

/** Who may call a method: people elsewhere, if the machine offers it or has registered the work, or only processes of the same person. */
type Scope = MachineOffer | 'work' | 'process'

/** A method of the wire. `gives` has no value: its type is that of the answer, or of each item of a stream. */
type Method<Kind, Params, Gives> = { kind: Kind; scope: Scope; params: Parser<Params>; gives: () => Gives }

type Fields = Parameters<typeof parser>[0]

const gives = <T>(): T => {
  throw new Error('the type of an answer has no value')
}

const call = <F extends Fields, T>(scope: Scope, fields: F, answer: () => T) =>
  ({ kind: 'call', scope, params: parser(fields), gives: answer }) as const
const stream = <F extends Fields, T>(scope: Scope, fields: F, item: () => T) =>
  ({ kind: 'stream', scope, params: parser(fields), gives: item }) as const

/** The most rows above the screen that a picture has, and the most rows of a history. */
const mostAbove = 5_000
const mostRows = 100_000

const text = string({ min: 1 })
const place = optional(integer(0))
const id = text
const side = integer(1, 10_000)

/** Everything that one program of termaite can ask of another. Both sides are built from this table. */
export const methods = {
  'turns.list': call('process', {}, gives<TurnAtWork[]>),
  'turn.events': stream('process', { turn: text, how: optional(oneOf('onlyReading')) }, gives<Event>),
  'turns.follow': stream('turns', {}, gives<TurnChange>),
  'turns.watch': stream('turns', { session: text }, gives<LiveChange>),
  'turn.answer': call('answers', { turn: text, ask: text, picks: optional(list(string())) }, gives<boolean>),
  'turn.steer': call('answers', { turn: text, text }, gives<boolean>),
  'turn.cancel': call('answers', { turn: text }, gives<boolean>),
  'terminals.list': call('terminals', {}, gives<TerminalRow[]>),
  /** `attach` is the command that shows the terminal without termaite. */
  'terminal.open': call('terminals', { id }, gives<{ attach?: string }>),
  'terminal.screen': call('terminals', { id }, gives<Screen>),
  'terminal.paint': call('terminals', { id, above: integer(0, mostAbove) }, gives<Picture>),
  'terminal.history': call('terminals', { id, rows: integer(1, mostRows) }, gives<string[]>),
  'terminal.output': stream('terminals', { id, after: integer(0) }, gives<OutputPiece>),
  /** One item when the program has exited. */
  'terminal.exited': stream('terminals', { id }, gives<Exit>),
  /** The beginning of a text that is longer than a frame; the text of the next `terminal.type` continues it. */
  'terminal.part': call('process', { id, text: string() }, gives<true>),
  /** `person`: whether a person typed it; always true for people elsewhere. */
  'terminal.type': call('typing', { id, paste: boolean(), text: string(), person: optional(boolean()) }, gives<true>),
  'terminal.resize': call('typing', { id, cols: side, rows: side }, gives<true>),
  'terminal.press': call('process', { id, key: text }, gives<true>),
  'terminal.children': call('process', { id }, gives<number>),
  'terminal.touched': call('process', { id }, gives<number>),
  'terminal.retitle': call('process', { id, title: string(), ring: boolean() }, gives<true>),
  'terminal.close': call('process', { id }, gives<true>),
  'prompts.send': call(
    'prompts',
    { text, session: optional(text), project: optional(text), fresh: optional(boolean()), agent: optional(text) },
    gives<{ session: string }>,
  ),
  'conversations.list': call('conversations', {}, gives<KeptConversation[]>),
  'conversations.projects': call('conversations', {}, gives<KeptProject[]>),
  'conversations.page': call(
    'conversations',
    { session: text, before: place, after: place, around: optional(text) },
    gives<EntryPage | undefined>,
  ),
  /** A null means that the log no longer has the position. */
  'conversations.follow': stream('conversations', { session: text, after: integer(0) }, gives<PlacedEntry | null>),
  work: call('work', { name: text, input: anything() }, gives<unknown>),
} satisfies Record<string, Method<'call' | 'stream', never, unknown> | Method<'call' | 'stream', object, unknown>>

type Methods = typeof methods
export type MethodName = keyof Methods
export type StreamName = { [N in MethodName]: Methods[N]['kind'] extends 'stream' ? N : never }[MethodName]
export type CallName = Exclude<MethodName, StreamName>
export type ParamsOf<N extends MethodName> = ReturnType<Methods[N]['params']['parse']>
/** The answer to a call, or an item of a stream. */
export type GivenBy<N extends MethodName> = ReturnType<Methods[N]['gives']>

export const isMethod = (name: string): name is MethodName => Object.hasOwn(methods, name)
export const isStream = (name: MethodName): name is StreamName => methods[name].kind === 'stream'

/** The methods that one program answers. */
export type Answering = {
  [N in MethodName]?: (
    params: ParamsOf<N>,
    context: AnswerContext,
  ) => N extends StreamName ? AsyncIterable<GivenBy<N>> : Promise<GivenBy<N>>
}

/**
 * Answers according to the table: parses the parameters first, and refuses anything that the machine does not offer, even if its hub
 * allowed it.
 */
export class MethodAnswers implements Answers {
  #does: Answering
  #offers: ReadonlySet<string> | undefined

  /** Processes of the same person need no offers. */
  constructor(does: Answering, offers?: Iterable<MachineOffer>) {
    this.#does = does
    this.#offers = offers && new Set<string>(offers)
  }

  methods(): readonly string[] {
    return Object.keys(methods).filter((name) => Object.hasOwn(this.#does, name))
  }

  answer(name: string, sent: Record<string, unknown>, context: AnswerContext) {
    if (!isMethod(name) || !Object.hasOwn(this.#does, name)) return undefined
    const { scope, params } = methods[name]
    if (this.#offers && scope !== 'work' && scope !== 'process' && !this.#offers.has(scope))
      throw new WireFailure(
        'forbidden',
        `This machine does not let people elsewhere ${offerWords[scope]}. Its owner can allow it: start its link with --offer ${[...this.#offers, scope].join(',')}`,
      )
    const run = this.#does[name] as (
      params: object,
      context: AnswerContext,
    ) => Promise<unknown> | AsyncIterable<unknown>
    return run(parseParams(params, sent), context)
  }
}

function parseParams<T>(params: Parser<T>, sent: unknown): T {
  try {
    return params.parse(sent)
  } catch (error) {
    throw new WireFailure('wrong', (error as Error).message)
  }
}
