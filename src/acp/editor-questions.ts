import type { AgentContext, ClientCapabilities, ElicitationSchema, PermissionOption } from '@agentclientprotocol/sdk'
import type { Clock } from '../base/time/clock.ts'
import type { Ask, Meaning, Option, Question } from '../core/talk/question.ts'
import type { AcpSdk } from './acp-sdk.ts'
import type { EditorDesk } from './editor-desk.ts'
import type { SendUpdate } from './session-updates.ts'
import { defined } from '../base/defined.ts'
import { newId } from '../base/id.ts'
import { escapeOf } from '../core/talk/consent.ts'
import { exactText, readableText } from '../questions/question-text.ts'
import { shownContent } from './tool-call-content.ts'

type QuestionParts = {
  sdk: AcpSdk
  client: AgentContext
  capabilities: ClientCapabilities | undefined
  seat: EditorDesk
  clock: Clock
  send: SendUpdate
  /** The running call, if exactly one is running. */
  openCall(): string | undefined
}

/** The questions that an editor shows now. The first answer counts; then the question is withdrawn everywhere else. */
export class EditorQuestions {
  #parts: QuestionParts
  #open = new Map<string, AbortController>()

  constructor(parts: QuestionParts) {
    this.#parts = parts
  }

  /** Shows a question of a turn; its answer goes to the desk. */
  async show(ask: string, question: Question): Promise<void> {
    const withdrawn = new AbortController()
    this.#open.set(ask, withdrawn)
    const picks = await this.ask(question, withdrawn.signal)
    this.#open.delete(ask)
    if (!withdrawn.signal.aborted) this.#parts.seat.desk.answer(ask, picks)
  }

  takeBack(ask: string): void {
    this.#open.get(ask)?.abort()
  }

  close(): void {
    for (const withdrawn of this.#open.values()) withdrawn.abort()
  }

  /** Asks the editor. A question without a call is shown as a call, so that there is something to allow. */
  readonly ask: Ask = async (question, withdrawn) => {
    const { send, seat, clock } = this.#parts
    const open = question.about === 'permission' ? this.#parts.openCall() : undefined
    const call = open ?? `ask/${newId(clock.now())}`
    if (open === undefined)
      await send({
        sessionUpdate: 'tool_call',
        toolCallId: call,
        title: questionTitle(question),
        kind: 'think',
        status: 'pending',
        content: shownContent(question, seat.cwd),
      })
    const picks = await this.#picks(question, call, withdrawn).catch(() => undefined)
    if (open === undefined)
      await send({ sessionUpdate: 'tool_call_update', toolCallId: call, status: picks ? 'completed' : 'failed' })
    return picks
  }

  /** Asks with a permission request for an action, and with a form for information; undefined if the editor supports neither. */
  async #picks(question: Question, call: string, withdrawn: AbortSignal): Promise<string[] | undefined> {
    // The editor may store the form that it shows, so termaite does not ask for a secret there.
    if (question.secret) return undefined
    const forms = Boolean(this.#parts.capabilities?.elicitation?.form)
    const wantsWords = question.multiple === true || question.free === true || question.options.length === 0
    if (forms && (wantsWords || question.about === 'choice')) return this.#fillIn(question, withdrawn)
    return question.options.length === 0 ? undefined : this.#permit(question, call, withdrawn)
  }

  async #permit(question: Question, call: string, withdrawn: AbortSignal): Promise<string[] | undefined> {
    const { sdk, client, seat } = this.#parts
    const { outcome } = await client.request(
      sdk.methods.client.session.requestPermission,
      {
        sessionId: seat.session,
        toolCall: {
          toolCallId: call,
          title: questionTitle(question),
          content: shownContent(question, seat.cwd),
        },
        options: question.options.map(permissionOption),
      },
      { cancellationSignal: withdrawn, stopWaitingOnCancel: true },
    )
    return outcome.outcome === 'selected' ? [outcome.optionId] : escapeOf(question).picks
  }

  async #fillIn(question: Question, withdrawn: AbortSignal): Promise<string[] | undefined> {
    const { sdk, client, seat } = this.#parts
    const answer = await client.request(
      sdk.methods.client.elicitation.create,
      { mode: 'form', sessionId: seat.session, message: questionTitle(question), requestedSchema: formOf(question) },
      { cancellationSignal: withdrawn, stopWaitingOnCancel: true },
    )
    if (answer.action !== 'accept') return escapeOf(question).picks
    const { words: own, pick } = (answer.content ?? {}) as { words?: unknown; pick?: unknown }
    if (typeof own === 'string' && own.trim() !== '') return [own]
    const picks = [pick].flat().filter((one): one is string => typeof one === 'string')
    return picks.length > 0 ? picks : undefined
  }
}

function questionTitle({ about, text, from, agent }: Question): string {
  // The text of other questions already names the agent in question.
  const asks = about === 'permission' ? agent : undefined
  const who = [asks, ...from].filter((name) => name !== undefined).join(' › ')
  return exactText(who === '' ? text : `${who}: ${text}`)
}

const refusals = /^(no|reject|deny|stop|cancel|skip|never)\b/i
const kinds: Readonly<Record<Meaning, PermissionOption['kind']>> = {
  once: 'allow_once',
  always: 'allow_always',
  no: 'reject_once',
}

/** An option whose name includes its grant, because a lasting yes must say so. */
function permissionOption({ id, label, grants, means }: Option): PermissionOption {
  const refuses = refusals.test(id) || refusals.test(label)
  const kind = means ? kinds[means] : refuses ? 'reject_once' : grants ? 'allow_always' : 'allow_once'
  return { optionId: id, name: readableText(grants ? `${label} (${grants})` : label), kind }
}

function formOf({ options, multiple, marked, free }: Question): ElicitationSchema {
  const choices = options.map(({ id, label, grants }) => ({
    const: id,
    title: grants ? `${label} (${grants})` : label,
  }))
  const pick = multiple
    ? defined({ type: 'array' as const, items: { anyOf: choices }, default: marked && [...marked] })
    : { type: 'string' as const, oneOf: choices }
  const takesWords = free || options.length === 0
  return {
    type: 'object',
    properties: {
      ...(options.length > 0 ? { pick } : {}),
      ...(takesWords ? { words: { type: 'string', title: 'In your own words' } } : {}),
    },
    required: takesWords ? undefined : ['pick'],
  }
}
