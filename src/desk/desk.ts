import type { RunningTurns } from '../core/talk/running-turns.ts'
import type { Command, CommandScreen } from '../core/talk/command.ts'
import type { Leash } from '../core/work/agent.ts'
import type { ChatDesk, DeskEvent, Standing } from '../faces/chat/chat-desk.ts'
import type { App } from '../app/app.ts'
import type { TurnSeen } from './closing.ts'
import type { Hold } from './hold.ts'
import type { Page } from './pages.ts'
import type { Station } from './station.ts'
import { messageOf } from '../base/error-message.ts'
import { openFinder } from '../tools/file-finder.ts'
import { closeNative, leaveSession } from '../app/native/native-parts.ts'
import { brokenWords } from '../app/turn-preparation.ts'
import { Audience } from './audience.ts'
import { Cards } from '../app/cards.ts'
import { Elsewhere } from './elsewhere.ts'
import { Errands } from './errands.ts'
import { greeting } from './greeting.ts'
import { Holding } from './holding.ts'
import { Ledger } from './ledger.ts'
import { PromptQueue } from '../app/prompt-queue.ts'
import { Offers } from './offers.ts'
import { Outbox } from './outbox.ts'
import { pastPrompts } from './past.ts'
import { Waiting } from './waiting.ts'
import { Work } from './work.ts'

/** So many entries are shown at first; more come when they are scrolled to. */
const firstPage = 200

/** What can be typed after a slash, and what is run by itself where nobody is configured yet. */
export type DeskWords = {
  commands(hold: Hold, warn: (words: string) => void): Command[]
  firstStart(hold: Hold): Command
  /** Where several desks of one process show their turns to other processes. */
  turns?: RunningTurns
}

/** The desk of a chat: it runs the turns of one person in one project, whatever screen they sit at. */
export class ProjectDesk implements ChatDesk {
  readonly commands: readonly Command[]
  readonly hold: Hold
  #warnings: string[]
  #station: Station
  #audience = new Audience()
  #cards = new Cards()
  #line = new PromptQueue((texts) => void this.#audience.tell({ type: 'queue', texts }))
  #waiting = new Waiting(
    () => this.app(),
    (wait) => void this.#resume(wait.agent, wait.prompt),
  )
  #work: Work
  #ledger: Ledger
  #elsewhere: Elsewhere
  #errands: Errands
  #offers: Offers
  #outbox: Outbox
  #finder: ReturnType<typeof openFinder> | undefined
  #begun: Promise<void> | undefined
  #first: Page = { entries: [], more: false, through: -1 }
  #closed = new AbortController()

  constructor(station: Station, words: DeskWords) {
    this.#station = station
    const { audience, cards, line } = { audience: this.#audience, cards: this.#cards, line: this.#line }
    this.#work = new Work({
      app: this.app,
      audience,
      cards,
      line,
      seen: (event) => this.#ledger.see(event),
      over: (seen, prompt) => this.#over(seen, prompt),
      giveBack: (prompt) => this.#errands.screen?.fill(prompt),
      ...(words.turns ? { turns: words.turns } : {}),
    })
    this.#ledger = new Ledger({
      app: this.app,
      aimed: () => this.#work.aimed,
      waiting: () => this.#waiting.now,
      told: (standing) => audience.tell({ type: 'standing', standing }),
    })
    this.#elsewhere = new Elsewhere({
      app: this.app,
      audience,
      seen: (event) => this.#ledger.see(event),
      over: () => this.#overElsewhere(),
    })
    this.#errands = new Errands({ audience, cards, clock: this.app().io.clock, done: () => this.#ledger.refresh() })
    this.hold = new Holding({
      station,
      work: this.#work,
      ledger: this.#ledger,
      moving: (move) => this.#move(move),
      send: (prompt) => this.#send(prompt),
    })
    this.#offers = new Offers({ hold: this.hold, errands: this.#errands })
    this.#warnings = [...this.app().settings.warnings]
    this.commands = words.commands(this.hold, (warning) => this.#warnings.push(warning))
    this.#outbox = new Outbox({
      station,
      work: this.#work,
      elsewhere: this.#elsewhere,
      errands: this.#errands,
      line,
      firstStart: words.firstStart(this.hold),
      say: (text, how) => this.#say(text, how),
    })
  }

  // What a person at the chat sees and does.

  standing = (): Standing => this.#ledger.now

  events(signal: AbortSignal): AsyncIterable<DeskEvent> {
    const heard = this.#audience.listen(signal)
    this.#begun ??= this.#begin().catch((error) => this.#say(messageOf(error), 'error'))
    return heard
  }

  earlier(before: string, most: number) {
    return this.#station.pages.earlier(before, most)
  }

  submit(text: string): void {
    const typed = text.trim()
    const [, name, args = ''] = /^\/(\S+)\s*([^]*)$/.exec(typed) ?? []
    const command = this.commands.find((one) => one.name === name)
    if (command) void this.#errands.run(command, args.trim())
    // A word that is no command was meant as one; a path was not.
    else if (name !== undefined && !name.includes('/')) this.#errands.screen?.palette(name)
    else if (typed !== '') this.#send(text)
  }

  takeBack(): string | undefined {
    return this.#line.takeBack()
  }

  cancel(): boolean {
    if (this.#errands.cancel() || this.#work.cancel() || this.#elsewhere.cancel()) return true
    if (!this.#waiting.now) return false
    void this.#giveUp()
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

  sentPrompts(): Promise<string[]> {
    return pastPrompts(this.app().project.log)
  }

  setLeash(leash: Leash): void {
    this.hold.setLeash(leash)
  }

  setScreen(screen: CommandScreen): void {
    this.#errands.screen = screen
  }

  // What whoever opened it does with it.

  app = (): App => this.#station.app

  /** Runs a command that nobody typed: something that happens beside the conversation, and needs the person. */
  put(command: Command): void {
    void this.#errands.run(command, '')
  }

  /** Resolves once whoever looked first has been told how things are. */
  async begun(): Promise<void> {
    await this.#begun
  }

  /** Whether leaving would cut a turn off. */
  get busy(): boolean {
    return this.#work.running
  }

  /** A prompt that was given before the desk was there. */
  first(prompt: string): void {
    if (prompt.startsWith('/')) this.submit(prompt)
    else this.#outbox.first(prompt)
  }

  /** Cancels the turn at work; gives what was typed and never sent, oldest first. */
  leave(): string[] {
    const unsent = this.#line.takeAll()
    this.#work.cancel()
    return unsent
  }

  /** Resolves when nothing is at work and nothing waits to be. */
  idle(): Promise<void> {
    return this.#work.idle()
  }

  async close(): Promise<void> {
    this.#closed.abort()
    this.#waiting.close()
    this.#ledger.close()
    this.#elsewhere.close()
    await this.#errands.close()
    this.#audience.close()
    const { native } = this.app()
    await leaveSession(native, 'prompt_input_exit')
    await Promise.all([this.#work.close(), closeNative(native)])
  }

  /** Says what there is: the first page, how things stand, and where the conversation was left. */
  async #begin(): Promise<void> {
    const { app } = this.#station
    await this.#page()
    const { view, broken, ended } = await app.conversation.settle()
    if (ended > 0) await this.#page()
    this.#ledger.open(view)
    for (const text of this.#warnings) this.#say(text)
    if (broken.length > 0) this.#say(brokenWords(broken.length), 'error')
    await this.#takeUp()
    const lines = await greeting(app, view, this.#ledger.now)
    if (lines.length > 0) this.#say(lines.join('\n'))
    if (this.#station.nobody) await this.#outbox.setUp()
  }

  async #move(move: () => Promise<void>): Promise<void> {
    this.#waiting.close()
    await move()
    await this.#page()
    this.#ledger.open(await this.app().conversation.view())
    await this.#takeUp()
  }

  #send(prompt: string): void {
    this.#offers.withdraw()
    this.#outbox.send(prompt)
  }

  async #overElsewhere(): Promise<void> {
    await this.#ledger.refresh()
    if (!this.#elsewhere.busy) this.#work.goOn()
  }

  /** What is on the screen comes before what has to be counted. */
  async #page(): Promise<void> {
    const { pages } = this.#station
    const shown = await this.#elsewhere.look()
    this.#first = await pages.newest(firstPage)
    const { entries, more } = this.#first
    await this.#audience.tell({ type: 'opened', entries: entries.filter(({ turn }) => !shown.has(turn)), more })
  }

  /** What goes on in this session besides: a prompt that waits, and turns of other processes. */
  async #takeUp(): Promise<void> {
    await this.#waiting.takeUp()
    await this.#ledger.stand()
    this.#elsewhere.follow(this.#first)
  }

  async #over(seen: TurnSeen, prompt: string): Promise<void> {
    if (seen.waits !== undefined) await this.#waiting.begin(seen.waits, prompt)
    if (this.app().native.state.trustGiven) await this.#takeTrust()
    await this.#ledger.refresh()
    this.#offers.after(seen)
  }

  /** What came with the folder holds everybody from now on. */
  async #takeTrust(): Promise<void> {
    delete this.app().native.state.trustGiven
    await this.hold.reload().catch((error) => this.#say(messageOf(error), 'error'))
  }

  async #giveUp(): Promise<void> {
    await this.#waiting.giveUp()
    this.#say('No longer waiting.')
    await this.#ledger.stand()
  }

  async #resume(agent: string, prompt: string): Promise<void> {
    await this.#work.idle()
    this.#say(`${agent} is back: the request that waited for it goes on.`)
    this.#work.aim(agent)
    this.#work.submit(prompt)
  }

  #say(text: string, how: 'note' | 'text' | 'error' = 'note'): void {
    void this.#audience.tell({ type: 'said', how, text })
  }
}
