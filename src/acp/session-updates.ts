import { remarkOf, reportWords } from '../core/talk/notice.ts'
import type { SessionUpdate } from '@agentclientprotocol/sdk'
import type { Clock } from '../base/time/clock.ts'
import type { Event } from '../core/talk/entry.ts'
import { newId } from '../base/id.ts'
import { summaryWords } from '../core/talk/compaction.ts'
import { cutWords } from '../core/talk/shown-words.ts'
import { retryWords } from '../chat/style/numbers.ts'
import { toolKind, locationsOf, resultContent, textContent, toolTitle } from './tool-call-content.ts'

export type SendUpdate = (update: SessionUpdate) => Promise<void>

type UpdateParts = {
  send: SendUpdate
  cwd: string
  clock: Clock
  /** Whether the client shows notices separately from the conversation. */
  notices: boolean
}

/** How often the output of a running tool is sent; each time the whole output is sent. */
const pauseMs = 250

type Voice = 'agent_message_chunk' | 'agent_thought_chunk'
type Call = { output: string; shown: number }

/** Sends the events of a session to its editor. A reply that was streamed is not sent again as a whole. */
export class SessionUpdates {
  #parts: UpdateParts
  /** The kind of message that is being streamed, and its id: another kind begins another message. */
  #speaking: { voice: Voice; message: string } | undefined
  /** The text streamed since the last whole reply. */
  #streamed = ''
  #silent = true
  #calls = new Map<string, Call>()

  constructor(parts: UpdateParts) {
    this.#parts = parts
  }

  /** The running call, if exactly one is running. */
  get openCall(): string | undefined {
    return this.#calls.size === 1 ? [...this.#calls.keys()][0] : undefined
  }

  /** Sends one event; `mine` says that the client sent this turn's prompt, and so already shows it. */
  async event(event: Event, turn: string, mine: boolean): Promise<void> {
    switch (event.type) {
      case 'prompt':
        this.#begin()
        return mine ? undefined : this.#user(event.text)
      case 'steer':
        return mine ? undefined : this.#user(event.text)
      case 'text':
        this.#streamed += event.delta
        return this.#say('agent_message_chunk', event.delta)
      case 'thought':
        return this.#say('agent_thought_chunk', event.delta)
      case 'reply':
        return this.#reply(event.text)
      case 'words':
        return event.from ? undefined : this.#words(event)
      case 'call':
        return this.#call(`${turn}/${event.call}`, event.tool, event.input)
      case 'progress':
        return this.#progress(`${turn}/${event.call}`, event.delta)
      case 'result':
        return this.#result(`${turn}/${event.call}`, event)
      case 'plan':
        return this.#other({
          sessionUpdate: 'plan',
          entries: event.items.map(({ task, status }) => ({ content: task, status, priority: 'medium' })),
        })
      case 'attempt':
        this.#streamed = ''
        return this.#remark(`${event.by ?? 'An agent'} failed: ${event.failure.message}`, 'warning')
      // A phase may take minutes: editors show thoughts as they arrive.
      case 'phase':
        return this.#say('agent_thought_chunk', `${event.framework}: ${event.words}\n\n`)
      case 'waiting':
        if (event.until === undefined) return undefined
        return this.#say('agent_thought_chunk', `${retryWords(event, this.#parts.clock.now())}\n\n`)
      case 'notification':
        return this.#remark(
          reportWords(event),
          event.status === 'blocked' || event.status === 'failed' ? 'warning' : 'info',
        )
      case 'summary':
        return this.#remark(`${summaryWords(event)}.`, 'info')
      case 'end':
        // The answer of an agent that streamed nothing and stored no reply is only in its outcome.
        if (event.outcome.ok && this.#silent) await this.#reply(event.outcome.text)
        if (!event.outcome.ok && event.outcome.failure.kind === 'unfinished')
          await this.notice(`The turn was ${event.outcome.failure.message}.`, 'warning')
        return this.#pause()
      default: {
        const remark = remarkOf(event)
        return remark === undefined ? undefined : this.#remark(remark, 'info')
      }
    }
  }

  /** Sends a message from termaite itself in the middle of a turn, which is not a part of the answer. */
  async #remark(text: string, severity: 'info' | 'warning'): Promise<void> {
    if (this.#parts.notices) return this.notice(text, severity)
    return this.#say('agent_thought_chunk', `${text.trim()}\n\n`)
  }

  /** Sends a message from termaite itself outside of an answer, such as what a command says. */
  async notice(text: string, severity: 'info' | 'warning' | 'error'): Promise<void> {
    const [title = '', ...rest] = text.trim().split('\n')
    if (title === '') return
    const description = rest.length > 0 ? rest.join('\n') : undefined
    if (this.#parts.notices) return this.#other({ sessionUpdate: 'notice', severity, title, description })
    this.#pause()
    await this.#say('agent_message_chunk', `_${text.trim().replaceAll('\n', '_\n_')}_\n\n`)
    this.#pause()
  }

  /** Sends the output of a command. */
  async text(text: string): Promise<void> {
    this.#pause()
    await this.#say('agent_message_chunk', text)
    this.#pause()
  }

  #begin(): void {
    this.#pause()
    this.#streamed = ''
    this.#silent = true
    this.#calls.clear()
  }

  #pause(): void {
    this.#speaking = undefined
  }

  async #user(text: string): Promise<void> {
    await this.#other({
      sessionUpdate: 'user_message_chunk',
      content: { type: 'text', text },
      messageId: newId(this.#parts.clock.now()),
    })
  }

  async #reply(text: string): Promise<void> {
    const [streamed] = [this.#streamed, (this.#streamed = '')]
    if (streamed.trim() === '') await this.#say('agent_message_chunk', text)
    else if (text.startsWith(streamed)) await this.#say('agent_message_chunk', text.slice(streamed.length))
    this.#pause()
  }

  /** Text that no reply contains was streamed; an editor that opens the session again gets it, with the reason why it was cut off. */
  async #words({ text, cut }: Extract<Event, { type: 'words' }>): Promise<void> {
    if (this.#streamed.trim() !== '') return
    await this.#say('agent_message_chunk', cut ? `${text}\n\n_(${cutWords[cut]})_\n\n` : text)
    this.#pause()
  }

  async #call(id: string, tool: string, input: unknown): Promise<void> {
    this.#calls.set(id, { output: '', shown: -Infinity })
    const locations = locationsOf(input, this.#parts.cwd)
    await this.#other({
      sessionUpdate: 'tool_call',
      toolCallId: id,
      title: toolTitle(tool, input),
      kind: toolKind(input),
      status: 'in_progress',
      rawInput: input,
      locations: locations.length > 0 ? locations : undefined,
    })
  }

  async #progress(id: string, delta: string): Promise<void> {
    const call = this.#calls.get(id)
    if (!call) return
    call.output += delta
    const now = this.#parts.clock.elapsed()
    if (now - call.shown < pauseMs) return
    call.shown = now
    await this.#other({ sessionUpdate: 'tool_call_update', toolCallId: id, content: textContent(call.output) })
  }

  async #result(id: string, { ok, text, data }: Extract<Event, { type: 'result' }>): Promise<void> {
    this.#calls.delete(id)
    await this.#other({
      sessionUpdate: 'tool_call_update',
      toolCallId: id,
      status: ok ? 'completed' : 'failed',
      content: resultContent(text, data, this.#parts.cwd),
    })
  }

  async #say(voice: Voice, text: string): Promise<void> {
    if (text === '') return
    if (this.#speaking?.voice !== voice) this.#speaking = { voice, message: newId(this.#parts.clock.now()) }
    if (voice === 'agent_message_chunk') this.#silent = false
    const { message } = this.#speaking
    await this.#parts.send({ sessionUpdate: voice, content: { type: 'text', text }, messageId: message })
  }

  async #other(update: SessionUpdate): Promise<void> {
    this.#pause()
    await this.#parts.send(update)
  }
}
