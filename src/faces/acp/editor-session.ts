import type {
  AgentContext,
  ClientCapabilities,
  PromptRequest,
  SessionUpdate,
  StopReason,
} from '@agentclientprotocol/sdk'
import type { Clock } from '../../base/clock.ts'
import type { Command, CommandScreen } from '../../core/talk/command.ts'
import type { EntryOf, Entry } from '../../core/talk/entry.ts'
import type { DeskEvent } from '../chat/chat-desk.ts'
import type { WorkMode, Leash } from '../../core/work/agent.ts'
import type { EditorDesk } from './editor-desk.ts'
import type { AcpSdk } from './acp-sdk.ts'
import { oneLine } from '../chat/transcript/screen-text.ts'
import { wordsOf } from '../../base/words.ts'
import { leashes } from '../../core/work/agent.ts'
import { auto, sessionConfig, sessionModes } from './session-options.ts'
import { PendingPrompt, stopReason, promptOf } from './editor-prompt.ts'
import { EditorQuestions } from './editor-questions.ts'
import { SessionUpdates } from './session-updates.ts'

export type SessionParts = {
  sdk: AcpSdk
  client: AgentContext
  capabilities: ClientCapabilities | undefined
  office: EditorDesk
  clock: Clock
}

/** One session of an editor: what happens at its desk is told, what the person does there is done. */
export class EditorSession {
  #parts: SessionParts
  #telling: SessionUpdates
  #pending: PendingPrompt | undefined
  /** The turn that the pending prompt began. */
  #turn: string | undefined
  #outcome: EntryOf<'end'>['outcome'] | undefined
  #questions: EditorQuestions
  #agent = auto
  /** How many texts wait for a turn. */
  #queued = 0
  #named: boolean
  #told = ''
  #closed = new AbortController()

  constructor(parts: SessionParts) {
    this.#parts = parts
    this.#named = parts.office.opened.entries.length > 0
    this.#telling = new SessionUpdates({
      tell: this.#tell,
      cwd: parts.office.cwd,
      clock: parts.clock,
      notices: Boolean(parts.capabilities?.session?.notices),
    })
    this.#questions = new EditorQuestions({ ...parts, tell: this.#tell, openCall: () => this.#telling.openCall })
    parts.office.desk.setScreen(this.#screen)
  }

  get id(): string {
    return this.#parts.office.session
  }

  /** What a client is told of it when it opens. */
  state() {
    const { office } = this.#parts
    const configOptions = sessionConfig(office, this.#agent)
    this.#told = JSON.stringify(configOptions)
    return { modes: sessionModes(office), configOptions }
  }

  /** What was said before, from its beginning. */
  async replay(): Promise<void> {
    const { office, clock } = this.#parts
    await replay(office, new SessionUpdates({ tell: this.#tell, cwd: office.cwd, clock, notices: false }))
  }

  /** From here on the client is told what happens. */
  async follow(): Promise<void> {
    const { desk } = this.#parts.office
    await this.#tell({
      sessionUpdate: 'available_commands_update',
      availableCommands: desk.commands.map(({ name, help, words }) => ({
        name,
        description: help,
        ...(words ? { input: { hint: words } } : {}),
      })),
    })
    for await (const happening of desk.events(this.#closed.signal)) await this.#show(happening)
  }

  async prompt({ prompt }: PromptRequest, signal: AbortSignal): Promise<StopReason> {
    const { sdk, office } = this.#parts
    if (this.#pending)
      throw sdk.RequestError.invalidRequest(undefined, 'a prompt is at work in this session; cancel it first')
    const pending = (this.#pending = new PendingPrompt())
    this.#turn = this.#outcome = undefined
    const cancel = () => this.cancel()
    signal.addEventListener('abort', cancel, { once: true })
    try {
      const text = promptOf(prompt, office.cwd)
      const [, name, args = ''] = /^\/(\S+)\s*([^]*)$/.exec(text.trim()) ?? []
      const command = office.desk.commands.find((one) => one.name === name)
      if (command) await this.#run(command, args.trim(), pending)
      else this.#send(text, pending)
      const ending = await pending.over
      await office.idle()
      return stopReason(sdk, ending)
    } finally {
      signal.removeEventListener('abort', cancel)
      this.#pending = undefined
    }
  }

  cancel(): void {
    this.#pending?.cancel()
    this.#parts.office.desk.cancel()
  }

  async setMode(mode: string): Promise<void> {
    const { office } = this.#parts
    const known = office.modes.find(({ id }) => id === mode)
    if (!known) throw new Error(`there is no mode "${mode}"; there are: ${office.modes.map(({ id }) => id).join(', ')}`)
    await office.setMode(mode as WorkMode)
  }

  async setOption(option: string, value: unknown): Promise<void> {
    const { desk } = this.#parts.office
    if (option === 'mode') return this.setMode(String(value))
    if (option === 'leash' && leashes.includes(value as Leash)) return desk.setLeash(value as Leash)
    const names = [auto, ...desk.standing().agents.map(({ name }) => name)]
    if (option !== 'agent' || !names.includes(String(value)))
      throw new Error(`there is no option "${option}" with the value "${String(value)}"`)
    this.#agent = String(value)
  }

  async close(): Promise<void> {
    this.#pending?.cancel()
    await this.#parts.office.close()
    this.#closed.abort()
    this.#questions.close()
    this.#pending?.end()
  }

  #tell = (update: SessionUpdate): Promise<void> => {
    const { sdk, client, office } = this.#parts
    // Whoever hung up is told nothing more.
    return client.notify(sdk.methods.client.session.update, { sessionId: office.session, update }).catch(() => {})
  }

  #send(text: string, pending: PendingPrompt): void {
    const { office } = this.#parts
    if (text.trim() === '') return pending.end()
    office.setNextAgent(this.#agent === auto ? undefined : this.#agent)
    office.desk.submit(text)
  }

  /** A command is run here, so that its end is known; a turn that it begins is waited for like any other. */
  async #run(command: Command, args: string, pending: PendingPrompt): Promise<void> {
    const say = (text: string, how: 'note' | 'text' | 'error' = 'note') => void this.#say(text, how)
    const { signal } = pending.stop
    try {
      await command.run(args, {
        say,
        ask: this.#questions.ask,
        signal,
        screen: { ...noScreen, fill: (text) => say(text, 'text') },
      })
    } catch (error) {
      if (!signal.aborted) await this.#telling.notice(wordsOf(error), 'error')
    }
    if (!this.#parts.office.busy) pending.end()
  }

  async #show(happening: DeskEvent): Promise<void> {
    switch (happening.type) {
      case 'event': {
        const { event, turn } = happening
        const mine = this.#pending !== undefined
        if (event.type === 'prompt' && mine) await this.#began(turn, event.text)
        if (event.type === 'question') void this.#questions.show(event.ask, event.question)
        if (event.type === 'answer') this.#questions.takeBack(event.ask)
        if (event.type === 'end' && turn === this.#turn) this.#outcome = event.outcome
        return this.#telling.event(event, turn, turn === this.#turn)
      }
      case 'closing':
        if (happening.closing.turn === this.#turn || this.#gaveAway) this.#pending?.end(this.#outcome)
        return
      case 'queue':
        this.#queued = happening.texts.length
        return
      case 'said':
        if (this.#pending && happening.how === 'error') this.#pending.trouble = happening.text
        // What greets a person at a screen has no place before the first word of a thread.
        return this.#pending ? this.#say(happening.text, happening.how) : undefined
      case 'standing':
        return this.#standing()
      default:
        return
    }
  }

  /** Whether the prompt steered a turn of another process: then it is over with that one. */
  get #gaveAway(): boolean {
    return this.#turn === undefined && this.#queued === 0 && !this.#parts.office.busy
  }

  /** A thread is called by its first words, until somebody calls it otherwise. */
  async #began(turn: string, prompt: string): Promise<void> {
    this.#turn = turn
    if (this.#named) return
    this.#named = true
    await this.#tell({ sessionUpdate: 'session_info_update', title: oneLine(prompt, 60) })
  }

  async #say(text: string, how: 'note' | 'text' | 'error'): Promise<void> {
    if (how === 'text') await this.#telling.text(text)
    else await this.#telling.notice(text, how === 'error' ? 'error' : 'info')
  }

  /** What the person, a command or a plan turned, as far as it is other than it was. */
  async #standing(): Promise<void> {
    const told = this.#told
    const { modes, configOptions } = this.state()
    if (told === this.#told) return
    await this.#tell({ sessionUpdate: 'current_mode_update', currentModeId: modes.currentModeId })
    await this.#tell({ sessionUpdate: 'config_option_update', configOptions })
  }

  /** What the desk does to a screen. */
  #screen: CommandScreen = {
    ...noScreen,
    // A prompt that comes back could not be sent.
    fill: () => this.#pending?.refuse(),
    palette: (query = '') => {
      const names = this.#parts.office.desk.commands.map(({ name }) => `/${name}`).join(' ')
      void this.#telling.text(`There is no command /${query}. There are: ${names}`).then(() => this.#pending?.end())
    },
  }
}

/** What a command may do with a screen, where there is none. */
export const noScreen: CommandScreen = {
  suspend: async () => {
    throw new Error('this needs a terminal: run it in one, as `termaite`')
  },
  copy: async (text) => text,
  clear: () => {},
  fill: () => {},
  palette: () => {},
  exit: () => {},
}

/** More is not told again: an editor shows a thread, not an archive. */
const most = 2_000

const page = 500

/** What termaite noted meanwhile was news then. */
const said = new Set<Entry['type']>(['prompt', 'steer', 'reply', 'call', 'result', 'end'])

/** What was said in a session, from its beginning or as far back as is told. */
export async function replay({ desk, opened }: EditorDesk, telling: SessionUpdates): Promise<void> {
  let { entries, more } = opened
  while (more && entries.length < most) {
    const before = await desk.earlier(entries[0]!.id, page)
    entries = [...before.entries, ...entries]
    more = before.more && before.entries.length > 0
  }
  for (const entry of entries.slice(-most).filter(({ type }) => said.has(type)))
    await telling.event(entry, entry.turn, false)
}
