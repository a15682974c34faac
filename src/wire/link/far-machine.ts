import type { FarPerson, TerminalRow, Typed } from '../../core/screen/machine-terminals.ts'
import type { Picture, Terminal } from '../../core/screen/terminal.ts'
import type { EntryPage, KeptConversation, KeptProject, PageWish, PlacedEntry } from '../../core/turns/conversations.ts'
import type { PromptWish } from '../../core/turns/machine-prompts.ts'
import type { LiveChange, TurnChange } from '../../core/turns/machine-turns.ts'
import type { Asker, WorkKind } from '../../hub/model/machine-work.ts'
import type { MachineOffer } from '../../hub/model/machine-standing.ts'
import type { Asking, AskOptions } from '../frames/asking.ts'
import type { CallName, GivenBy, ParamsOf, StreamName } from '../frames/methods.ts'
import type { TerminalLine } from '../frames/remote-terminal.ts'
import { defined } from '../../base/defined.ts'
import { callerRoles } from '../../hub/model/access/hub-key.ts'
import { MachineAway, WorkRefused } from '../../hub/model/machine-work.ts'
import { HubError } from '../../hub/engine/rules/task-rules.ts'
import { OutputPiece, WireFailure } from '../frames/frames.ts'
import { RemoteTerminal } from '../frames/remote-terminal.ts'
import {
  placedEntryIn,
  readBegun,
  readConversations,
  readExit,
  readLiveChange,
  readPage,
  readPicture,
  readProjects,
  readRows,
  readScreen,
  readTerminalRows,
  readTurnChange,
} from './far-rows.ts'

/** The hub itself, which reads for everybody whom it admits. A person's acts are requested in that person's name. */
const theHub: Asker = { name: 'hub', role: 'admin' }

/** How long to wait for an answer. */
const patienceMs = 15_000
/** How long a prompt may take until its turn has begun. */
const promptMs = 30_000
/** How much longer than the work itself its answer may take. */
const workGraceMs = 5_000

/** Another machine while it is linked: everything that it offers. Its rows carry its name; ids are those of that machine. */
export class FarMachine {
  readonly machine: string
  readonly offers: ReadonlySet<MachineOffer>
  readonly works: readonly string[]
  #asking: Asking
  /** The name that is sent along if the other end is a hub, which passes the request on. */
  #through: string | undefined

  constructor(
    about: { machine: string; offers: readonly string[]; works: readonly string[] },
    asking: Asking,
    isRelayed = false,
  ) {
    this.machine = about.machine
    this.offers = new Set(about.offers as MachineOffer[])
    this.works = about.works
    this.#asking = asking
    this.#through = isRelayed ? about.machine : undefined
  }

  async *turns(signal: AbortSignal): AsyncGenerator<TurnChange> {
    const { machine } = this
    const onlyReading = this.offers.has('answers') ? undefined : (true as const)
    for await (const item of this.#stream('turns.follow', {}, signal)) {
      const change = readTurnChange(item)
      if (change?.type === 'turn') yield { ...change, row: defined({ ...change.row, machine, onlyReading }) }
      else if (change) yield change
    }
  }

  async *watch(session: string, signal: AbortSignal): AsyncGenerator<LiveChange> {
    for await (const item of this.#stream('turns.watch', { session }, signal)) {
      const change = readLiveChange(item)
      if (change) yield change
    }
  }

  async answer(turn: string, ask: string, picks: string[] | undefined, by: FarPerson): Promise<boolean> {
    return (await this.#act('turn.answer', defined({ turn, ask, picks }), by)) === true
  }

  async steer(turn: string, text: string, by: FarPerson): Promise<boolean> {
    return (await this.#act('turn.steer', { turn, text }, by)) === true
  }

  async cancel(turn: string, by: FarPerson): Promise<boolean> {
    return (await this.#act('turn.cancel', { turn }, by)) === true
  }

  async terminals(): Promise<TerminalRow[]> {
    const { machine } = this
    const onlyReading = this.offers.has('typing') ? undefined : (true as const)
    const rows = readTerminalRows(await this.#call('terminals.list', {})) ?? []
    return rows.map((row) => defined({ ...row, machine, onlyReading }))
  }

  async open(id: string): Promise<Terminal | undefined> {
    try {
      await this.#call('terminal.open', { id })
    } catch (error) {
      if (error instanceof WireFailure && error.kind === 'missing') return undefined
      throw error
    }
    return new RemoteTerminal(this.#line, id)
  }

  async type(id: string, { as, text }: Typed, by: FarPerson): Promise<void> {
    await this.#act('terminal.type', { id, paste: as === 'paste', text }, by)
  }

  async resize(id: string, { cols, rows }: { cols: number; rows: number }, by: FarPerson): Promise<void> {
    await this.#act('terminal.resize', { id, cols, rows }, by)
  }

  async prompt(wish: PromptWish, by: FarPerson): Promise<{ session: string }> {
    const { machine: _, ...sent } = wish
    const begun = readBegun(await this.#act('prompts.send', sent, by, { withinMs: promptMs }))
    if (!begun)
      throw new HubError(
        'conflict',
        `${this.machine} sent an answer that this hub cannot read. Compare the versions of termaite: termaite hub machines`,
      )
    return begun
  }

  async conversations(): Promise<KeptConversation[]> {
    if (!this.offers.has('conversations')) return []
    return readConversations(await this.#call('conversations.list', {})) ?? []
  }

  async projects(): Promise<KeptProject[]> {
    if (!this.offers.has('conversations')) return []
    return readProjects(await this.#call('conversations.projects', {})) ?? []
  }

  async page(session: string, wish: PageWish): Promise<EntryPage | undefined> {
    return readPage(await this.#act('conversations.page', { session, ...wish }, theHub))
  }

  async *entries(session: string, after: number, signal: AbortSignal): AsyncGenerator<PlacedEntry | undefined> {
    for await (const item of this.#stream('conversations.follow', { session, after }, signal))
      if (item === null) return yield undefined
      else {
        const entry = placedEntryIn(item)
        if (entry) yield entry
      }
  }

  /** Asks for work; rejects with MachineAway or WorkRefused. */
  async work<Input, Output>(
    { name, output, mostMs }: WorkKind<Input, Output>,
    input: Input,
    { by, signal }: { by: Asker; signal?: AbortSignal },
  ): Promise<Output> {
    const { machine } = this
    try {
      const options = defined({ by, signal, withinMs: mostMs + workGraceMs })
      const result = await this.#call('work', { name, input }, options)
      return output.parse(result)
    } catch (error) {
      if (!(error instanceof WireFailure)) throw signal?.aborted ? error : new WorkRefused((error as Error).message)
      throw error.kind === 'away'
        ? new MachineAway(machine, `${machine}: ${error.message} Whether it did the work is not known.`)
        : new WorkRefused(error.message)
    }
  }

  /** Terminals of another machine are only read here: people type through `type`, which includes their name. */
  #line: TerminalLine = {
    lost: { lost: true },
    call: async (method, params) => {
      const read = terminalReaders[method]
      if (!read) throw new Error('a terminal on another machine is only read here')
      return checkAnswer(read(await this.#call(method, params)))
    },
    stream: (method, params) => this.#items(method, params),
  }

  async *#items<N extends StreamName>(method: N, params: ParamsOf<N>): AsyncGenerator<GivenBy<N>> {
    for await (const item of this.#stream(method, params)) {
      const read = itemReaders[method]?.(item)
      if (read !== undefined) yield read
    }
  }

  #call<N extends CallName>(method: N, params: ParamsOf<N>, options: Partial<AskOptions> = {}): Promise<unknown> {
    const usual = { by: theHub, machine: this.#through, withinMs: patienceMs }
    return this.#asking.call(method, params, defined({ ...usual, ...options }))
  }

  /** Makes a request in a person's name; a refusal becomes a hub error with a message for that person. */
  async #act<N extends CallName>(
    method: N,
    params: ParamsOf<N>,
    by: FarPerson,
    options: Partial<AskOptions> = {},
  ): Promise<unknown> {
    const role = callerRoles.find((each) => each === by.role) ?? 'guest'
    try {
      return await this.#call(method, params, { ...options, by: { name: by.name, role } })
    } catch (error) {
      if (!(error instanceof WireFailure)) throw error
      const known = (['missing', 'wrong', 'long', 'forbidden'] as const).find((kind) => kind === error.kind)
      throw new HubError(known ?? 'conflict', `${this.machine}: ${error.message}`)
    }
  }

  /** The stream ends if the machine refuses it or goes away. */
  async *#stream<N extends StreamName>(method: N, params: ParamsOf<N>, signal?: AbortSignal): AsyncGenerator<unknown> {
    try {
      yield* this.#asking.stream(method, params, defined({ by: theHub, machine: this.#through, signal }))
    } catch (error) {
      if (!(error instanceof WireFailure)) throw error
    }
  }
}

/** The readers of the answers about a terminal; a terminal uses no other methods. */
const terminalReaders: { [N in CallName]?: (value: unknown) => GivenBy<N> | undefined } = {
  'terminal.screen': readScreen,
  'terminal.paint': readDrawnPicture,
  'terminal.history': readRows,
}

const itemReaders: { [N in StreamName]?: (value: unknown) => GivenBy<N> | undefined } = {
  'terminal.output': (item) => (item instanceof OutputPiece ? item : undefined),
  'terminal.exited': (item) => readExit(item) ?? { lost: true },
}

function readDrawnPicture(value: unknown): Picture | undefined {
  const picture = readPicture(value)
  return picture && { ...picture, text: drawable(picture.text) }
}

function checkAnswer<T>(read: T | undefined): T {
  if (read === undefined) throw new Error('the machine sent an answer that this hub cannot read')
  return read
}

/** A picture contains text, colours, cursor movements and modes; anything else, such as writing to the clipboard, is removed. */
function drawable(text: string): string {
  return text.replaceAll(
    /\u001b(?:[\]P^_X][^]*?(?:\u0007|\u001b\\|$)|c|\[3J|\[[\d;?>=<]*[cntq]|\[\?(?:47|1047|1049)[hl])/g,
    '',
  )
}
