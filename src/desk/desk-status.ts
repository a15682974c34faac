import type { Entry, Event, Usage } from '../core/talk/entry.ts'
import type { Standing, AgentStanding } from '../chat/desk/chat-desk.ts'
import type { App, AppPlace, AppRecords } from '../turn/app.ts'
import type { MeasuredRotation } from '../turn/measured-rotation.ts'
import type { Health } from '../turn/rotation/health.ts'
import { healthDoc, noHealth, away } from '../turn/rotation/health.ts'
import { basename } from 'node:path'
import { callAfter } from '../base/time/clock.ts'
import { viewTokens } from '../core/talk/tokens.ts'
import { nextAgent } from '../turn/rotation/agent-order.ts'
import { enabledAgents, keepsOwnFlags, leashOf, loosestLeash, windowOf } from '../settings/enabled-agents.ts'
import { defaultThinking } from '../think/turn/thinking-choice.ts'

type DeskStatusParts = {
  app(): App
  aimed(): string | undefined
  /** Whether the agent of the next turn also takes all later ones. */
  stays(): boolean
  waiting(): Standing['waiting']
  told(now: Standing): Promise<void>
}

/** The shortest time between two reads of the agents' health. */
const soonestMs = 1000

/** Computes the status line: agents, health, context, tokens and cost. */
export class DeskStatus {
  now: Standing
  view: readonly Entry[] = []
  /** The goal or loop that goes on by itself; undefined without one. */
  progress: string | undefined
  #parts: DeskStatusParts
  #spent = new SpentInView()
  #health = noHealth
  #measured: MeasuredRotation | undefined
  /** The agent for the last typed prompt. It is cached, because each frame asks for it. */
  #typed: { text: string; next: string | undefined } | undefined
  #back = new AbortController()
  #closed = false

  constructor(parts: DeskStatusParts) {
    this.#parts = parts
    this.now = standingOf(parts.app(), this.#known(noHealth))
  }

  /** Starts over with another view of the conversation. */
  open(view: readonly Entry[]): void {
    this.view = view
    this.#spent = new SpentInView()
    for (const entry of view) this.#spent.see(entry)
  }

  see(event: Event): void {
    this.#spent.see(event)
    // Events do not wait for the status line.
    if (event.type === 'attempt') void this.stand()
  }

  async refresh(): Promise<void> {
    this.view = await this.#parts.app().conversation.view()
    await this.stand()
  }

  /** Never rejects: an unreadable health file counts as empty here; the turn that needs the file reports the error. */
  async stand(): Promise<void> {
    const app = this.#parts.app()
    this.#health = await healthDoc(app.store)
      .read()
      .catch(() => noHealth)
    this.#measured = await measuredOf(app).catch(() => undefined)
    this.now = standingOf(app, this.#known(this.#health))
    this.#typed = undefined
    this.#standAgain(app)
    await this.#parts.told(this.now)
  }

  /** The agent that would take a prompt that is not sent yet, if that depends on the prompt: under the strategy `measured`. */
  nextFor(typed: string): string | undefined {
    const text = typed.trim()
    if (!this.#measured || this.#parts.aimed() !== undefined || !/^[^/!#]/.test(text)) return undefined
    if (this.#typed?.text !== text)
      this.#typed = { text, next: nextOf(this.#parts.app(), this.#known(this.#health), text) }
    return this.#typed.next
  }

  close(): void {
    this.#closed = true
    this.#back.abort()
  }

  /** Updates the status when the first absent agent is expected back, and not before. */
  #standAgain({ io: { clock } }: AppPlace): void {
    this.#back.abort()
    // A command may still be running while the desk closes; a timer that it set would keep the process alive for hours.
    if (this.#closed) return
    const first = Math.min(...this.now.agents.flatMap(({ until }) => until ?? []))
    if (first === Infinity) return
    const { signal } = (this.#back = new AbortController())
    const left = Math.max(soonestMs, first - clock.now())
    callAfter(clock, left, signal, () => {
      void this.stand()
    })
  }

  #known(health: KnownStatus['health']): KnownStatus {
    const aimed = this.#parts.aimed()
    const waiting = this.#parts.waiting()
    return {
      view: this.view,
      spent: this.#spent,
      health,
      ...(this.#measured ? { measured: this.#measured } : {}),
      ...(aimed === undefined ? {} : { aimed }),
      stays: this.#parts.stays(),
      ...(this.progress === undefined ? {} : { progress: this.progress }),
      ...(waiting ? { waiting: { agent: waiting.agent, until: waiting.until } } : {}),
    }
  }
}

type KnownStatus = {
  view: readonly Entry[]
  spent: SpentInView
  health: Health
  measured?: MeasuredRotation
  aimed?: string
  stays?: boolean
  progress?: string
  waiting?: Standing['waiting']
}

/** Builds the status from the known facts. */
function standingOf(app: App, known: KnownStatus): Standing {
  const { settings, session, place, io } = app
  const now = io.clock.now()
  const said = viewTokens(known.view)
  const agents = enabledAgents(settings).map((agent): AgentStanding => {
    const gone = app.out.get(agent.name)
    const absent = away(known.health, agent.name, now)
    const left = Math.max(0, 1 - said / windowOf(agent))
    if (gone) return { name: agent.name, state: 'out', why: gone.message, left }
    if (!absent) return { name: agent.name, state: 'ready', left }
    const { as: state, until, why } = absent
    return { name: agent.name, state, until, left, ...(why === undefined ? {} : { why }) }
  })
  const thinking = defaultThinking(app, { aimed: known.aimed !== undefined, chat: true })
  const next = nextOf(app, known)
  return {
    project: basename(place.root) || place.root,
    folder: place.cwd,
    ...(session.name === undefined ? {} : { session: session.name }),
    mode: app.mode,
    ...leashStanding(settings, next),
    strategy: settings.rotationStrategy,
    thinking,
    agents,
    ...(next === undefined ? {} : { next }),
    ...(known.stays ? { stays: true } : {}),
    tokens: known.spent.standing(),
    ...(known.waiting ? { waiting: known.waiting } : {}),
    ...(known.progress === undefined ? {} : { progress: known.progress }),
    ...(settings.vim ? { vim: true } : {}),
    keys: settings.keys,
    theme: settings.theme,
  }
}

/** The limits of the agent of the next turn. If chance decides which agent is next, the one with the most rights is shown. */
function leashStanding(settings: App['settings'], next: string | undefined): Pick<Standing, 'leash' | 'ownFlags'> {
  const agents = enabledAgents(settings).filter(({ name }) => next === undefined || name === next)
  const held = agents.map((agent) => ({ agent, leash: leashOf(settings, agent) }))
  const free = held.filter(({ agent, leash }) => keepsOwnFlags(agent, leash))
  // Nobody knows how much a command's own flags allow, but the leash `all` allows at least as much.
  const isFree = free.length > 0 && held.every((one) => free.includes(one) || one.leash !== 'all')
  const leash = next === undefined ? loosestLeash(settings) : (held[0]?.leash ?? settings.leash)
  return isFree ? { leash, ownFlags: true } : { leash }
}

/** Reads the order of the strategy `measured`. Its code is loaded only for this strategy. */
async function measuredOf(app: AppRecords): Promise<MeasuredRotation | undefined> {
  if (app.settings.rotationStrategy !== 'measured') return undefined
  const { readMeasured } = await import('../turn/measured-rotation.ts')
  return readMeasured(app)
}

/** The agent of the next turn, for a typed prompt or without one. */
function nextOf(app: App, { health, measured, aimed, view }: KnownStatus, prompt?: string): string | undefined {
  const { settings, io, out } = app
  const names = enabledAgents(settings).map(({ name }) => name)
  const request = prompt === undefined ? undefined : { prompt, followsUp: view.length > 0 }
  const drawn = measured?.order(names, request).line
  return nextAgent(names, settings.rotationStrategy, health, io.clock.now(), aimed, out, drawn)
}

const strength: readonly Usage['source'][] = ['reported', 'parsed', 'estimated']

/** Adds up tokens and cost. A sum is only as reliable as its least reliable part. */
export class SpentInView {
  #used = 0
  #cost: number | undefined
  #source = 0
  #any = false

  /** Skips usage inside inner events, because it also arrives as its own event. */
  see(event: Event): void {
    if (event.type !== 'usage') return
    this.#any = true
    this.#used += event.input + event.output
    if (event.cost !== undefined) this.#cost = (this.#cost ?? 0) + event.cost
    this.#source = Math.max(this.#source, strength.indexOf(event.source))
  }

  /** Undefined when no agent reported usage. */
  get total(): Standing['tokens'] | undefined {
    return this.#any ? this.standing() : undefined
  }

  standing(): Standing['tokens'] {
    const cost = this.#cost === undefined ? {} : { cost: this.#cost }
    return { used: this.#used, ...cost, source: strength[this.#source]! }
  }
}
