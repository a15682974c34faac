import type { Clock } from '../../base/clock.ts'
import type { Agent, Leash, Turn } from './agent.ts'
import type { Budget } from './budget.ts'
import type { Settling, Tail } from './dead-turns.ts'
import type { Entry, EntryOf, Event, Fact, Notification } from '../talk/entry.ts'
import type { Ref, Blobs, Doc, Log } from '../talk/store.ts'
import type { Failure, Outcome } from '../talk/outcome.ts'
import type { Ask, Question } from '../talk/question.ts'
import type { SessionPlace } from '../talk/session-lines.ts'
import type { ShownPiece, SignedFact } from '../talk/shown-words.ts'
import { messageOf } from '../../base/error-message.ts'
import { Channel } from '../../base/channel.ts'
import { drain } from '../../base/relay.ts'
import { defined } from '../../base/defined.ts'
import { newId } from '../../base/id.ts'
import { noBudget } from './budget.ts'
import { InnerWorks } from './inner-work.ts'
import { take } from './verbs.ts'
import { DeadTurns, followCalls, interrupted, unended } from './dead-turns.ts'
import { withShortBody, wholeEntry } from '../talk/body.ts'
import { compactionPrompt, guidesOf, oldestHalf, summaryOf } from '../talk/compaction.ts'
import { isFact } from '../talk/entry.ts'
import { steerFact } from '../talk/pictures.ts'
import { sessionLines } from '../talk/session-lines.ts'
import { turnQuestions } from '../talk/turn-questions.ts'
import { roleLabel } from '../talk/framework.ts'
import { failed, failureSentence } from '../talk/outcome.ts'
import { nobody } from '../talk/question.ts'
import { cutBy, ShownWords } from '../talk/shown-words.ts'
import { agentsThatSaw, view } from '../talk/view.ts'

/** The parts that a conversation is made of. */
export type ConversationParts = {
  log: Log<Entry>
  blobs: Blobs
  session: string
  /** Where the entries of the session are; by default, anywhere in the log. */
  place?: SessionPlace
  clock: Clock
  /** The mark of this process, by which others know whether the owner of a turn is still alive. */
  owner: string
  alive(owner: string): boolean
  /** Opens the side log of a turn: words that were shown and that no entry holds yet. No view and no index reads it. */
  shown?(turn: string): Log<ShownPiece>
  /** The processes that are ending a dead turn right now: each turn is ended by one of them. */
  settling?: Doc<Settling>
}

/** The circumstances that a turn is run in. */
export type TurnWorld = {
  cwd: string
  leash: Leash
  signal: AbortSignal
  ask?: Ask
  /** Completes a question before it is kept and asked: marks what is dangerous in it. */
  complete?(question: Question): Promise<Question>
  budget?: Budget
  files?: Ref[]
  /** Returns text that was typed during the turn; see `Turn.steer`. */
  steer?(until?: AbortSignal): Promise<string[]>
  attended?: boolean
  form?: Turn['form']
  terms?: Turn['terms']
  around?: AroundTurn
  /** Where the agents that work inside the turn are found by the screen that shows them. */
  inside?: InnerWorks
  /** Whether the agent is asked while `around.begin` runs: it waits for `Turn.begun` before it changes anything. */
  holdsBack?: boolean
  /** Once it aborts, nothing more is kept here: the turn goes on, and another process takes it up. */
  left?: AbortSignal
}

/**
 * Work before and after a turn: `begin` runs once the prompt is kept, before an agent changes anything; `end` runs before the turn's
 * end is kept. The texts they return are kept as notes; an error becomes a note too and never stops the turn.
 */
export type AroundTurn = {
  begin(turn: string, waits?: Turn['waits']): Promise<string[]>
  end(turn: string, waits?: Turn['waits']): Promise<string[]>
}

/** The part of the turn that the agent is given, and the turn's calls that have no result yet. */
type Given = Pick<Turn, 'prompt' | 'files' | 'history' | 'sent'> & { open: Set<string> }

/** A conversation before a turn: its view, the log lines that could not be read, and how many turns of dead processes were ended. */
export type Standing = { view: Entry[]; broken: string[]; ended: number }

/** Runs turns and keeps their facts in the log; nothing else writes entries. Entries are read anew whenever the log has grown. */
export class Conversation {
  readonly session: string
  #parts: ConversationParts
  /** The tail of the log as it was read last, and where the log ended then. A turn reads several times in a row; nothing is held for long. */
  #last: { end: number; tail: WeakRef<Tail> } | undefined

  constructor(parts: ConversationParts) {
    this.session = parts.session
    this.#parts = parts
  }

  /** Keeps a fact, durably when it resolves. */
  async append(fact: Fact, by: string, turn = ''): Promise<Entry> {
    const { log, blobs, clock } = this.#parts
    const at = clock.now()
    const own = { id: newId(at), at, by, session: this.session, turn }
    // A fact that comes from another conversation carries the id, time and session of that one: they are replaced.
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

  /** Ends the turns whose process is dead and closes the calls they left open. */
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
   * Keeps the prompt, takes the agent's turn, and keeps each fact before it is shown. Never throws once the prompt is kept. `turn` is
   * the id of the turn, where it was chosen before.
   */
  async *converse(agent: Agent, prompt: string, world: TurnWorld, turn?: string): AsyncGenerator<Event> {
    const { clock, owner } = this.#parts
    const history = await this.view()
    const files = world.files?.length ? world.files : undefined
    const asked = await this.append({ type: 'prompt', text: prompt, files, owner }, 'user', turn ?? newId(clock.now()))
    yield* this.#take(agent, asked, defined({ prompt, files, history, open: new Set<string>() }), world, [])
  }

  /**
   * Goes on with the turn of a dead process, for an agent that outlived it. With `sent` the prompt was pasted already, and the
   * turn is only watched. Open questions are withdrawn; the agent asks again if it still needs an answer. A turn that is over
   * yields nothing.
   */
  async *takeUp(agent: Agent, turn: string, world: TurnWorld, sent?: string): AsyncGenerator<Event> {
    const { entries } = await this.read()
    const own = entries.filter((entry) => entry.turn === turn)
    const asked = unended(own)[0]
    if (!asked) return
    const open = new Set<string>()
    for (const entry of own) followCalls(open, entry)
    for (const ask of unanswered(own)) await this.append({ type: 'answer', ask }, 'termaite', turn)
    const whole = (await wholeEntry(asked, this.#parts.blobs)) as EntryOf<'prompt'>
    const given = defined({ prompt: whole.text, files: asked.files, history: view(entries), open, sent })
    yield* this.#take(agent, asked, given, world, own)
  }

  /** `before` are the entries of the turn that another process kept. */
  async *#take(
    agent: Agent,
    asked: Entry,
    given: Given,
    world: TurnWorld,
    before: readonly Entry[],
  ): AsyncGenerator<Event> {
    const { clock, blobs } = this.#parts
    const { open, ...told } = given
    const leave = new AbortController()
    const out = new Channel<Event>(256)
    out.offer(asked)
    let unkept: string | undefined
    let reply: string | undefined
    let answer: Outcome | undefined
    const side = {
      log: this.#parts.shown?.(asked.turn),
      blobs,
      clock,
      warn: (text: string) => out.offer({ type: 'note', text, by: 'termaite' }),
    }
    const shown = before.length > 0 ? ShownWords.ofTurn(side, before, told.sent !== undefined) : new ShownWords(side)
    const keep = async (event: Event, by: string) => {
      if (!isFact(event)) return out.push(event)
      if (world.left?.aborted) return
      try {
        const { by: signed, ...fact } = event
        const entry = await this.append(withoutEcho(fact, reply), signed ?? by, asked.turn)
        followCalls(open, entry)
        shown.kept(entry)
        if (entry.type === 'reply') reply = (fact as EntryOf<'reply'>).text
        await out.push(fact.type === 'end' ? ({ ...entry, outcome: fact.outcome } as Entry) : entry)
      } catch (error) {
        unkept ??= messageOf(error)
        await out.push(event)
      }
    }
    const keepWords = async (words: readonly SignedFact[]) => {
      for (const fact of words) await keep(fact, agent.name)
    }
    const questions = turnQuestions({
      log: this.#parts.log,
      clock,
      turn: asked.turn,
      person: world.ask ?? nobody,
      complete: world.complete,
      keep,
    })
    const waits: Turn['waits'] = (words, until) => out.offer(defined({ type: 'waiting', words, until, by: 'termaite' }))
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
        for (const text of typed) await keep(steerFact(text), 'user')
        return typed
      },
      attended: world.attended,
      form: world.form,
      terms: world.terms,
      inside: world.inside ?? new InnerWorks(),
      waits,
    }
    const tell = async (around: Promise<string[]> | undefined) => {
      for (const text of (await around?.catch((error) => [messageOf(error)])) ?? [])
        await keep({ type: 'note', text }, 'termaite')
    }
    const troubles = new Set<string>()
    const work = (async () => {
      const begun = tell(world.around?.begin(asked.turn, waits))
      if (world.holdsBack) turn.begun = () => begun
      else await begun
      let counted: Promise<void> | undefined
      answer = await drain(take(agent, turn), async (event) => {
        for (const usage of innerUsage(event)) await keep(usage, agent.name)
        const report = innerReport(event)
        if (report) await keep(report, report.by ?? agent.name)
        const trouble = innerTrouble(event)
        // Several consultations may skip the same agent for the same reason.
        if (trouble !== undefined && !troubles.has(trouble)) await keep({ type: 'note', text: trouble }, agent.name)
        if (trouble !== undefined) troubles.add(trouble)
        await shown.see(event)
        const over = innerEnd(event)
        if (over) await keepWords(await shown.consulted(over.from, over.failure))
        if (event.type === 'reply') await keepWords(shown.asides(event.by ?? agent.name, event.text))
        // The words of a failed attempt are kept whole; the attempt itself says only the last of them.
        if (event.type === 'attempt') await keepWords(await shown.failed(event.by ?? agent.name, event.failure))
        const kept = keep(event, agent.name)
        // Nothing depends on a usage: it becomes durable together with the next line.
        if (event.type === 'usage') counted = kept
        else await kept
      })
      await Promise.all([counted, begun])
      await questions.close()
      for (const call of [...open]) await keep(interrupted(call), 'termaite')
      if (!world.left?.aborted) await keepWords(await unheld(shown, answer))
      // The words that facts could not take up wait in the side log for a later process.
      await shown.close({ remove: !unkept && !world.left?.aborted })
      await tell(world.around?.end(asked.turn, waits))
      await keep({ type: 'end', outcome: unkept ? lost(unkept) : answer }, agent.name)
    })().finally(() => out.close())
    try {
      for await (const event of out)
        yield event.type === 'end' && unkept ? { ...event, outcome: lost(unkept, answer) } : event
    } finally {
      leave.abort()
      await work
    }
  }

  /**
   * Replaces the oldest half of the view with the summary that `summarise` gives; if that fails, nothing changes. The prompt
   * for the summary has no more tokens than `most`; `focus` is what the person wants kept above all.
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

/** Empties the text of an end that only repeats the last reply. */
function withoutEcho(fact: Fact, reply: string | undefined): Fact {
  if (fact.type !== 'end' || !fact.outcome.ok || fact.outcome.text !== reply) return fact
  return { ...fact, outcome: { ...fact.outcome, text: '' } }
}

function unanswered(entries: readonly Entry[]): string[] {
  const answered = new Set(entries.flatMap((entry) => (entry.type === 'answer' ? [entry.ask] : [])))
  return entries.flatMap((entry) => (entry.type === 'question' && !answered.has(entry.ask) ? [entry.ask] : []))
}

/** Finds the usage of a consulted agent at any depth: it is kept too. */
function innerUsage(event: Event): Event[] {
  if (event.type !== 'inner') return []
  return event.event.type === 'usage' ? [event.event] : innerUsage(event.event)
}

/** The report of an agent that another one sent, at any depth, with the roles that it came through. */
function innerReport(event: Event, from: readonly string[] = []): (Notification & { by?: string }) | undefined {
  if (event.type !== 'inner')
    return event.type === 'notification' && from.length > 0 ? { ...event, from: [...from] } : undefined
  return innerReport(event.event, [...from, event.role])
}

/** Says which agent failed or was skipped in a consultation at any depth, so that no agent is asked in secret. */
function innerTrouble(event: Event): string | undefined {
  if (event.type !== 'inner') return undefined
  const { role, event: inside } = event
  if (inside.type === 'note') return inside.text
  if (inside.type !== 'attempt') return innerTrouble(inside)
  return `${failureSentence(inside.by ?? 'An agent', inside.failure)} (asked for: ${roleLabel(role)})`
}

/** The end of a consultation at any depth: the roles of the agent, and why it failed. */
function innerEnd(event: Event, from: readonly string[] = []): { from: string[]; failure?: Failure } | undefined {
  if (event.type !== 'inner') return undefined
  const roles = [...from, event.role]
  if (event.event.type !== 'end') return innerEnd(event.event, roles)
  const { outcome } = event.event
  return outcome.ok ? { from: roles } : { from: roles, failure: outcome.failure }
}

/** Returns the words that were shown and that neither a reply nor the answer holds. */
async function unheld(shown: ShownWords, answer: Outcome): Promise<SignedFact[]> {
  if (!answer.ok) return shown.rest(cutBy(answer.failure))
  return (await shown.rest()).filter(({ text }) => !answer.text.includes(text))
}

/** The end of a turn whose facts could not be kept. `answer` is only shown: it is in no log. */
function lost(why: string, answer?: Outcome): Outcome {
  const loss = failed('crash', `the turn ran, but it could not be saved: ${why}`)
  if (!answer?.ok) return loss
  const { text, whole } = answer
  return { ...loss, unkept: whole ? { text, whole } : { text } }
}

/**
 * Reads one session back from the tail, as far as its view needs and no further:
 * to the furthest `end` that a summary stands for, or to where the session or its origin began.
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
    // A judgement says nothing to an agent: its turn, which may be of another session, need not be read for it.
    else if (!covered && item.turn && item.type !== 'judgement') incomplete.add(item.turn)
    if (item.type === 'prompt') incomplete.delete(item.turn)
    if (covered && incomplete.size === 0) break
  }
  return { entries: entries.reverse(), broken: broken.reverse() }
}
