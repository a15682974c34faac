import type {
  AgentContext,
  ClientCapabilities,
  PromptRequest,
  SessionUpdate,
  StopReason,
} from '@agentclientprotocol/sdk'
import type { Clock } from '../base/time/clock.ts'
import type { Command, CommandScreen, SaidHow } from '../core/talk/command.ts'
import type { Entry, EntryOf } from '../core/talk/entry.ts'
import type { Leash, WorkMode } from '../core/work/agent.ts'
import type { DeskEvent } from '../chat/desk/chat-desk.ts'
import type { AcpSdk } from './acp-sdk.ts'
import type { EditorDesk } from './editor-desk.ts'
import { messageOf } from '../base/error-message.ts'
import { leashes } from '../core/work/agent.ts'
import { oneLine } from '../chat/style/safe-text.ts'
import { PendingPrompt, promptText, stopReason } from './editor-prompt.ts'
import { EditorQuestions } from './editor-questions.ts'
import { auto, sessionConfig, sessionModes } from './session-options.ts'
import { SessionUpdates } from './session-updates.ts'

type SessionParts = {
  sdk: AcpSdk
  client: AgentContext
  capabilities: ClientCapabilities | undefined
  seat: EditorDesk
  clock: Clock
}

/** One session of an editor: sends the events of its desk to the editor, and passes the user's prompts and choices to the desk. */
export class EditorSession {
  #parts: SessionParts
  #updates: SessionUpdates
  #questions: EditorQuestions
  #pending: PendingPrompt | undefined
  /** The turn that the pending prompt began. */
  #turn: string | undefined
  #outcome: EntryOf<'end'>['outcome'] | undefined
  #agent = auto
  /** How many prompts wait for a turn. */
  #queued = 0
  #titled: boolean
  /** The options that were sent last. */
  #sentOptions = ''
  #closed = new AbortController()

  constructor(parts: SessionParts) {
    this.#parts = parts
    this.#titled = parts.seat.opened.entries.length > 0
    this.#updates = new SessionUpdates({
      send: this.#send,
      cwd: parts.seat.cwd,
      clock: parts.clock,
      notices: Boolean(parts.capabilities?.session?.notices),
    })
    this.#questions = new EditorQuestions({ ...parts, send: this.#send, openCall: () => this.#updates.openCall })
    parts.seat.desk.setScreen(this.#screen)
  }

  get id(): string {
    return this.#parts.seat.session
  }

  /** The modes and options of the session, in the form for its client. */
  state() {
    const { seat } = this.#parts
    const configOptions = sessionConfig(seat, this.#agent)
    this.#sentOptions = JSON.stringify(configOptions)
    return { modes: sessionModes(seat), configOptions }
  }

  /** Sends the earlier messages of the session, from its beginning. */
  async replay(): Promise<void> {
    const { seat, clock } = this.#parts
    await replay(seat, new SessionUpdates({ send: this.#send, cwd: seat.cwd, clock, notices: false }))
  }

  /** Sends the commands, and then everything that happens at the desk until the session is closed. */
  async follow(): Promise<void> {
    const { desk } = this.#parts.seat
    await this.#sendCommands()
    for await (const event of desk.events(this.#closed.signal)) await this.#show(event)
  }

  /** Accepts a prompt or a command, and waits until its turn is over. */
  async prompt({ prompt }: PromptRequest, signal: AbortSignal): Promise<StopReason> {
    const { sdk, seat } = this.#parts
    if (this.#pending)
      throw sdk.RequestError.invalidRequest(undefined, 'a prompt is already running in this session. Cancel it first')
    const pending = (this.#pending = new PendingPrompt())
    this.#turn = this.#outcome = undefined
    const cancel = () => this.cancel()
    signal.addEventListener('abort', cancel, { once: true })
    try {
      const text = await promptText(prompt, seat.cwd, (data, name) => this.#keepPicture(data, name))
      const [, name, args = ''] = /^\/(\S+)\s*([^]*)$/.exec(text.trim()) ?? []
      const command = await this.#commandNamed(name)
      if (command) await this.#run(command, args.trim(), pending)
      else this.#submit(text, pending)
      const ending = await pending.over
      await seat.idle()
      return stopReason(sdk, ending)
    } finally {
      signal.removeEventListener('abort', cancel)
      this.#pending = undefined
    }
  }

  cancel(): void {
    this.#pending?.cancel()
    this.#parts.seat.desk.cancel()
  }

  async setMode(mode: string): Promise<void> {
    const { seat } = this.#parts
    const known = seat.modes.find(({ id }) => id === mode)
    if (!known) throw new Error(`there is no mode "${mode}"; there are: ${seat.modes.map(({ id }) => id).join(', ')}`)
    await seat.setMode(mode as WorkMode)
  }

  async setOption(option: string, value: unknown): Promise<void> {
    const { desk } = this.#parts.seat
    if (option === 'mode') return this.setMode(String(value))
    if (option === 'leash' && leashes.includes(value as Leash)) return desk.setLeash(value as Leash)
    const names = [auto, ...desk.standing().agents.map(({ name }) => name)]
    if (option !== 'agent' || !names.includes(String(value)))
      throw new Error(`there is no option "${option}" with the value "${String(value)}"`)
    this.#agent = String(value)
  }

  async close(): Promise<void> {
    this.#pending?.cancel()
    await this.#parts.seat.close()
    this.#closed.abort()
    this.#questions.close()
    this.#pending?.end()
  }

  /** The command with this name, whose file may be new. A path such as /etc/hosts does not name a command. */
  async #commandNamed(name: string | undefined): Promise<Command | undefined> {
    if (name === undefined || name.includes('/')) return undefined
    const { commands } = this.#parts.seat.desk
    const find = () => commands.find((one) => one.name === name)
    if (!find()) await commands.refresh?.().catch(() => {})
    return find()
  }

  async #sendCommands(): Promise<void> {
    await this.#send({
      sessionUpdate: 'available_commands_update',
      availableCommands: this.#parts.seat.desk.commands.map(({ name, help, words }) => ({
        name,
        description: help,
        input: words ? { hint: words } : undefined,
      })),
    })
  }

  #send = (update: SessionUpdate): Promise<void> => {
    const { sdk, client, seat } = this.#parts
    // A client that has closed its connection gets nothing more.
    return client.notify(sdk.methods.client.session.update, { sessionId: seat.session, update }).catch(() => {})
  }

  /** Stores a picture of a prompt. If a picture cannot be used, sends a notice that says why. */
  async #keepPicture(data: string, name: string): Promise<string> {
    const kept = await this.#parts.seat.desk.sources.keepPicture(Buffer.from(data, 'base64'), name)
    const problems = kept?.problems ?? [`${name} was left out: it is not a PNG, JPEG, GIF or WebP.`]
    for (const problem of problems) await this.#updates.notice(problem, 'error')
    return kept?.texts[0] ?? '[a picture that could not be taken]'
  }

  #submit(text: string, pending: PendingPrompt): void {
    const { seat } = this.#parts
    if (text.trim() === '') return pending.end()
    seat.setNextAgent(this.#agent === auto ? undefined : this.#agent)
    seat.desk.submit(text)
  }

  /**
   * Runs a command here and not at the desk, so that its end is noticed. If it begins a turn, the prompt waits for that turn as usual.
   */
  async #run(command: Command, args: string, pending: PendingPrompt): Promise<void> {
    // The client's connection sends the output of a command in order; the command need not wait.
    const say = (text: string, how: SaidHow = 'note') => {
      void this.#say(text, how)
    }
    const { signal } = pending.stop
    try {
      await command.run(args, {
        say,
        ask: this.#questions.ask,
        signal,
        screen: { ...noScreen, fill: (text) => say(text, 'text') },
      })
    } catch (error) {
      if (!signal.aborted) await this.#updates.notice(messageOf(error), 'error')
    }
    if (!this.#parts.seat.busy) pending.end()
  }

  async #show(happened: DeskEvent): Promise<void> {
    switch (happened.type) {
      case 'event': {
        const { event, turn } = happened
        if (event.type === 'prompt' && this.#pending) await this.#began(turn, event.text)
        // A question stays open until it is answered; events continue meanwhile.
        if (event.type === 'question') void this.#questions.show(event.ask, event.question)
        if (event.type === 'answer') this.#questions.takeBack(event.ask)
        if (event.type === 'end' && turn === this.#turn) this.#outcome = event.outcome
        return this.#updates.event(event, turn, turn === this.#turn)
      }
      case 'closing':
        if (happened.closing.turn === this.#turn || this.#steeredElsewhere) this.#pending?.end(this.#outcome)
        return
      case 'queue':
        this.#queued = happened.texts.length
        return
      case 'said':
        if (this.#pending && happened.how === 'error') this.#pending.trouble = happened.text
        // The greeting is meant for a person in the chat; a thread in an editor begins with its first prompt.
        return this.#pending ? this.#say(happened.text, happened.how) : undefined
      case 'standing':
        return this.#sendOptions()
      case 'commands':
        return this.#sendCommands()
      default:
        return
    }
  }

  /** Whether the prompt steered a turn of another process: then the prompt ends together with that turn. */
  get #steeredElsewhere(): boolean {
    return this.#turn === undefined && this.#queued === 0 && !this.#parts.seat.busy
  }

  /** Remembers the turn of the prompt, and titles the thread by its first words. */
  async #began(turn: string, prompt: string): Promise<void> {
    this.#turn = turn
    if (this.#titled) return
    this.#titled = true
    await this.#send({ sessionUpdate: 'session_info_update', title: oneLine(prompt, 60) })
  }

  async #say(text: string, how: SaidHow): Promise<void> {
    if (how === 'text' || how === 'aside') await this.#updates.text(text)
    else await this.#updates.notice(text, how === 'error' ? 'error' : 'info')
  }

  /** Sends the options again if the person, a command or a plan has changed them. */
  async #sendOptions(): Promise<void> {
    const sent = this.#sentOptions
    const { modes, configOptions } = this.state()
    if (sent === this.#sentOptions) return
    await this.#send({ sessionUpdate: 'current_mode_update', currentModeId: modes.currentModeId })
    await this.#send({ sessionUpdate: 'config_option_update', configOptions })
  }

  #screen: CommandScreen = {
    ...noScreen,
    // The desk returns a prompt that could not be sent.
    fill: () => this.#pending?.refuse(),
    palette: (query = '') => {
      const names = this.#parts.seat.desk.commands.map(({ name }) => `/${name}`).join(' ')
      // This finishes the pending prompt, so nothing else needs to wait for it.
      void this.#updates.text(`There is no command /${query}. There are: ${names}`).then(() => this.#pending?.end())
    },
  }
}

/** The screen for a command that runs without one. */
const noScreen: CommandScreen = {
  suspend: async () => {
    throw new Error('this command needs a terminal. Run `termaite` in one')
  },
  copy: async (text) => text,
  clear: () => {},
  fill: () => {},
  palette: () => {},
  keys: () => {},
  exit: () => {},
}

/** The most entries that are sent again: an editor shows a thread, not an archive. */
const mostReplayed = 2_000

const page = 500

/** Termaite's notes are left out, because they only mattered when they were written. */
const replayed = new Set<Entry['type']>(['prompt', 'steer', 'reply', 'words', 'call', 'result', 'end'])

async function replay({ desk, opened }: EditorDesk, updates: SessionUpdates): Promise<void> {
  let { entries, more } = opened
  while (more && entries.length < mostReplayed) {
    const before = await desk.earlier(entries[0]!.id, page)
    entries = [...before.entries, ...entries]
    more = before.more && before.entries.length > 0
  }
  for (const entry of entries.slice(-mostReplayed).filter(({ type }) => replayed.has(type)))
    await updates.event(entry, entry.turn, false)
}
