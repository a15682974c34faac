import type { Command, CommandScreen } from '../../src/core/talk/command.ts'
import type { Entry, Event } from '../../src/core/talk/entry.ts'
import type { Leash } from '../../src/core/work/agent.ts'
import type {
  ChangedFiles,
  ChatDesk,
  DeskEvent,
  DeskEvents,
  NamedResource,
  Standing,
  PastedPictures,
  PromptSources,
} from '../../src/chat/desk/chat-desk.ts'
import { Channel } from '../../src/base/channel.ts'

export type Script = {
  standing?: Partial<Standing>
  /** The whole session, oldest first; the newest `shown` of it are there when it is opened. */
  entries?: readonly Entry[]
  shown?: number
  commands?: readonly Command[]
  files?: readonly string[]
  resources?: readonly NamedResource[]
  past?: readonly string[]
  /** What earlier turns changed. */
  changes?: Readonly<Record<string, ChangedFiles>>
  /** Called on a submit, after the text was noted. */
  onSubmit?(text: string, desk: ScriptedDesk): void
}

/** A desk where only what the test says happens; it remembers what the person did. */
export class ScriptedDesk implements ChatDesk, PromptSources {
  readonly sources: PromptSources = this
  readonly submitted: string[] = []
  readonly answers: { ask: string; picks?: string[] }[] = []
  readonly commands: readonly Command[]
  queue: string[] = []
  cancels = 0
  /** Whether there is something to cancel. */
  busy = false
  screen: CommandScreen | undefined
  #script: Script
  #standing: Standing
  #told: DeskEvent[]
  #listeners = new Set<Channel<DeskEvent>>()

  constructor(script: Script = {}) {
    this.#script = script
    this.commands = script.commands ?? []
    this.#standing = {
      project: 'demo',
      mode: 'chat',
      leash: 'ask',
      strategy: 'round-robin',
      agents: [
        { name: 'claude', state: 'ready', left: 0.82 },
        { name: 'gemini', state: 'ready', left: 0.95 },
      ],
      next: 'claude',
      tokens: { used: 0, source: 'reported' },
      ...script.standing,
    }
    const entries = script.entries ?? []
    const shown = entries.slice(-(script.shown ?? (entries.length || 1)))
    this.#told = [
      { type: 'opened', entries: shown, more: shown.length < entries.length },
      { type: 'standing', standing: this.#standing },
    ]
  }

  /** Something happens, in sight of everybody who listens now or later. */
  happen(...happenings: DeskEvent[]): void {
    for (const happening of happenings) {
      if (happening.type === 'standing') this.#standing = happening.standing
      this.#told.push(happening)
      for (const listener of this.#listeners) void listener.push(happening)
    }
  }

  /** Events of one turn happen. */
  turn(turn: string, ...events: Event[]): void {
    this.happen(...events.map((event): DeskEvent => ({ type: 'event', turn, event })))
  }

  standing(): Standing {
    return this.#standing
  }

  events(signal: AbortSignal): DeskEvents {
    const channel = new Channel<DeskEvent>(100_000)
    const stop = () => {
      this.#listeners.delete(channel)
      channel.close()
    }
    signal.addEventListener('abort', stop, { once: true })
    for (const happening of this.#told) void channel.push(happening)
    this.#listeners.add(channel)
    if (signal.aborted) stop()
    return channel
  }

  async earlier(before: string, most: number): Promise<{ entries: Entry[]; more: boolean }> {
    const entries = this.#script.entries ?? []
    const to = entries.findIndex(({ id }) => id === before)
    const from = Math.max(0, to - most)
    return { entries: entries.slice(from, Math.max(0, to)), more: from > 0 }
  }

  async *changesOf(turns: readonly string[]) {
    for (const turn of turns) {
      const changed = this.#script.changes?.[turn]
      if (changed) yield { turn, changed }
    }
  }

  runShell(command: string): void {
    this.submitted.push(`!${command}`)
  }

  submit(text: string): void {
    this.submitted.push(text)
    this.#script.onSubmit?.(text, this)
  }

  takeBack(): string | undefined {
    const text = this.queue.pop()
    if (text !== undefined) this.happen({ type: 'queue', texts: [...this.queue] })
    return text
  }

  cancel(): boolean {
    if (!this.busy) return false
    this.cancels++
    return true
  }

  /** How long the command has run that can go to the background. */
  runsFor: number | undefined
  moves = 0

  commandRunsFor(): number | undefined {
    return this.runsFor
  }

  moveToBackground(): boolean {
    if (this.runsFor === undefined) return false
    this.moves++
    return true
  }

  answer(ask: string, picks?: string[]): void {
    this.answers.push(picks ? { ask, picks } : { ask })
    this.turn('', picks ? { type: 'answer', ask, picks } : { type: 'answer', ask })
  }

  setLeash(leash: Leash): void {
    this.happen({ type: 'standing', standing: { ...this.#standing, leash } })
  }

  async files(typed: string, most: number, _signal: AbortSignal): Promise<string[]> {
    return (this.#script.files ?? []).filter((path) => path.includes(typed)).slice(0, most)
  }

  async resources(): Promise<NamedResource[]> {
    return [...(this.#script.resources ?? [])]
  }

  /** The result of pasted paths, by the first path of a reading; of the clipboard, by ''. */
  pasted = new Map<string, PastedPictures>()

  async keepPicture(): Promise<PastedPictures | undefined> {
    return this.pasted.get('')
  }

  async keepPastedPaths(readings: readonly (readonly string[])[]): Promise<PastedPictures | undefined> {
    return readings.map(([first]) => this.pasted.get(first!)).find((one) => one !== undefined)
  }

  async sentPrompts(): Promise<string[]> {
    return [...(this.#script.past ?? [])]
  }

  setScreen(screen: CommandScreen): void {
    this.screen = screen
  }
}
