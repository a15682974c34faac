import type { Clock } from '../../base/time/clock.ts'
import type { Agent, Leash, Turn } from './agent.ts'
import type { Budget } from './budget.ts'
import type { Settling, Tail } from './dead-turns.ts'
import type { Entry, EntryOf, Event, Fact } from '../talk/entry.ts'
import type { Ref, Blobs, Doc, Log } from '../talk/store.ts'
import type { Failure, Outcome } from '../talk/outcome.ts'
import type { Ask, Question } from '../talk/question.ts'
import type { SessionPlace } from '../talk/session-lines.ts'
import type { ShownPiece } from '../talk/shown-words.ts'
import type { TurnQuestions } from '../talk/turn-questions.ts'
import { drain } from '../../base/relay.ts'
import { defined } from '../../base/defined.ts'
import { newId } from '../../base/id.ts'
import { noBudget } from './budget.ts'
import { InnerWorks } from './inner-work.ts'
import { TurnKeeping } from './turn-keeping.ts'
import { take } from './verbs.ts'
import { DeadTurns, followCalls, unended } from './dead-turns.ts'
import { withShortBody, wholeEntry } from '../talk/body.ts'
import { compactionPrompt, guidesOf, oldestHalf, summaryOf } from '../talk/compaction.ts'
import { steerFact } from '../talk/pictures.ts'
import { sessionLines } from '../talk/session-lines.ts'
import { turnQuestions } from '../talk/turn-questions.ts'
import { nobody } from '../talk/question.ts'
import { agentsThatSaw, view } from '../talk/view.ts'

/** The parts from which a conversation is made. */
type ConversationParts = {
  log: Log<Entry>
  blobs: Blobs
  session: string
  /** The location of the session's entries; by default, anywhere in the log. */
  place?: SessionPlace
  clock: Clock
  /** The mark of this process, by which others know whether the owner of a turn is still alive. */
  owner: string
  alive(owner: string): boolean
  /** Opens the side log of a turn: text that was shown but is in no entry yet. No view and no index reads it. */
  shown?(turn: string): Log<ShownPiece>
  /** The processes that are finishing a dead turn right now: each turn is finished by one of them. */
  settling?: Doc<Settling>
}

/** The surroundings in which a turn runs. */
export type TurnWorld = {
  cwd: string
  leash: Leash
  signal: AbortSignal
  ask?: Ask
  /** Completes a question before it is stored and asked: marks the dangerous parts in it. */
  complete?(question: Question): Promise<Question>
  budget?: Budget
  files?: Ref[]
  /** Returns text that was typed during the turn; see `Turn.steer`. */
  steer?(until?: AbortSignal): Promise<string[]>
  attended?: boolean
  form?: Turn['form']
  terms?: Turn['terms']
  around?: AroundTurn
  /** Lets the screen find the agents that work inside the turn. */
  inside?: InnerWorks
  /** Whether the agent starts while `around.begin` runs: it waits for `Turn.begun` before it changes anything. */
  holdsBack?: boolean
  /** Once this aborts, nothing more is stored here: the turn continues, and another process takes over. */
  left?: AbortSignal
}

/**
 * Work before and after a turn: `begin` runs once the prompt is kept, before an agent changes anything; `end` runs before the turn's
 * end is kept. `acted` is false if the agent held back (`TurnWorld.holdsBack`) to the end, so that the turn has changed nothing. The
 * texts they return are kept as notes; an error becomes a note too and never stops the turn. `news` says what happened to the project's
 * files since the last turn, one line each, for the agent.
 */
export type AroundTurn = {
  begin(turn: string, waits?: Turn['waits']): Promise<string[]>
  end(turn: string, waits?: Turn['waits'], acted?: boolean): Promise<string[]>
  news?(turn: string, entries: readonly Entry[]): Promise<string[]>
}

/**
 * A turn that is opened when its first event is asked for: `see` is called with each event before it is shown, and `over` last, whatever
 * became of the turn.
 */
export type LateTurn = {
  open(): Promise<{ agent: Agent; world: TurnWorld }>
  see(event: Event): void
  over(): Promise<void>
}

/** The part of the turn that the agent gets, and the turn's calls that have no result yet. */
type Given = Pick<Turn, 'prompt' | 'files' | 'history' | 'sent'> & { open: Set<string> }

/** A turn whose prompt is stored. `before` are the turn's entries that another process stored. */
type BegunTurn = {
  agent: Agent
  world: TurnWorld
  asked: Entry
  given: Given
  before: readonly Entry[]
  /** The entries that were read for a new turn. */
  earlier?: readonly Entry[]
}

/** A conversation before a turn: its view, the log lines that could not be read, and how many turns of dead processes were finished. */
export type Standing = { view: Entry[]; broken: string[]; ended: number }

/** Runs turns and stores their facts in the log; no other code writes entries. Reads the entries again whenever the log has grown. */
export class Conversation {
  readonly session: string
  #parts: ConversationParts
  /**
   * The tail of the log from the last read, and the end of the log at that time. A turn reads several times in a row; nothing is kept in
   * memory for long.
   */
  #last: { end: number; tail: WeakRef<Tail> } | undefined

  constructor(parts: ConversationParts) {
    this.session = parts.session
    this.#parts = parts
  }

  /** Stores a fact, durably when it resolves. */
  async append(fact: Fact, by: string, turn = ''): Promise<Entry> {
    const { log, blobs, clock } = this.#parts
    const at = clock.now()
    const own = { id: newId(at), at, by, session: this.session, turn }
    // A fact from another conversation has the id, time and session of that one: they are replaced.
    const entry = defined({ ...own, ...(await withShortBody(fact, blobs)), ...own })
    await log.append(entry)
    return entry
  }

  /** Reads as much of the session as its view needs, oldest first, and the lines that could not be read. */
  async read(): Promise<Tail> {
    const { log, place = { id: this.session } } = this.#parts
    const end = await log.end()
    const known = this.#last?.end === end ? this.#last.tail.deref() : undefined
    const tail = known ?? (await readTail(log, place))
    if (!known) this.#last = { end, tail: new WeakRef(tail) }
    return { entries: [...tail.entries], broken: [...tail.broken] }
  }

  async view(): Promise<Entry[]> {
    return view((await this.read()).entries)
  }

  /** Finishes the turns whose process is dead and closes their open calls. */
  async settle(): Promise<Standing> {
    const dead = new DeadTurns({
      ...this.#parts,
      read: () => this.read(),
      append: (fact, by, turn) => this.append(fact, by, turn),
    })
    const { entries, broken, ended } = await dead.settle()
    return { view: ended > 0 ? await this.view() : view(entries), broken, ended }
  }

  /**
   * Stores the prompt, runs the agent's turn, and stores each fact before it is shown. Never throws once the prompt is stored. `turn` is
   * the id of the turn, if it was chosen before.
   */
  converse(agent: Agent, prompt: string, world: TurnWorld, turn?: string): AsyncGenerator<Event> {
    return this.#take(() => this.#begin(agent, prompt, world, turn))
  }

  /** Opens a turn, and runs it like `converse`. */
  converseLate(prompt: string, { open, see, over }: LateTurn): AsyncGenerator<Event> {
    const begin = async () => {
      const { agent, world } = await open()
      return this.#begin(agent, prompt, world)
    }
    return this.#take(begin, see, over)
  }

  /**
   * Continues the turn of a dead process, for an agent that outlived it. With `sent` the prompt was already pasted, and the turn is
   * only watched. Open questions are withdrawn; the agent asks again if it still needs an answer. A turn that is over yields
   * nothing.
   */
  takeUp(agent: Agent, turn: string, world: TurnWorld, sent?: string): AsyncGenerator<Event> {
    return this.#take(async () => {
      const { entries } = await this.read()
      const own = entries.filter((entry) => entry.turn === turn)
      const asked = unended(own)[0]
      if (!asked) return undefined
      const open = new Set<string>()
      for (const entry of own) followCalls(open, entry)
      for (const ask of unanswered(own)) await this.append({ type: 'answer', ask }, 'termaite', turn)
      const whole = (await wholeEntry(asked, this.#parts.blobs)) as EntryOf<'prompt'>
      const given = defined({ prompt: whole.text, files: asked.files, history: view(entries), open, sent })
      return { agent, world, asked, given, before: own }
    })
  }

  /** Stores the prompt of a turn. */
  async #begin(agent: Agent, prompt: string, world: TurnWorld, turn?: string): Promise<BegunTurn> {
    const { clock, owner } = this.#parts
    const { entries: earlier } = await this.read()
    const history = view(earlier)
    const files = world.files?.length ? world.files : undefined
    const asked = await this.append({ type: 'prompt', text: prompt, files, owner }, 'user', turn ?? newId(clock.now()))
    const given = defined({ prompt, files, history, open: new Set<string>() })
    return { agent, world, asked, given, before: [], earlier }
  }

  /** Runs a turn from its beginning to its end: the only generator of a conversation, whose events come from `TurnKeeping`. */
  async *#take(
    begin: () => Promise<BegunTurn | undefined>,
    see: LateTurn['see'] = () => {},
    over: LateTurn['over'] = async () => {},
  ): AsyncGenerator<Event> {
    try {
      const begun = await begin()
      if (!begun) return
      const { keeping, run, leave } = this.#turn(begun)
      const work = run().finally(() => keeping.out.close())
      try {
        for await (const event of keeping.out) {
          const shown = keeping.asShown(event)
          see(shown)
          yield shown
        }
      } finally {
        leave.abort()
        await work
      }
    } finally {
      await over()
    }
  }

  /** The two sides of a running turn: the recorder of its facts, and the turn as its agent gets it, which `leave` ends. */
  #turn({ agent, world, asked, given, before, earlier }: BegunTurn) {
    const { log, blobs, clock } = this.#parts
    const { open, ...told } = given
    const leave = new AbortController()
    const keeping = new TurnKeeping({
      asked,
      agent: agent.name,
      append: (fact, by) => this.append(fact, by, asked.turn),
      open,
      before,
      again: told.sent !== undefined,
      side: { log: this.#parts.shown?.(asked.turn), blobs, clock },
      left: world.left,
    })
    const questions = turnQuestions({
      log,
      clock,
      turn: asked.turn,
      person: world.ask ?? nobody,
      complete: world.complete,
      keep: (event, by) => keeping.keep(event, by),
    })
    const turn: Turn = {
      id: asked.turn,
      ...told,
      attempts: [],
      steered: [],
      cwd: world.cwd,
      leash: world.leash,
      signal: AbortSignal.any([world.signal, leave.signal]),
      clock,
      ask: questions.ask,
      budget: world.budget ?? noBudget,
      steer: async (until) => {
        const typed = (await world.steer?.(until)) ?? []
        for (const text of typed) await keeping.keep(steerFact(text), 'user')
        return typed
      },
      attended: world.attended,
      form: world.form,
      terms: world.terms,
      inside: world.inside ?? new InnerWorks(),
      waits: (words, until) => keeping.out.offer(defined({ type: 'waiting', words, until, by: 'termaite' })),
    }
    const withNews = () => this.#withNews(turn, world.around, earlier)
    return { keeping, leave, run: () => runTurn(agent, turn, world, keeping, questions, withNews) }
  }

  /**
   * Stores the changes of files since the last turn with that turn, and returns the history including them. The requests of later turns
   * then have them in the same place.
   */
  async #withNews(
    { id, history }: Turn,
    around: AroundTurn | undefined,
    earlier: readonly Entry[] | undefined,
  ): Promise<readonly Entry[]> {
    const last = history.findLast(({ type }) => type === 'end')
    if (!last || !earlier || !around?.news) return history
    try {
      const news = await around.news(id, earlier)
      if (news.length === 0) return history
      return [...history, await this.append({ type: 'changes', text: news.join('\n') }, 'termaite', last.turn)]
    } catch {
      // The turn itself reports snapshots and a log that do not work.
      return history
    }
  }

  /**
   * Replaces the oldest half of the view with the summary that `summarise` returns; if that fails, nothing changes. The prompt for the
   * summary has no more tokens than `most`; `focus` is the person's wish for what to preserve.
   */
  async compact(
    summarise: (prompt: string) => Promise<Outcome>,
    most = Infinity,
    focus = '',
  ): Promise<{ ok: true; entry: Entry } | { ok: false; why: string; failure?: Failure }> {
    const half = oldestHalf(await this.view(), most)
    if (!half) return { ok: false, why: 'there is nothing to summarise yet' }
    const summary = summaryOf(await summarise(compactionPrompt(half, most, focus)))
    if ('why' in summary) return { ok: false, ...summary }
    const { through, entries } = half
    const guides = guidesOf(entries)
    const fact = {
      type: 'summary' as const,
      text: summary.text,
      through,
      shared: agentsThatSaw(entries),
      guides: guides.length > 0 ? guides : undefined,
    }
    return { ok: true, entry: await this.append(fact, 'termaite') }
  }
}

/** Runs the agent's turn between the work before and after it, and stores everything, the end of the turn last. */
async function runTurn(
  agent: Agent,
  turn: Turn,
  { around, holdsBack }: TurnWorld,
  keeping: TurnKeeping,
  questions: TurnQuestions,
  withNews: () => Promise<readonly Entry[]>,
): Promise<void> {
  const begun = keeping.keepNotes(around?.begin(turn.id, turn.waits))
  let acted = !holdsBack
  if (holdsBack)
    turn.begun = () => {
      acted = true
      return begun
    }
  else await begun
  const told: Turn = { ...turn, history: await withNews() }
  const answer = await drain(take(agent, told), (event) => keeping.keepAll(event))
  await Promise.all([keeping.counted, begun])
  await questions.close()
  await keeping.settle(answer)
  await keeping.keepNotes(around?.end(turn.id, turn.waits, acted))
  await keeping.end(answer)
}

function unanswered(entries: readonly Entry[]): string[] {
  const answered = new Set(entries.flatMap((entry) => (entry.type === 'answer' ? [entry.ask] : [])))
  return entries.flatMap((entry) => (entry.type === 'question' && !answered.has(entry.ask) ? [entry.ask] : []))
}

/**
 * Reads one session backwards from the tail, as far as its view needs: up to the furthest `end` that a summary covers, or to the
 * beginning of the session or its origin.
 */
export async function readTail(log: Log<Entry>, session: SessionPlace): Promise<Tail> {
  const entries: Entry[] = []
  const broken: string[] = []
  const throughs = new Set<string>()
  const incomplete = new Set<string>()
  let covered = false
  for await (const { item, broken: text } of sessionLines(log, session)) {
    if (text !== undefined) {
      broken.push(text)
      continue
    }
    entries.push(item)
    if (item.type === 'summary' && item.through !== undefined) throughs.add(item.through)
    if (item.type === 'end' && throughs.has(item.id)) covered = true
    // A judgement has no meaning for an agent: its turn, which may belong to another session, need not be read for it.
    else if (!covered && item.turn && item.type !== 'judgement') incomplete.add(item.turn)
    if (item.type === 'prompt') incomplete.delete(item.turn)
    if (covered && incomplete.size === 0) break
  }
  return { entries: entries.reverse(), broken: broken.reverse() }
}
