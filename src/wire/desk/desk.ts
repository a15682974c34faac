import type { Command, CommandScreen } from '../../core/talk/command.ts'
import type { Entry, Event } from '../../core/talk/entry.ts'
import type { Ask } from '../../core/talk/question.ts'
import type { Leash } from '../../core/work/agent.ts'
import type { Strategy } from '../../core/work/strategy.ts'
import type { Desk, Happening, Standing } from '../../faces/chat/desk.ts'
import type { App } from '../app.ts'
import type { TurnSeen } from './closing.ts'
import type { Hold } from './hold.ts'
import type { Station } from './station.ts'
import { wordsOf } from '../../base/words.ts'
import { newId } from '../../base/id.ts'
import { away, healthDoc, noHealth } from '../../mind/health.ts'
import { openFinder } from '../finder.ts'
import { UsageError } from '../io.ts'
import { brokenWords } from '../ready.ts'
import { Audience } from './audience.ts'
import { Cards } from './cards.ts'
import { Elsewhere } from './elsewhere.ts'
import { greeting } from './greeting.ts'
import { Line } from './line.ts'
import { pastPrompts } from './past.ts'
import { Spent } from './spent.ts'
import { standingOf } from './standing.ts'
import { Waiting } from './waiting.ts'
import { Work } from './work.ts'

/** So many entries are shown at first; more come when they are scrolled to. */
const firstPage = 200

/** What can be typed after a slash, and what is run by itself where nobody is configured yet. */
export type DeskWords = {
  commands(hold: Hold, warn: (words: string) => void): Command[]
  firstStart(hold: Hold): Command
}

/** The desk of a chat: it runs the turns of one person in one project, whatever screen they sit at. */
export class ChatDesk implements Desk, Hold {
  readonly commands: readonly Command[]
  #station: Station
  #audience = new Audience()
  #cards = new Cards()
  #line = new Line((texts) => void this.#audience.tell({ type: 'queue', texts }))
  #work: Work
  #waiting: Waiting
  #finder: ReturnType<typeof openFinder> | undefined
  #screen: CommandScreen | undefined
  #command: AbortController | undefined
  #elsewhere = new Elsewhere(this.#audience, () => this.#refresh())
  #standing: Standing
  #view: Entry[] = []
  #spent = new Spent()
  #begun: Promise<void> | undefined
  #closed = new AbortController()
  #warnings: string[]
  #firstStart: Command

  constructor(station: Station, words: DeskWords) {
    this.#station = station
    this.#warnings = [...this.app().settings.warnings]
    this.commands = words.commands(this, (warning) => this.#warnings.push(warning))
    this.#firstStart = words.firstStart(this)
    this.#work = new Work({
      app: () => this.#station.app,
      audience: this.#audience,
      cards: this.#cards,
      line: this.#line,
      seen: (event) => this.#see(event),
      over: (seen, prompt) => this.#over(seen, prompt),
      giveBack: (prompt) => this.#screen?.fill(prompt),
    })
    this.#waiting = new Waiting(this.app, ({ agent, prompt }) => void this.#resume(agent, prompt))
    this.#standing = standingOf(this.app(), this.#known(noHealth))
  }

  // What a person at the chat sees and does.

  standing = (): Standing => this.#standing

  happenings(signal: AbortSignal): AsyncIterable<Happening> {
    const heard = this.#audience.listen(signal)
    this.#begun ??= this.#begin().catch((error) => this.#say(wordsOf(error), 'error'))
    return heard
  }

  /** Resolves once whoever looked first has been told how things are. */
  async begun(): Promise<void> {
    await this.#begun
  }

  /** Reads what there is and says it: the first page, how things stand, and where the conversation was left. */
  async #begin(): Promise<void> {
    const { app } = this.#station
    await this.#page()
    const { view, broken, ended } = await app.conversation.settle()
    if (ended > 0) await this.#page()
    this.#use(view)
    for (const text of this.#warnings) this.#say(text)
    if (broken.length > 0) this.#say(brokenWords(broken.length), 'error')
    await this.#waiting.takeUp()
    await this.#stand()
    this.#elsewhere.follow(app)
    for (const text of await greeting(app, this.#view, this.#standing)) this.#say(text)
    if (app.roster.names().length === 0) await this.#run(this.#firstStart, '')
  }

  earlier(before: string, most: number) {
    return this.#station.pages.earlier(before, most)
  }

  submit(text: string): void {
    const typed = text.trim()
    const [, name, args = ''] = /^\/(\S+)\s*([^]*)$/.exec(typed) ?? []
    const command = this.commands.find((one) => one.name === name)
    if (command) void this.#run(command, args.trim())
    // A word that is no command was meant as one; a path was not.
    else if (name !== undefined && !name.includes('/')) this.#screen?.palette(name)
    else if (typed !== '') this.send(text)
  }

  takeBack(): string | undefined {
    return this.#line.takeBack()
  }

  cancel(): boolean {
    if (this.#command) {
      this.#command.abort()
      return true
    }
    if (this.#work.cancel() || this.#elsewhere.cancel()) return true
    if (!this.#waiting.now) return false
    void this.#waiting.giveUp().then(async () => {
      this.#say('No longer waiting.')
      await this.#stand()
    })
    return true
  }

  answer(ask: string, picks?: string[]): void {
    if (!this.#cards.answer(ask, picks)) this.#elsewhere.answer(ask, picks)
  }

  files(typed: string, most: number, signal: AbortSignal): Promise<string[]> {
    const { place, io } = this.app()
    this.#finder ??= openFinder(place.cwd, { env: io.env, clock: io.clock, signal: this.#closed.signal })
    return this.#finder.find(typed, most, signal)
  }

  past(): Promise<string[]> {
    return pastPrompts(this.app().project.log)
  }

  seatedAt(screen: CommandScreen): void {
    this.#screen = screen
  }

  // What a slash command can turn.

  app = (): App => this.#station.app

  async open(session: Parameters<Hold['open']>[0]): Promise<void> {
    if (this.#work.busy) throw new UsageError('a turn is at work; cancel it first (Esc), or wait for its end.')
    this.#waiting.close()
    await this.#station.enter(session)
    await this.#page()
    this.#use(await this.app().conversation.view())
    await this.#waiting.takeUp()
    await this.#stand()
    this.#elsewhere.follow(this.app())
  }

  async reload(): Promise<void> {
    await this.#station.reload()
    await this.#stand()
  }

  aim(agent: string | undefined): void {
    this.#work.aim(agent)
    void this.#stand()
  }

  setStrategy(strategy: Strategy): void {
    this.#station.setStrategy(strategy)
    void this.#stand()
  }

  setLeash(leash: Leash): void {
    this.#station.setLeash(leash)
    void this.#stand()
  }

  send(prompt: string): void {
    if (this.#work.busy || !this.#elsewhere.busy) return this.#work.submit(prompt)
    void this.#elsewhere.steer(prompt).then((taken) => {
      if (taken) this.#say('Given to the turn at work in the other process.')
      else this.#work.submit(prompt)
    })
  }

  async lastAnswer(): Promise<string | undefined> {
    const view = await this.app().conversation.view()
    const reply = view.findLast((entry) => entry.type === 'reply')
    return reply?.type === 'reply' ? reply.text : undefined
  }

  /** Resolves when nothing is at work and nothing waits to be. */
  idle(): Promise<void> {
    return this.#work.idle()
  }

  get busy(): boolean {
    return this.#work.busy
  }

  async close(): Promise<void> {
    this.#closed.abort()
    this.#waiting.close()
    this.#elsewhere.close()
    this.#audience.close()
    await this.#work.close()
  }

  async #run(command: Command, args: string): Promise<void> {
    const stop = new AbortController()
    this.#command = stop
    const say = (text: string, how: 'note' | 'text' | 'error' = 'note') => this.#say(text, how)
    try {
      const screen = this.#screen
      if (!screen) throw new Error(`/${command.name} needs a screen`)
      await command.run(args, { say, ask: this.#askHere, signal: stop.signal, screen })
    } catch (error) {
      if (!stop.signal.aborted) say(wordsOf(error), 'error')
    } finally {
      if (this.#command === stop) this.#command = undefined
      await this.#refresh().catch(() => {})
    }
  }

  /** A command's question is shown like any other, and kept nowhere. */
  #askHere: Ask = async (question, withdrawn) => {
    const ask = newId(this.app().io.clock.now())
    await this.#audience.tell({ type: 'event', turn: '', event: { type: 'question', ask, question } })
    const picks = await this.#cards.ask(question, withdrawn, ask)
    const event: Event = { type: 'answer', ask, ...(picks ? { picks } : {}) }
    await this.#audience.tell({ type: 'event', turn: '', event })
    return picks
  }

  /** What is on the screen comes before what has to be counted. */
  async #page(): Promise<void> {
    const { app, pages } = this.#station
    const shown = await this.#elsewhere.look(app)
    const { entries, more } = await pages.newest(firstPage)
    await this.#audience.tell({ type: 'opened', entries: entries.filter(({ turn }) => !shown.has(turn)), more })
  }

  #use(view: Entry[]): void {
    this.#view = view
    this.#spent = new Spent()
    for (const entry of view) this.#spent.see(entry)
  }

  #see(event: Event): void {
    this.#spent.see(event)
    if (event.type === 'attempt') void this.#stand()
  }

  async #over(seen: TurnSeen, prompt: string): Promise<void> {
    if (seen.waits !== undefined) await this.#wait(seen.waits, prompt)
    await this.#refresh()
  }

  async #refresh(): Promise<void> {
    this.#view = await this.app().conversation.view()
    await this.#stand()
  }

  async #wait(agent: string, prompt: string): Promise<void> {
    const { io, session, store } = this.app()
    const until = away(await healthDoc(store).read(), agent, io.clock.now())?.until ?? io.clock.now()
    await this.#waiting.begin({ session: session.id, agent, until, prompt })
  }

  async #resume(agent: string, prompt: string): Promise<void> {
    await this.#work.idle()
    this.#say(`${agent} is back: the request that waited for it goes on.`)
    this.#work.aim(agent)
    this.#work.submit(prompt)
  }

  #known(health: Parameters<typeof standingOf>[1]['health']) {
    const { aimed } = this.#work
    const waiting = this.#waiting.now
    return {
      view: this.#view,
      spent: this.#spent,
      health,
      ...(aimed === undefined ? {} : { aimed }),
      ...(waiting ? { waiting: { agent: waiting.agent, until: waiting.until } } : {}),
    }
  }

  /** A health that cannot be read is shown as none: the turn that needs it says why. */
  async #stand(): Promise<void> {
    const health = await healthDoc(this.app().store)
      .read()
      .catch(() => noHealth)
    this.#standing = standingOf(this.app(), this.#known(health))
    await this.#audience.tell({ type: 'standing', standing: this.#standing })
  }

  #say(text: string, how: 'note' | 'text' | 'error' = 'note'): void {
    void this.#audience.tell({ type: 'said', how, text })
  }
}
