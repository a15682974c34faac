import type { AgentContext, ClientCapabilities, ElicitationSchema, PermissionOption } from '@agentclientprotocol/sdk'
import type { Clock } from '../../base/clock.ts'
import type { Ask, Question } from '../../core/talk/question.ts'
import type { EditorDesk } from './editor-desk.ts'
import type { AcpSdk } from './acp-sdk.ts'
import type { SendUpdate } from './session-updates.ts'
import { newId } from '../../base/id.ts'
import { shownContent } from './tool-call-content.ts'
import { exactText, readableText } from '../question-text.ts'

export type QuestionParts = {
  sdk: AcpSdk
  client: AgentContext
  capabilities: ClientCapabilities | undefined
  office: EditorDesk
  clock: Clock
  tell: SendUpdate
  /** The one call that is at work, if it is one. */
  openCall(): string | undefined
}

/** The questions that an editor is asked now. Whoever answers first counts: the others are taken back. */
export class EditorQuestions {
  #parts: QuestionParts
  #open = new Map<string, AbortController>()

  constructor(parts: QuestionParts) {
    this.#parts = parts
  }

  /** A question of a turn: its answer goes to the desk. */
  async show(ask: string, question: Question): Promise<void> {
    const withdrawn = new AbortController()
    this.#open.set(ask, withdrawn)
    const picks = await this.ask(question, withdrawn.signal)
    this.#open.delete(ask)
    if (!withdrawn.signal.aborted) this.#parts.office.desk.answer(ask, picks)
  }

  takeBack(ask: string): void {
    this.#open.get(ask)?.abort()
  }

  close(): void {
    for (const withdrawn of this.#open.values()) withdrawn.abort()
  }

  /** A question that belongs to no call is shown as one, so that there is something to say yes to. */
  readonly ask: Ask = async (question, withdrawn) => {
    const { tell, office, clock } = this.#parts
    const open = question.about === 'permission' ? this.#parts.openCall() : undefined
    const call = open ?? `ask/${newId(clock.now())}`
    if (open === undefined)
      await tell({
        sessionUpdate: 'tool_call',
        toolCallId: call,
        title: questionTitle(question),
        kind: 'think',
        status: 'pending',
        content: shownContent(question.shows ?? [], office.cwd),
      })
    const picks = await this.#picks(question, call, withdrawn)
    if (open === undefined)
      await tell({ sessionUpdate: 'tool_call_update', toolCallId: call, status: picks ? 'completed' : 'failed' })
    return picks
  }

  /** An editor that cannot ask has nobody to ask. */
  #picks(question: Question, call: string, withdrawn: AbortSignal): Promise<string[] | undefined> {
    const { sdk, client, office, capabilities } = this.#parts
    const forms = Boolean(capabilities?.elicitation?.form)
    const parts = { sdk, client, session: office.session, cwd: office.cwd, forms }
    return askEditor(parts, question, call, withdrawn).catch(() => undefined)
  }
}

export type AskingParts = {
  sdk: AcpSdk
  client: AgentContext
  session: string
  cwd: string
  /** Whether the client fills in forms. */
  forms: boolean
}

/** A question as the editor's own: a permission where something is to be done, a form where something is to be known. */
export function askEditor(
  parts: AskingParts,
  question: Question,
  call: string,
  withdrawn: AbortSignal,
): Promise<string[] | undefined> {
  // A form is kept by whoever shows it: no place for a secret.
  if (question.secret) return Promise.resolve(undefined)
  const wantsWords = question.multiple === true || question.free === true || question.options.length === 0
  if (parts.forms && (wantsWords || question.about === 'choice')) return fillIn(parts, question, withdrawn)
  return question.options.length === 0 ? Promise.resolve(undefined) : permit(parts, question, call, withdrawn)
}

async function permit(
  { sdk, client, session, cwd }: AskingParts,
  question: Question,
  call: string,
  withdrawn: AbortSignal,
): Promise<string[] | undefined> {
  const { outcome } = await client.request(
    sdk.methods.client.session.requestPermission,
    {
      sessionId: session,
      toolCall: {
        toolCallId: call,
        title: questionTitle(question),
        content: shownContent(question.shows ?? [], cwd),
      },
      options: question.options.map(optionOf),
    },
    { cancellationSignal: withdrawn, stopWaitingOnCancel: true },
  )
  return outcome.outcome === 'selected' ? [outcome.optionId] : undefined
}

export function questionTitle({ about, text, from, agent }: Question): string {
  // Other questions name the agent that they are about.
  const asks = about === 'permission' ? agent : undefined
  const who = [asks, ...from].filter((name) => name !== undefined).join(' › ')
  return exactText(who === '' ? text : `${who}: ${text}`)
}

const nos = /^(no|reject|deny|stop|cancel|skip|never)\b/i

/** A yes that covers more than this once says what it grants. */
function optionOf({ id, label, grants }: Question['options'][number]): PermissionOption {
  const no = nos.test(id) || nos.test(label)
  const kind = no ? 'reject_once' : grants ? 'allow_always' : 'allow_once'
  return { optionId: id, name: readableText(grants ? `${label} (${grants})` : label), kind }
}

async function fillIn(
  { sdk, client, session }: AskingParts,
  question: Question,
  withdrawn: AbortSignal,
): Promise<string[] | undefined> {
  const answer = await client.request(
    sdk.methods.client.elicitation.create,
    { mode: 'form', sessionId: session, message: questionTitle(question), requestedSchema: formOf(question) },
    { cancellationSignal: withdrawn, stopWaitingOnCancel: true },
  )
  if (answer.action !== 'accept') return undefined
  const { words: own, pick } = (answer.content ?? {}) as { words?: unknown; pick?: unknown }
  if (typeof own === 'string' && own.trim() !== '') return [own]
  const picks = [pick].flat().filter((one): one is string => typeof one === 'string')
  return picks.length > 0 ? picks : undefined
}

function formOf({ options, multiple, free }: Question): ElicitationSchema {
  const choices = options.map(({ id, label, grants }) => ({
    const: id,
    title: grants ? `${label} (${grants})` : label,
  }))
  const pick = multiple
    ? { type: 'array' as const, items: { anyOf: choices } }
    : { type: 'string' as const, oneOf: choices }
  return {
    type: 'object',
    properties: {
      ...(options.length > 0 ? { pick } : {}),
      ...(free || options.length === 0 ? { words: { type: 'string', title: 'In your own words' } } : {}),
    },
    ...(free || options.length === 0 ? {} : { required: ['pick'] }),
  }
}
