import type { RunningTurns } from '../core/turns/running-turns.ts'
import type { Command, CommandList, CommandScreen, SaidHow } from '../core/talk/command.ts'
import type { Leash } from '../core/work/agent.ts'
import type { ChatDesk, DeskEvents, PromptSources, Standing } from '../chat/desk/chat-desk.ts'
import type { App } from '../turn/app.ts'
import type { TurnSummary } from './turn-summary.ts'
import { changesOf } from './turn-summary.ts'
import type { DeskControls } from './desk-controls.ts'
import type { Page } from './history-pages.ts'
import type { DeskApp } from './desk-app.ts'
import { messageOf } from '../base/error-message.ts'
import { withoutPictureLinks } from '../core/talk/pictures.ts'
import { closeNative, leaveSession } from '../native/native-parts.ts'
import { personServers } from '../native/person-servers.ts'
import { nativeAgents } from '../settings/enabled-agents.ts'
import { unreadableLines } from '../turn/turn-preparation.ts'
import { Audience } from './audience.ts'
import { Cards } from '../border/cards.ts'
import { OtherProcesses } from './other-processes.ts'
import { CommandRunner } from './command-runner.ts'
import { greeting } from './greeting.ts'
import { LiveDeskControls } from './desk-controls.ts'
import { DeskStatus } from './desk-status.ts'
import { PromptQueue } from '../turn/prompt-queue.ts'
import { FollowUpCards } from './follow-up-cards.ts'
import { Foresight } from './foresight.ts'
import { PromptSender } from './prompt-sender.ts'
import { ProjectSources } from './project-sources.ts'
import { TypedCommands } from './typed-commands.ts'
import { WaitingPrompt } from './waiting-prompt.ts'
import { TurnRunner } from './turn-runner.ts'

/** How many entries are shown at first; scrolling loads more. */
const firstPage = 200

/** The desk's slash commands, and the one that runs when no agent is configured. */
type DeskWords = {
  commands(controls: DeskControls, warn: (words: string) => void, changed: () => void): CommandList
  firstStart(controls: DeskControls): Command
  /** The same command at the start of a screen that itself says what to do without an agent. */
  guidedStart?(controls: DeskControls): Command
  /** The command that changes the leash when a key is pressed. */
  leashKey(controls: DeskControls): Command
  /** The turns of all desks of this process, which share one socket. */
  turns?: RunningTurns
}

/** The desk of one user in one project, for any screen: chat, editor or browser. */
export class ProjectDesk implements ChatDesk {
  readonly commands: CommandList
  readonly controls: DeskControls
  readonly sources: PromptSources
  #leashKey: Command
  #guidedStart: Command | undefined
  #warnings: string[]
  #deskApp: DeskApp
  #audience = new Audience()
  #cards = new Cards()
  #queue = new PromptQueue((texts) => {
    // The queue is shown when a screen can take it.
    void this.#audience.tell({ type: 'queue', texts: texts.map(withoutPictureLinks) })
  })
  #waiting = new WaitingPrompt(
    () => this.app(),
    (wait) => {
      // Waits until the turn is over; the turn shows its own errors.
      void this.#resume(wait.agent, wait.prompt)
    },
  )
  #turns: TurnRunner
  #status: DeskStatus
  #others: OtherProcesses
  #commandRunner: CommandRunner
  #followUps: FollowUpCards
  #sender: PromptSender
  #foresight: Foresight
  #typed: TypedCommands
  #started: Promise<void> | undefined
  #greeted = false
  #firstPage: Page = { entries: [], more: false, through: -1 }
  /** The work of commands that is left for the end of the desk. */
  #ends: (() => Promise<void>)[] = []
  #closed = new AbortController()
  /** The start of the MCP servers. It must be complete before they are closed. */
  #opening: Promise<unknown> | undefined

  constructor(deskApp: DeskApp, words: DeskWords) {
    this.#deskApp = deskApp
    this.sources = new ProjectSources(this.app, this.#closed.signal)
    const { audience, cards, queue } = { audience: this.#audience, cards: this.#cards, queue: this.#queue }
    this.#turns = new TurnRunner({
      app: this.app,
      audience,
      cards,
      queue,
      seen: (event) => this.#status.see(event),
      over: (seen, prompt) => this.#over(seen, prompt),
      foreseen: () => this.#foresight.settled(),
      giveBack: (prompt) => this.#commandRunner.screen?.fill(prompt),
      ...(words.turns ? { turns: words.turns } : {}),
    })
    this.#status = new DeskStatus({
      app: this.app,
      aimed: () => this.#turns.aimed,
      stays: () => this.#turns.stays,
      waiting: () => this.#waiting.now,
      told: (standing) => {
        this.#foresight.changed()
        return audience.tell({ type: 'standing', standing })
      },
    })
    this.#others = new OtherProcesses({
      app: this.app,
      audience,
      seen: (event) => this.#status.see(event),
      over: () => this.#overElsewhere(),
    })
    this.#foresight = new Foresight({
      app: this.app,
      next: (typed) => this.#status.nextFor(typed) ?? this.#status.now.next,
      aimed: () => this.#turns.aimed,
      busy: () => deskApp.nobody || this.#turns.busy || this.#others.busy || this.#others.isMeeting,
    })
    this.#commandRunner = new CommandRunner({
      audience,
      cards,
      clock: this.app().io.clock,
      done: () => {
        // A command such as /trust closes the servers, because it may change which ones are allowed.
        if (!this.app().native.state.mcp.servers) this.#openServers()
        return this.#status.refresh()
      },
    })
    this.controls = new LiveDeskControls({
      deskApp,
      turns: this.#turns,
      status: this.#status,
      moving: (move) => this.#move(move),
      atEnd: (work) => this.#ends.push(work),
      send: (prompt, terms) => {
        if (terms) this.#turns.setTerms(prompt, terms)
        this.#send(prompt)
      },
    })
    this.#guidedStart = words.guidedStart?.(this.controls)
    this.#leashKey = words.leashKey(this.controls)
    this.#followUps = new FollowUpCards({ controls: this.controls, runner: this.#commandRunner })
    this.#warnings = [...this.app().settings.warnings, ...this.app().warnings]
    this.commands = words.commands(
      this.controls,
      (warning) => {
        if (this.#greeted) this.#say(warning)
        else this.#warnings.push(warning)
      },
      () => {
        // The screens update their suggestions when they can.
        void this.#audience.tell({ type: 'commands' })
      },
    )
    this.#typed = new TypedCommands({
      app: this.app,
      commands: this.commands,
      runner: this.#commandRunner,
      queue,
      turns: this.#turns,
      over: this.#closed.signal,
      send: (prompt) => this.#send(prompt),
    })
    this.#sender = new PromptSender({
      deskApp,
      turns: this.#turns,
      others: this.#others,
      runner: this.#commandRunner,
      queue,
      audience,
      firstStart: words.firstStart(this.controls),
      say: (text, how) => this.#say(text, how),
    })
  }

  // The methods for the screen follow.

  standing = (): Standing => this.#status.now

  nextFor = (typed: string): string | undefined => this.#status.nextFor(typed)

  events(signal: AbortSignal): DeskEvents {
    const heard = this.#audience.listen(signal)
    this.#started ??= this.#begin().catch((error) => this.#say(messageOf(error), 'error'))
    return heard
  }

  earlier(before: string, most: number) {
    return this.#deskApp.pages.earlier(before, most)
  }

  changesOf(turns: readonly string[]) {
    return changesOf(this.app(), turns)
  }

  typed(text: string): void {
    this.#foresight.typed(text)
  }

  submit(text: string): void {
    const typed = text.trim()
    const [, name, args = ''] = /^\/(\S+)\s*([^]*)$/.exec(typed) ?? []
    // A path such as /etc/hosts is a prompt.
    if (name !== undefined && !name.includes('/')) this.#typed.run(name, args.trim())
    else if (typed !== '') this.#typed.send(text)
  }

  runShell(command: string): void {
    if (command.trim() === '') return this.#say('Type a command after the !, for example: !git status', 'error')
    // The command shows its own result.
    this.#typed.next(() => this.#turns.runCommand(withoutPictureLinks(command).trim()))
  }

  takeBack(): string | undefined {
    return this.#queue.takeBack()
  }

  cancel(): boolean {
    if (this.#typed.cancel() || this.#turns.cancelCommand() || this.#turns.cancel() || this.#others.cancel())
      return true
    if (!this.#waiting.now) return false
    this.#giveUp().catch((error) => this.#say(messageOf(error), 'error'))
    return true
  }

  commandRunsFor(): number | undefined {
    const { front } = this.#turns
    return front && this.app().io.clock.elapsed() - front.since
  }

  moveToBackground(): boolean {
    return this.#turns.front?.move() ?? false
  }

  answer(ask: string, picks?: string[]): void {
    if (!this.#cards.answer(ask, picks)) this.#others.answer(ask, picks)
  }

  setLeash(leash: Leash): void {
    void this.#commandRunner.run(this.#leashKey, leash)
  }

  setScreen(screen: CommandScreen): void {
    this.#commandRunner.screen = screen
  }

  // Methods for the code that opened the desk:

  /** If the settings or the command line say `all`, asks whether agents may do everything. Until the answer the leash is tighter. */
  async confirmLeash(): Promise<void> {
    if (this.app().settings.leash !== 'all') return
    this.controls.setLeash('edit')
    await this.#commandRunner.run(this.#leashKey, 'all')
  }

  app = (): App => this.#deskApp.app

  /** Runs a command that the user did not type, for something that needs the user's attention. */
  put(command: Command): void {
    void this.#commandRunner.run(command, '')
  }

  /** Resolves when the first screen has been sent the history and the status. */
  async begun(): Promise<void> {
    await this.#started
  }

  /** Whether leaving now would interrupt a turn. */
  get busy(): boolean {
    return this.#turns.running
  }

  /** Sends the prompt from the command line. */
  first(prompt: string): void {
    if (prompt.startsWith('/')) this.submit(prompt)
    else this.#sender.first(prompt)
  }

  /** Cancels the running turn. Returns prompts that were typed but not sent, oldest first. */
  leave(): string[] {
    const unsent = this.#queue.takeAll()
    this.#turns.cancel()
    while (this.#turns.cancelCommand());
    return unsent
  }

  /** Resolves when no turn runs and no prompt is queued. */
  idle(): Promise<void> {
    return this.#turns.idle()
  }

  async close(): Promise<void> {
    this.#closed.abort()
    this.#waiting.close()
    this.#status.close()
    this.#others.close()
    const foreseen = this.#foresight.close()
    await this.#commandRunner.close()
    const ending = Promise.all(this.#ends.map((end) => end()))
    this.#audience.close()
    const { native, snapshots, warm } = this.app()
    snapshots.stop()
    await this.#opening
    await leaveSession(native, 'prompt_input_exit')
    // A turn that was cancelled has given its process back by then.
    const closed = Promise.all([this.#turns.close(), foreseen]).then(() => warm?.close())
    await Promise.all([closed, closeNative(native), ending])
  }

  /** Sends the first page, the status, warnings and the greeting. */
  async #begin(): Promise<void> {
    const { app } = this.#deskApp
    await this.#page()
    const { view, broken, ended } = await app.conversation.settle()
    if (ended > 0) await this.#page()
    this.#status.open(view)
    // Runs in the background: a turn that starts earlier does not wait for it.
    if (!app.ephemeral) void app.snapshots.prepare()
    this.#greeted = true
    for (const text of this.#warnings) this.#say(text)
    if (broken.length > 0) this.#say(unreadableLines(broken.length), 'error')
    await this.#takeUp()
    await this.#typed.look()
    const lines = await greeting(app, view, this.#status.now)
    if (lines.length > 0) this.#say(lines.join('\n'))
    // The servers start after the first screen, so that the first turn and the first completion find them ready.
    this.#openServers()
    if (this.#deskApp.nobody) await this.#sender.setUp(this.#guidedStart)
  }

  /** Starts the MCP servers, if an agent of ours would start them anyway. */
  #openServers(): void {
    if (this.#closed.signal.aborted || nativeAgents(this.app().settings).length === 0) return
    // The first turn, or /mcp, reports a configuration that cannot be read.
    this.#opening = personServers(this.app())
      .open()
      .catch(() => {})
  }

  async #move(move: () => Promise<void>): Promise<void> {
    this.#waiting.close()
    await move()
    await this.#page()
    this.#status.open(await this.app().conversation.view())
    await this.#takeUp()
  }

  #send(prompt: string): void {
    this.#followUps.withdraw()
    this.#sender.send(prompt)
  }

  async #overElsewhere(): Promise<void> {
    await this.#status.refresh()
    if (!this.#others.busy) this.#turns.goOn()
  }

  /** Sends the newest page first, because counting tokens takes longer. */
  async #page(): Promise<void> {
    const { pages } = this.#deskApp
    const shown = await this.#others.look()
    this.#firstPage = await pages.newest(firstPage)
    const { entries, more } = this.#firstPage
    await this.#audience.tell({ type: 'opened', entries: entries.filter(({ turn }) => !shown.has(turn)), more })
  }

  /** Continues a waiting prompt and the turns of other processes. */
  async #takeUp(): Promise<void> {
    await this.#waiting.takeUp()
    await this.#status.stand()
    this.#others.follow(this.#firstPage)
  }

  async #over(seen: TurnSummary, prompt: string): Promise<void> {
    if (seen.waits !== undefined) await this.#waiting.begin(seen.waits, prompt)
    if (this.app().native.state.trust.given) await this.#takeTrust()
    await this.#status.refresh()
    this.#followUps.after(seen)
    // A prompt that was typed meanwhile can be prepared once the turn is over.
    void this.#turns.idle().then(() => this.#foresight.changed())
    // The turn may have written a command file; nothing waits for the new list.
    void this.#typed.look()
  }

  /** Reads the settings again after the folder was trusted during a turn. */
  async #takeTrust(): Promise<void> {
    delete this.app().native.state.trust.given
    await this.controls.reload().catch((error) => this.#say(messageOf(error), 'error'))
  }

  async #giveUp(): Promise<void> {
    await this.#waiting.giveUp()
    this.#say('No longer waiting.')
    await this.#status.stand()
  }

  async #resume(agent: string, prompt: string): Promise<void> {
    await this.#turns.idle()
    this.#say(`${agent} is back. Sending the request that waited for it.`)
    this.#turns.aim(agent)
    this.#turns.submit(prompt)
  }

  #say(text: string, how: SaidHow = 'note'): void {
    this.#audience.say(text, how)
  }
}
