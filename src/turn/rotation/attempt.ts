import type { Clock } from '../../base/time/clock.ts'
import type { Attempt, Event } from '../../core/talk/entry.ts'
import type { Failure } from '../../core/talk/outcome.ts'
import type { Ask } from '../../core/talk/question.ts'
import type { Turn } from '../../core/work/agent.ts'
import { defined } from '../../base/defined.ts'

/** A failed attempt, as it is stored and shown to the next agent. */
export type FailedAttempt = Attempt & { by: string }

type AttemptSources = {
  mask(text: string): string
  /** Returns the files that changed since the last call, so that each attempt reports only its own changes. */
  changes?(): Promise<string[]>
}

/** Records one agent's attempt at a turn, and reports what the agent did if the attempt fails. */
export class AttemptRecord {
  #by: string
  #clock: Clock
  #sources: AttemptSources
  #work = new WorkSummary()
  #started: number
  #ended: number | undefined

  constructor(by: string, clock: Clock, sources: AttemptSources) {
    this.#by = by
    this.#clock = clock
    this.#sources = sources
    this.#started = clock.elapsed()
  }

  see(event: Event): void {
    this.#work.see(event)
  }

  /** Stops the attempt's clock: questions to the person after it are not its time. */
  end(): void {
    this.#ended = this.#clock.elapsed()
  }

  async failed(failure: Failure): Promise<FailedAttempt> {
    const { mask, changes } = this.#sources
    // Even if the files cannot be compared, the calls still show which files were touched.
    const changed = await changes?.().catch(() => undefined)
    return defined({
      type: 'attempt',
      by: this.#by,
      failure: { ...failure, message: mask(failure.message) },
      ms: Math.round((this.#ended ?? this.#clock.elapsed()) - this.#started),
      did: this.#work.did(mask, changed),
    })
  }
}

/** Collects the messages between the person and the agent of one attempt. */
export class PersonWatch {
  permissionAsked = false
  /** Texts that the person typed to the attempt. */
  readonly typed: string[] = []
  readonly ask: Ask
  readonly steer: Turn['steer']

  constructor({ ask, steer }: Turn) {
    this.ask = (question, ...rest) => {
      this.permissionAsked ||= question.about === 'permission'
      return ask(question, ...rest)
    }
    this.steer = async (until) => {
      const typed = await steer(until)
      this.typed.push(...typed)
      return typed
    }
  }
}

type Did = NonNullable<Attempt['did']>

const longest = 2_000
const longestCall = 200
/** More text is collected than is reported: secrets are masked before the text is cut, so that half a secret never remains. */
const held = { words: 4 * longest, call: 4 * longestCall, calls: 200 }

/** Collects an attempt's calls, files and last text from its events. */
export class WorkSummary {
  #calls: string[] = []
  #earlier = 0
  #files = new Set<string>()
  #words = ''
  #spoken = false

  see(event: Event): void {
    if (event.type === 'text') this.#hear((this.#spoken ? '' : this.#words) + event.delta, false)
    else if (event.type === 'reply') this.#hear(event.text, true)
    else if (event.type === 'call') {
      this.#hear(this.#words, true)
      this.#calls.push(`${event.tool}: ${oneLine(event.input)}`.slice(0, held.call))
      if (this.#calls.length > held.calls) this.#earlier += this.#calls.splice(0, 1).length
      if (writes.test(event.tool)) for (const path of paths(event.input)) this.#files.add(path)
    }
  }

  /** `changed` are the files that changed on the disk; without them, the files that the calls named are used. */
  did(mask: (text: string) => string, changed?: readonly string[]): Did | undefined {
    const did = {
      calls: this.#lastCalls(mask),
      files: firstFiles((changed ?? [...this.#files]).map(mask)),
      lastWords: mask(this.#words).trim().slice(-longest),
    }
    return did.calls.length || did.files.length || did.lastWords ? did : undefined
  }

  #hear(words: string, spoken: boolean) {
    this.#words = words.slice(-held.words)
    this.#spoken = spoken
  }

  /** The newest calls: the next agent needs to know the last steps most. */
  #lastCalls(mask: (text: string) => string): string[] {
    const newest = this.#calls.map((call) => short(mask(call))).reverse()
    const fitting = newest.slice(0, howManyFit(newest)).reverse()
    const missing = this.#earlier + newest.length - fitting.length
    return missing ? [`… ${missing} earlier calls`, ...fitting] : fitting
  }
}

function firstFiles(files: readonly string[]): string[] {
  const fitting = files.slice(0, howManyFit(files))
  const missing = files.length - fitting.length
  return missing ? [...fitting, `… ${missing} more files`] : fitting
}

function howManyFit(items: readonly string[]): number {
  let chars = 0
  const over = items.findIndex((item) => (chars += item.length) > longest)
  return over < 0 ? items.length : over
}

const writes = /write|edit|creat|patch|replace|delete|remove|move|rename|change/i
const pathKeys = new Set(['path', 'file_path', 'filePath', 'filepath', 'absolute_path', 'notebook_path', 'file'])

function paths(input: unknown): string[] {
  if (Array.isArray(input)) return input.flatMap(paths)
  if (typeof input !== 'object' || input === null) return []
  return Object.entries(input).flatMap(([key, value]) =>
    typeof value === 'string' ? (pathKeys.has(key) ? [value] : []) : paths(value),
  )
}

function oneLine(input: unknown): string {
  const values = typeof input === 'object' && input !== null ? Object.values(input) : [input]
  const text = values.length === 1 && typeof values[0] === 'string' ? values[0] : (JSON.stringify(input) ?? '')
  return text.replaceAll(/\s+/g, ' ').trim()
}

function short(text: string): string {
  return text.length <= longestCall ? text : `${text.slice(0, longestCall - 1)}…`
}
