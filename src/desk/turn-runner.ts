import type { Reach } from '../core/turns/running-turns.ts'
import type { Event } from '../core/talk/entry.ts'
import type { CommandTerms } from '../core/work/agent.ts'
import type { App, AppPlace } from '../turn/app.ts'
import type { Audience } from './audience.ts'
import type { Cards } from '../border/cards.ts'
import { cancelWhenLeft } from '../border/cards.ts'
import type { PromptQueue } from '../turn/prompt-queue.ts'
import type { TurnMaker } from '../app/turn.ts'
import type { BackgroundCommands, CommandInFront } from '../native/tools/shell/background-commands.ts'
import { unkeptAsk } from './command-runner.ts'
import { messageOf } from '../base/error-message.ts'
import { InnerWorks } from '../core/work/inner-work.ts'
import { withPictures } from '../core/talk/pictures.ts'
import { RunningTurns } from '../core/turns/running-turns.ts'
import { serveTurns } from '../wire/peer/peers.ts'
import { attachedPrompt } from '../turn/attachments/attached-prompt.ts'
import { prepareTurn } from '../turn/turn-preparation.ts'
import { runTurn } from '../app/turn.ts'
import { closingOf, TurnSummary } from './turn-summary.ts'

type TurnRunnerParts = {
  app(): App
  audience: Audience
  cards: Cards
  queue: PromptQueue
  /** Called with every event of a turn before it is shown. */
  seen(event: Event): void
  /** Called when a turn is over; another may begin right after. */
  over(seen: TurnSummary, prompt: string): Promise<void>
  /** Resolves when nothing is being started ahead of the turn. */
  foreseen(): Promise<void>
  /** Puts a prompt that could not be saved back into the input. */
  giveBack(prompt: string): void
  /** The turns of all desks of this process, which share one socket; if omitted, this desk has its own. */
  turns?: RunningTurns
}

/** The output of a command of the person, and its exit code or the signal that stopped it; without an exit it did not run to its end. */
export type CommandResult = { exit: number | string | undefined; output: string }

/** Runs the turns of this desk, one after another. */
export class TurnRunner {
  /** Whether leaving now would interrupt a turn. After its `end` event a turn only saves its last facts. */
  running = false
  /** The agents that work inside the running turn. */
  readonly inside = new InnerWorks()
  #parts: TurnRunnerParts
  #stop: AbortController | undefined
  #commands = new Map<AbortController, Promise<unknown>>()
  #jobs: BackgroundCommands | undefined
  #idle: Promise<void> = Promise.resolve()
  /** The newest turn; settles when its last facts are saved. */
  #newest: Promise<unknown> = Promise.resolve()
  /** The agent that the person chose for the next turn, and the one for all turns until the person chooses again. */
  #aimedOnce: string | undefined
  #aimedAlways: string | undefined
  /** Whether the person left a question of the turn unanswered, and wants the prompt back. */
  #left = false
  /** The terms of prompts that came from command files, by prompt. */
  #terms = new Map<string, CommandTerms>()
  #turns: RunningTurns
  #served: ReturnType<typeof serveTurns> | undefined
  #reach: Reach = {
    cancel: () => {
      this.cancel()
    },
    steer: (text) => (this.#parts.queue.add(text), true),
    answer: (ask, picks) => this.#parts.cards.answer(ask, picks),
  }

  constructor(parts: TurnRunnerParts) {
    this.#parts = parts
    this.#turns = parts.turns ?? new RunningTurns()
  }

  get busy(): boolean {
    return this.#stop !== undefined
  }

  /** The agent of the next turn, if the person chose it. */
  get aimed(): string | undefined {
    return this.#aimedOnce ?? this.#aimedAlways
  }

  /** Whether the person chose an agent for all turns. */
  get stays(): boolean {
    return this.#aimedAlways !== undefined
  }

  aim(agent: string | undefined): void {
    this.#aimedOnce = agent
  }

  /** Chooses the agent of all turns from now on; undefined leaves the choice to the rotation again. */
  stay(agent: string | undefined): void {
    this.#aimedAlways = agent
  }

  /** Limits the turn of a prompt to the terms of its command. Text that steers a running turn has no terms. */
  setTerms(prompt: string, terms: CommandTerms): void {
    this.#terms.set(prompt, terms)
  }

  /** Starts a turn, or queues the prompt behind the running one. */
  submit(prompt: string): void {
    if (this.busy) this.#parts.queue.add(prompt)
    else this.#idle = this.#run(prompt)
  }

  /** Starts a turn made by a command; returns false while another turn runs. */
  begin(prompt: string, make: TurnMaker): boolean {
    if (this.busy) return false
    this.#idle = this.#run(prompt, make)
    return true
  }

  /** Starts the next queued prompt if no turn runs. */
  goOn(): void {
    const next = this.busy ? undefined : this.#parts.queue.next()
    if (next !== undefined) this.submit(next)
  }

  /** Resolves when no turn runs and no prompt is queued; another may begin right after. */
  async free(): Promise<void> {
    while (this.busy) await this.#idle
  }

  /**
   * Runs a command of the person in parallel with an agent's turn, if one is running: neither waits for the other. Returns its result;
   * undefined if it has none. `stop` ends it.
   */
  runCommand(command: string, stop = new AbortController()): Promise<CommandResult | undefined> {
    const { audience } = this.#parts
    const sent = audience.send(`!${command}`, 'command')
    const work = this.#command(command, sent, stop).catch((error): undefined => {
      audience.unsend(sent)
      audience.say(messageOf(error), 'error')
      this.#parts.giveBack(`!${command}`)
    })
    this.#commands.set(stop, work)
    return work.finally(() => this.#commands.delete(stop))
  }

  /** Cancels the newest command of the person. Returns whether one was running. */
  cancelCommand(): boolean {
    const newest = [...this.#commands.keys()].findLast(({ signal }) => !signal.aborted)
    newest?.abort()
    return newest !== undefined
  }

  /** The commands of the person and of termaite's own agents, by their owner: those in the background and those in front. */
  get jobs(): ReadonlyMap<string, BackgroundCommands> {
    const { toolboxes } = this.#parts.app().native.state.tools
    return new Map([
      ...(this.#jobs ? [['you', this.#jobs] as const] : []),
      ...[...toolboxes].map(([name, { box }]) => [name, box.jobs] as const),
    ])
  }

  /** The newest command that somebody waits for. */
  get front(): CommandInFront | undefined {
    return [...this.jobs.values()]
      .flatMap(({ front }) => front ?? [])
      .sort((a, b) => a.since - b.since)
      .at(-1)
  }

  cancel(): boolean {
    if (this.#stop && !this.#stop.signal.aborted) {
      this.#stop.abort()
      const { queue, giveBack } = this.#parts
      // A user who cancels wants to think again, so queued prompts go back into the input instead of being sent. A prompt
      // sent after the cancel is intended, and waits for the end of the cancelled turn.
      for (const typed of queue.takeAll().reverse()) giveBack(typed)
      // The cancel does not wait for the screens.
      void this.#parts.audience.tell({ type: 'stopping' })
    }
    return this.busy
  }

  async close(): Promise<void> {
    await Promise.all([this.#served?.close(), this.#jobs?.close()])
  }

  /** Resolves at once while an agent works; waits for a turn that only saves its last facts. */
  async saved(): Promise<void> {
    if (!this.running) await this.#newest
  }

  /** Resolves when no turn runs and no prompt is queued. */
  async idle(): Promise<void> {
    await Promise.all([this.#idle, ...this.#commands.values()])
  }

  async #command(command: string, sent: string, stop: AbortController): Promise<CommandResult | undefined> {
    const app = this.#parts.app()
    const { personJobs, runPersonCommand } = await import('../app/person-command.ts')
    this.#serve(app)
    const jobs = (this.#jobs ??= personJobs(app, (words) => this.#parts.audience.say(words, 'note')))
    const stopped = AbortSignal.any([stop.signal, app.io.signal])
    const reach: Reach = { ...this.#reach, cancel: () => stop.abort() }
    let turn = ''
    let result: CommandResult | undefined
    for await (const event of runPersonCommand(app, {
      command,
      signal: stopped,
      peers: { turns: this.#turns, reach },
      jobs,
    })) {
      if (event.type === 'prompt' && 'turn' in event) turn = String(event.turn)
      if (event.type === 'result')
        result = { exit: (event.data as { exit?: number | string })?.exit, output: event.text }
      await this.#tell(turn, event, sent)
    }
    return result
  }

  /** Shows an event of a turn; the kept prompt replaces the one that was shown when it was sent. */
  async #tell(turn: string, event: Event, sent: string): Promise<void> {
    await this.#parts.audience.tell({ type: 'event', turn, event, ...(event.type === 'prompt' ? { sent } : {}) })
  }

  #serve(app: AppPlace): void {
    if (!this.#parts.turns) this.#served ??= serveTurns(app.place.home, this.#turns, app.io.clock)
  }

  async #run(first: string, make: TurnMaker = runTurn): Promise<void> {
    const { audience, queue, app, giveBack } = this.#parts
    let prompt: string | undefined = first
    for (let how = make; prompt !== undefined; [prompt, how] = [queue.next(), runTurn]) {
      const stop = (this.#stop = new AbortController())
      this.running = true
      const { aimed } = this
      this.#aimedOnce = undefined
      const sent = audience.send(prompt, 'turn')
      try {
        const turn = this.#turn({ typed: prompt, sent }, how, aimed, AbortSignal.any([stop.signal, app().io.signal]))
        this.#newest = turn.catch(() => {})
        await turn
      } catch (error) {
        audience.unsend(sent)
        await audience.tell({ type: 'said', how: 'error', text: messageOf(error) })
        giveBack(prompt)
      }
      if (this.#left) giveBack(prompt)
      this.#left = false
    }
    this.#stop = undefined
    this.running = false
  }

  async #turn(
    { typed, sent }: { typed: string; sent: string },
    make: TurnMaker,
    aimed: string | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const { audience, cards, queue } = this.#parts
    const app = this.#parts.app()
    this.#serve(app)
    const say: Audience['say'] = (text, how) => audience.say(text, how)
    const ask = unkeptAsk({ audience, cards, clock: app.io.clock })
    const waits = (words: string) => audience.tell({ type: 'event', turn: sent, event: { type: 'waiting', words } })
    const waiting = (words: string) => {
      // The turn does not wait for the screens.
      void waits(words)
    }
    const attached = (text: string) =>
      attachedPrompt(app, text, { ask, signal, warn: (words) => say(words, 'error'), waits: waiting })
    const { prompt, files } = await attached(typed)
    await waits('reading the conversation')
    await prepareTurn(app, { signal, say, waits: waiting })
    await this.#parts.foreseen()
    const terms = this.#terms.get(typed)
    this.#terms.delete(typed)
    const seen = new TurnSummary(app.io.clock)
    const events = make(app, {
      prompt,
      ...(files.length > 0 ? { files } : {}),
      signal,
      ask: cancelWhenLeft(cards.ask, () => {
        this.#left = true
        this.cancel()
      }),
      attended: true,
      terms,
      steer: async (until) => {
        if (signal.aborted) return []
        const typed = await queue.steer(until && AbortSignal.any([until, signal]))
        const whole = await Promise.all(typed.map(attached))
        return whole.map(({ prompt, files }) => withPictures(prompt, files))
      },
      peers: { turns: this.#turns, reach: this.#reach, inside: this.inside },
      ...(aimed === undefined ? {} : { agent: aimed }),
    })
    for await (const event of events) {
      if (event.type === 'end') this.running = false
      seen.see(event)
      this.#parts.seen(event)
      await this.#tell(seen.turn, event, sent)
    }
    if (seen.turn === '') audience.unsend(sent)
    await audience.tell({ type: 'closing', closing: await closingOf(app, seen, aimed) })
    await this.#parts.over(seen, withPictures(prompt, files))
  }
}
