import type { AgentContext, ElicitationSchema, PermissionOption } from '@agentclientprotocol/sdk'
import type { Question } from '../../core/talk/question.ts'
import type { Sdk } from './sdk.ts'
import { exactText, readableText } from '../chat/cards/words.ts'
import { shownContent } from './calls.ts'

export type AskingParts = {
  sdk: Sdk
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
        title: titleOf(question),
        content: shownContent(question.shows ?? [], cwd),
      },
      options: question.options.map(optionOf),
    },
    { cancellationSignal: withdrawn, stopWaitingOnCancel: true },
  )
  return outcome.outcome === 'selected' ? [outcome.optionId] : undefined
}

export function titleOf({ about, text, from, agent }: Question): string {
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
    { mode: 'form', sessionId: session, message: titleOf(question), requestedSchema: formOf(question) },
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
