import type { Agent, ForeseenTurn, Leash, Traits, Turn } from '../../core/work/agent.ts'
import type { PipeSpec } from './pipe-command.ts'
import type { PipeRun } from './pipe-run.ts'
import type { TurnEar } from './turn-ear.ts'
import type { WarmProcesses, WarmThread } from '../warm-processes.ts'
import type { Event } from '../../core/talk/entry.ts'
import type { Blobs } from '../../core/talk/store.ts'
import type { PipeResult, WarmSeat } from './pipe-process.ts'
import type { Emit, Seat } from '../seat.ts'
import type { Lend } from '../lent-server.ts'
import { lentServerArguments } from '../lent-server.ts'
import type { Enclose } from '../enclosure.ts'
import type { PictureText, Speech } from './speech.ts'
import { unshadowedArgv } from '../../base/process/program-path.ts'
import { defined } from '../../base/defined.ts'
import { failed } from '../../core/talk/outcome.ts'
import { estimateTokens } from '../../core/talk/tokens.ts'
import { promptText } from '../../core/talk/transcript.ts'
import { leashFailure } from '../process-failure.ts'
import { profileTraits, seatedAgent } from '../seat.ts'
import { handOverPictures } from '../turn-pictures.ts'
import { TurnWatch } from '../turn-watch.ts'
import { dialectSpeech } from './dialect-speech.ts'
import {
  composingProfile,
  dialectOf,
  effortWords,
  environmentOf,
  folderWords,
  pipeArgv,
  pipeThread,
  termsOf,
} from './pipe-command.ts'
import { prepareCommand, runCommand } from './pipe-process.ts'
import { warmThread } from '../warm-processes.ts'
import { plainSpeech } from './speech.ts'

export type { PipeSpec } from './pipe-command.ts'

export type PipeParts = {
  blobs: Blobs
  env: Record<string, string | undefined>
  /** Puts the CLI into a sandbox if it needs one. */
  enclose?: Enclose
  lend?: Lend
  /** Stores processes for the next turns; without it each turn has its own process. */
  warm?: WarmProcesses
  /** Whether a file below the folder changed since that time: some work has no other visible sign. */
  changed?(cwd: string, since: number): Promise<boolean>
}

/**
 * An agent that reads a prompt from one pipe and answers on another. Each turn has its own process, or one process serves all turns of a
 * chat.
 */
export function pipeAgent(spec: PipeSpec, seat: Seat, parts: PipeParts): Agent {
  const profile = composingProfile(spec)
  const traits: Traits = {
    window: spec.window,
    memory: profile?.resumes ? 'own' : 'none',
    talks: profile?.leashes[seat.leash] !== undefined,
    steers: dialectOf(spec, seat.leash, undefined)?.steer !== undefined,
    ...profileTraits(spec.profile, seat.leash, profile?.leashes),
  }
  return seatedAgent(
    spec.name,
    traits,
    seat,
    (turn, resume, emit) => takePipeTurn(spec, resume, parts, turn, emit),
    mayStay(spec, seat.leash, parts) ? (next, resume) => preparePipeTurn(spec, resume, parts, next) : undefined,
  )
}

/** Whether a process of the agent may serve several turns, and may therefore wait for one. */
const mayStay = (spec: PipeSpec, leash: Leash, { warm }: PipeParts): boolean =>
  warm !== undefined &&
  composingProfile(spec)?.resumes === true &&
  dialectOf(spec, leash, undefined)?.next !== undefined

/** Starts the process that the next turn will borrow. */
async function preparePipeTurn(
  spec: PipeSpec,
  resume: string | undefined,
  parts: PipeParts,
  next: ForeseenTurn,
): Promise<void> {
  const { warm: pool } = parts
  if (!pool?.open || leashFailure(spec.name, next.leash, composingProfile(spec))) return
  const env = environmentOf(spec, parts.env)
  const thread = pipeThread(spec, next.history, resume)
  const more = await moreWords(spec, parts)
  const dialect = dialectOf(spec, next.leash, thread.key)
  if (!more.lasting || !dialect) return
  await prepareCommand({
    spec,
    turn: next,
    argv: unshadowedArgv(pipeArgv(spec, next, thread.key, more.words), env, next.cwd),
    env,
    enclose: parts.enclose,
    warm: {
      pool,
      fixed: fixedParts(spec, next, env, more.lent),
      terms: termsOf(spec, next.leash),
      thread: warmThread(thread),
    },
    dialect,
  })
}

/**
 * Everything about a turn's command that is fixed when its process starts; `lent` are the arguments for tools that are lent to it. A model, an
 * effort and a leash that the CLI changes in an open process are excluded.
 */
function fixedParts(spec: PipeSpec, turn: ForeseenTurn, env: PipeParts['env'], lent: string): string {
  // The mode of a turn that only plans is fixed, and with it all its terms.
  const change = spec.plans ? undefined : dialectOf(spec, turn.leash, undefined)?.change
  const leash = change?.leashes.includes(turn.leash) ? change.leashes[0]! : turn.leash
  const plain: PipeSpec = change ? { ...spec, model: undefined, effort: undefined } : spec
  const more = furtherWords(plain, lent)
  const argv = pipeArgv(plain, { ...turn, leash }, undefined, more)
  return JSON.stringify([argv, leash, spec.plans, plain.effort, turn.cwd, env])
}

async function takePipeTurn(
  spec: PipeSpec,
  resume: string | undefined,
  parts: PipeParts,
  turn: Turn,
  emit: Emit,
): Promise<void> {
  if (turn.signal.aborted) return emit(ended(failed('aborted', `${spec.name} was cancelled before it started`)))
  const loose = leashFailure(spec.name, turn.leash, composingProfile(spec))
  if (loose) return emit(ended({ ok: false, failure: loose }))
  return new PipeTurn(spec, parts, turn, emit).take(resume)
}

/** The arguments that are added to a command, the ones of them for lent tools, and whether these apply to more than one turn. */
type MoreWords = { words: string; lent: string; lasting: boolean }

/** The arguments that tell the CLI about our tools, its folders and its effort. */
async function moreWords(spec: PipeSpec, { lend }: PipeParts): Promise<MoreWords> {
  const { words: lent, lasting } = await lentServerArguments(composingProfile(spec)?.lends, lend)
  return { words: furtherWords(spec, lent), lent, lasting }
}

function furtherWords(spec: PipeSpec, lent: string): string {
  const composing = composingProfile(spec)
  const all = [lent, folderWords(composing, spec.folders), effortWords(composing, spec.effort)]
  return all.filter((one) => one !== '').join(' ')
}

/** One turn of a CLI behind pipes. */
class PipeTurn {
  #spec: PipeSpec
  #parts: PipeParts
  #turn: Turn
  #emit: Emit
  #watch: TurnWatch
  #env: PipeParts['env']
  /** The kinds of events that were emitted, and the number of events that wait for their reader. */
  #said = new Set<Event['type']>()
  #waiting = 0
  /** The key of the thread that is open in the process, if known. */
  #key: string | undefined
  /** Notes about pictures that the person has already seen. */
  #told = new Set<string>()

  constructor(spec: PipeSpec, parts: PipeParts, turn: Turn, emit: Emit) {
    this.#spec = spec
    this.#parts = parts
    this.#turn = turn
    this.#emit = emit
    this.#watch = new TurnWatch(spec.name, spec, turn)
    this.#env = environmentOf(spec, parts.env)
  }

  /** Runs the turn on the agent's existing thread, or on a new one if that is lost, and then emits the facts about its end. */
  async take(resume: string | undefined): Promise<void> {
    const spec = this.#spec
    const more = await moreWords(spec, this.#parts)
    const { history } = this.#turn
    const thread = pipeThread(spec, history, resume)
    let { key } = thread
    let prompt = await this.#promptFor(key, thread.entries)
    let done = await this.#run(key, prompt, more, warmThread(thread))
    if (key !== undefined && lostThread(spec, done)) {
      key = undefined
      this.#said.clear()
      prompt = await this.#promptFor(key, history)
      done = await this.#run(key, prompt, more, undefined)
    }
    await this.#finish(key, prompt.text, done)
  }

  async #promptFor(key: string | undefined, history: Turn['history']): Promise<PictureText> {
    const spec = this.#spec
    const turn = this.#turn
    const takes = dialectOf(spec, turn.leash, key)?.pictures
    const { blobs } = this.#parts
    const given = await handOverPictures({ ...turn, history }, { name: spec.name, takes, blobs })
    for (const text of given.notes.filter((note) => !this.#told.has(note))) {
      this.#told.add(text)
      await this.#say({ type: 'note', text })
    }
    const text = promptText({
      agent: spec.name,
      prompt: given.prompt,
      history: given.history,
      attempts: turn.attempts,
      steered: given.steered,
      metaInstruction: spec.metaInstruction,
    })
    return { text, pictures: given.pictures }
  }

  #run(
    key: string | undefined,
    prompt: PictureText,
    more: MoreWords,
    thread: WarmThread | undefined,
  ): Promise<PipeResult> {
    const spec = this.#spec
    const turn = this.#turn
    const env = this.#env
    this.#key = key
    return runCommand({
      spec,
      turn,
      argv: unshadowedArgv(pipeArgv(spec, turn, key, more.words), env, turn.cwd),
      env,
      enclose: this.#parts.enclose,
      prompt,
      watch: this.#watch,
      warm: more.lasting ? this.#warmSeat(more.lent, thread) : undefined,
      speech: (process, ear, stays) => this.#speech(key, process, ear, stays),
      alive: (speech, since) => this.#isAlive(speech, since),
    })
  }

  /** How a process of the chat's pool serves the turn; undefined if the agent's process ends with its turn. */
  #warmSeat(lent: string, thread: WarmThread | undefined): WarmSeat | undefined {
    const spec = this.#spec
    const turn = this.#turn
    const { warm } = this.#parts
    if (!warm || !mayStay(spec, turn.leash, this.#parts)) return undefined
    return {
      pool: warm,
      fixed: fixedParts(spec, turn, this.#env, lent),
      terms: termsOf(spec, turn.leash),
      thread,
      opened: () => (this.#key === undefined ? undefined : { key: this.#key, turn: turn.id }),
    }
  }

  #speech(key: string | undefined, process: PipeRun, ear: TurnEar, stays: boolean): Speech {
    const { name } = this.#spec
    const { blobs } = this.#parts
    const emit: Emit = (event) => {
      ear.see(event)
      return this.#say(event)
    }
    const { dialect: before, greeted } = process
    const terms = termsOf(this.#spec, this.#turn.leash)
    const next = before?.next && key !== undefined ? before.next(key, terms) : undefined
    const dialect = greeted?.dialect ?? next ?? dialectOf(this.#spec, this.#turn.leash, key)
    if (!dialect) return plainSpeech(blobs, emit)
    const turn = { ...this.#turn, ask: this.#watch.ask }
    const { stdin } = process.run
    const lines = stays ? process.lines : undefined
    const parts = { name, emit, turn, stdin, withdrawn: ear.over.signal, blobs, lines, before: greeted?.steps }
    return dialectSpeech(dialect, defined(parts))
  }

  /** While an event waits for its reader, the process is blocked: that time does not count as the agent's silence. */
  async #isAlive(speech: Speech, since: number): Promise<boolean> {
    if (this.#waiting > 0 || speech.busy()) return true
    return (await this.#parts.changed?.(this.#turn.cwd, since).catch(() => false)) ?? false
  }

  async #finish(key: string | undefined, prompt: string, { outcome, settled, left }: PipeResult): Promise<void> {
    for (const text of settled) await this.#say({ type: 'note', text })
    if (left.length > 0)
      await this.#say({
        type: 'note',
        text: `some processes of ${this.#spec.name} could not be stopped. Stop them with: kill -9 ${left.join(' ')}`,
      })
    if (outcome.ok) {
      // The next turn resumes the thread that this turn names, even if the CLI does not repeat its name.
      if (key !== undefined && !this.#said.has('thread')) await this.#say({ type: 'thread', key })
      await this.#say(defined({ type: 'reply', text: outcome.text, whole: outcome.whole }))
      if (!this.#said.has('usage')) await this.#say(estimate(prompt, outcome.whole?.bytes ?? outcome.text.length))
    }
    await this.#emit(ended(outcome))
  }

  async #say(event: Event): Promise<void> {
    this.#said.add(event.type)
    if (event.type === 'thread') this.#key = event.key
    this.#waiting++
    await this.#emit(event).finally(() => this.#waiting--)
  }
}

function lostThread(spec: PipeSpec, { outcome, ended }: PipeResult): boolean {
  if (outcome.ok || outcome.failure.kind === 'aborted' || outcome.failure.kind === 'timeout') return false
  return ended !== undefined && spec.profile?.lostThread?.(ended) === true
}

const ended = (outcome: PipeResult['outcome']): Event => ({ type: 'end', outcome })

function estimate(prompt: string, answerChars: number): Event {
  return {
    type: 'usage',
    input: estimateTokens(prompt),
    output: Math.ceil(answerChars / 4),
    source: 'estimated',
  }
}
