import type { Entry, EntryOf, Event, Fact, Notification } from '../talk/entry.ts'
import type { Failure, Outcome } from '../talk/outcome.ts'
import type { ShownParts, SignedFact } from '../talk/shown-words.ts'
import { Channel } from '../../base/channel.ts'
import { messageOf } from '../../base/error-message.ts'
import { isFact } from '../talk/entry.ts'
import { roleLabel } from '../talk/framework.ts'
import { failed, failureSentence } from '../talk/outcome.ts'
import { cutBy, ShownWords } from '../talk/shown-words.ts'
import { followCalls, interrupted } from './dead-turns.ts'

type TurnKeepingParts = {
  /** The stored prompt of the turn, which is shown first. */
  asked: Entry
  /** The name of the turn's agent. */
  agent: string
  append(fact: Fact, by: string): Promise<Entry>
  /** The calls of the turn without a result. */
  open: Set<string>
  /** The entries of the turn that another process stored. */
  before: readonly Entry[]
  /** Whether the agent's screen is read again from its beginning. */
  again: boolean
  side: Omit<ShownParts, 'warn'>
  /** Once this aborts, no more facts are stored: another process takes over the turn. */
  left?: AbortSignal | undefined
}

/** Stores the facts of one turn while it runs, and then passes each event on to be shown. */
export class TurnKeeping {
  /** The events of the turn as they are shown, the prompt first. */
  readonly out = new Channel<Event>(256)
  /** Resolves once the last usage is stored. */
  counted: Promise<void> | undefined
  #parts: TurnKeepingParts
  #shown: ShownWords
  #reply: string | undefined
  #answer: Outcome | undefined
  /** Why the first fact that could not be stored was lost. */
  #unkept: string | undefined
  #troubles = new Set<string>()

  constructor(parts: TurnKeepingParts) {
    this.#parts = parts
    this.out.offer(parts.asked)
    const { before, again } = parts
    const side = {
      ...parts.side,
      warn: (text: string) => this.out.offer({ type: 'note', text, by: 'termaite' }),
    }
    this.#shown = before.length > 0 ? ShownWords.ofTurn(side, before, again) : new ShownWords(side)
  }

  /** Stores an event if it is a fact, and shows it. A fact that cannot be stored is still shown. */
  async keep(event: Event, by: string): Promise<void> {
    if (!isFact(event)) return this.out.push(event)
    const { append, open, left } = this.#parts
    if (left?.aborted) return
    try {
      const { by: signed, ...fact } = event
      const entry = await append(withoutEcho(fact, this.#reply), signed ?? by)
      followCalls(open, entry)
      this.#shown.kept(entry)
      if (entry.type === 'reply') this.#reply = (fact as EntryOf<'reply'>).text
      await this.out.push(fact.type === 'end' ? ({ ...entry, outcome: fact.outcome } as Entry) : entry)
    } catch (error) {
      this.#unkept ??= messageOf(error)
      await this.out.push(event)
    }
  }

  /** Stores the texts of the work before or after the turn as notes, and its error too. */
  async keepNotes(around: Promise<string[]> | undefined): Promise<void> {
    for (const text of (await around?.catch((error) => [messageOf(error)])) ?? [])
      await this.keep({ type: 'note', text }, 'termaite')
  }

  /** Stores an event of the agent, after the facts of consulted agents inside it and the text that it ends. */
  async keepAll(event: Event): Promise<void> {
    const { agent } = this.#parts
    for (const usage of innerUsage(event)) await this.keep(usage, agent)
    const report = innerReport(event)
    if (report) await this.keep(report, report.by ?? agent)
    const trouble = innerTrouble(event)
    // Several consultations may skip the same agent for the same reason.
    if (trouble !== undefined && !this.#troubles.has(trouble)) await this.keep({ type: 'note', text: trouble }, agent)
    if (trouble !== undefined) this.#troubles.add(trouble)
    await this.#shown.see(event)
    const over = innerEnd(event)
    if (over) await this.#keepWords(await this.#shown.consulted(over.from, over.failure))
    const said = event.type === 'reply' ? this.#shown.beforeCalls(event.by ?? agent, event.text) : undefined
    if (said) await this.#keepWords(said.asides)
    // The text of a failed attempt is stored whole; the attempt itself only has the last part.
    if (event.type === 'attempt') await this.#keepWords(await this.#shown.failed(event.by ?? agent, event.failure))
    const kept = this.keep(said && said.calls.length > 0 ? ({ ...event, calls: said.calls } as Event) : event, agent)
    // Nothing depends on a usage: it becomes durable together with the next line.
    if (event.type === 'usage') this.counted = kept
    else await kept
  }

  /** Closes the agent's open calls, and stores the text that neither a reply nor the answer contains. */
  async settle(answer: Outcome): Promise<void> {
    const { open, left } = this.#parts
    for (const call of [...open]) await this.keep(interrupted(call), 'termaite')
    if (!left?.aborted) await this.#keepWords(await unheld(this.#shown, answer))
    // Text that could not become facts waits in the side log for a later process.
    await this.#shown.close({ remove: !this.#unkept && !left?.aborted })
  }

  /** Stores the end of the turn. */
  async end(answer: Outcome): Promise<void> {
    this.#answer = answer
    await this.keep({ type: 'end', outcome: this.#unkept ? lost(this.#unkept) : answer }, this.#parts.agent)
  }

  /** An event in the form in which it is shown: the end of a turn that could not be stored contains the answer, which is in no log. */
  asShown(event: Event): Event {
    return event.type === 'end' && this.#unkept ? { ...event, outcome: lost(this.#unkept, this.#answer) } : event
  }

  async #keepWords(words: readonly SignedFact[]): Promise<void> {
    for (const fact of words) await this.keep(fact, this.#parts.agent)
  }
}

/** Empties the text of an end that only repeats the last reply. */
function withoutEcho(fact: Fact, reply: string | undefined): Fact {
  if (fact.type !== 'end' || !fact.outcome.ok || fact.outcome.text !== reply) return fact
  return { ...fact, outcome: { ...fact.outcome, text: '' } }
}

/** Finds the usage of a consulted agent at any depth, which is stored too. */
function innerUsage(event: Event): Event[] {
  if (event.type !== 'inner') return []
  return event.event.type === 'usage' ? [event.event] : innerUsage(event.event)
}

/** The report of an agent that another one sent, at any depth, with the roles through which it came. */
function innerReport(event: Event, from: readonly string[] = []): (Notification & { by?: string }) | undefined {
  if (event.type !== 'inner')
    return event.type === 'notification' && from.length > 0 ? { ...event, from: [...from] } : undefined
  return innerReport(event.event, [...from, event.role])
}

/** Says which agent failed or was skipped in a consultation at any depth, so that no agent is consulted in secret. */
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

/** Returns the text that was shown and that neither a reply nor the answer contains. */
async function unheld(shown: ShownWords, answer: Outcome): Promise<SignedFact[]> {
  if (!answer.ok) return shown.rest(cutBy(answer.failure))
  return (await shown.rest()).filter(({ text }) => !answer.text.includes(text))
}

/** The end of a turn whose facts could not be stored. `answer` is only shown: it is in no log. */
function lost(why: string, answer?: Outcome): Outcome {
  const loss = failed('crash', `the turn ran, but it could not be saved: ${why}`)
  if (!answer?.ok) return loss
  const { text, whole } = answer
  return { ...loss, unkept: whole ? { text, whole } : { text } }
}
