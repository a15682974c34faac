import type { ElicitRequestFormParams, ElicitRequestURLParams, ElicitResult } from '@modelcontextprotocol/client'
import type { Ask, Question } from '../../../core/talk/question.ts'
import { terminalText } from '../../../base/text/ansi.ts'
import { messageOf } from '../../../base/error-message.ts'
import { defined } from '../../../base/defined.ts'
import { consentOptions } from '../../../core/talk/consent.ts'

/** The call whose caller answers a server's questions; its time limit is paused meanwhile. */
export type ActiveCall = {
  ask: Ask
  signal: AbortSignal
  whilePaused<T>(work: () => Promise<T>): Promise<T>
  /** Opens a page in the person's browser. */
  browse(url: string): Promise<void>
}

type Value = string | number | boolean | string[]

/** One field of a form, as loosely as servers send it. */
type Field = {
  type?: string
  title?: string
  description?: string
  default?: Value
  enum?: string[]
  enumNames?: string[]
  oneOf?: { const: string; title?: string }[]
  items?: { enum?: string[]; anyOf?: { const: string; title?: string }[] }
}

/** A form with more fields than this is declined: nobody would answer so many questions one after another. */
const mostFields = 30
const mostOptions = 100
const longestMessage = 2_000

/**
 * Asks the person a server's questions, one per field. If nobody can be asked the request is declined; a question that is withdrawn with
 * its call counts as cancelled.
 */
export async function elicit(
  server: string,
  params: ElicitRequestFormParams | ElicitRequestURLParams,
  asked: ActiveCall | undefined,
): Promise<ElicitResult> {
  if (!asked) return { action: 'decline' }
  return asked.whilePaused(() =>
    params.mode === 'url' ? openPage(server, params, asked) : fillForm(server, params, asked),
  )
}

const noAnswer = ({ signal }: ActiveCall): ElicitResult => ({ action: signal.aborted ? 'cancel' : 'decline' })

/** A server's text for a card: without control sequences, and cut if it is long. */
const cardText = (text: string) => terminalText(text.slice(0, longestMessage))

async function openPage(server: string, params: ElicitRequestURLParams, asked: ActiveCall): Promise<ElicitResult> {
  const url = URL.parse(params.url)
  // A file, or the address of another program, is not opened.
  if (!url || !/^https?:$/.test(url.protocol)) return { action: 'decline' }
  const shows = [{ type: 'text' as const, text: url.href }]
  const no = { id: 'no', label: 'No, do not open it' }
  const myself = { id: 'done', label: 'I open the page myself' }
  const text = `The MCP server ${server} asks you to open a page of ${url.host}: ${cardText(params.message)}`
  const options = consentOptions({ once: { id: 'open', label: 'Yes, open it in the browser' }, no, others: [myself] })
  const picks = await asked.ask({ about: 'choice', text, from: [], shows, options }, asked.signal)
  if (!picks) return noAnswer(asked)
  if (picks.includes(myself.id)) return { action: 'accept' }
  if (!picks.includes('open')) return { action: 'decline' }
  try {
    await asked.browse(url.href)
    return { action: 'accept' }
  } catch (error) {
    const failed = `The page could not be opened in a browser: ${messageOf(error)}. Open it yourself, if you want to go on.`
    const again = consentOptions({ once: { ...myself, label: 'Yes, I have opened it' }, no })
    const then = await asked.ask({ about: 'choice', text: failed, from: [], shows, options: again }, asked.signal)
    if (!then) return noAnswer(asked)
    return { action: then.includes(myself.id) ? 'accept' : 'decline' }
  }
}

async function fillForm(server: string, params: ElicitRequestFormParams, asked: ActiveCall): Promise<ElicitResult> {
  const { properties, required = [] } = params.requestedSchema as {
    properties: Record<string, Field>
    required?: string[]
  }
  if (Object.keys(properties).length > mostFields) return { action: 'decline' }
  const content: Record<string, Value> = {}
  const said = `The MCP server ${server} asks: ${cardText(params.message)}`
  if (Object.keys(properties).length === 0) {
    const picks = await asked.ask(
      { about: 'choice', text: said, from: [], options: consentOptions({ once: yes, no: decline }) },
      asked.signal,
    )
    if (!picks) return noAnswer(asked)
    return picks.includes(yes.id) ? { action: 'accept', content } : { action: 'decline' }
  }
  for (const [name, field] of Object.entries(properties)) {
    const question = questionOf(said, name, field, required.includes(name))
    for (let again = ''; ; again = `\nThat is not a valid ${field.type}.`) {
      const picks = await asked.ask({ ...question, text: question.text + again }, asked.signal)
      if (!picks) return noAnswer(asked)
      if (picks.includes(decline.id)) return { action: 'decline' }
      if (picks.includes(skip.id) || (picks.length === 0 && !required.includes(name))) break
      const value = valueOf(field, picks)
      if (value === undefined) continue
      content[name] = value
      break
    }
  }
  return { action: 'accept', content }
}

const yes = { id: 'termaite:yes', label: 'Yes' }
const decline = { id: 'termaite:decline', label: 'Do not answer' }
const skip = { id: 'termaite:skip', label: 'Skip' }

function questionOf(said: string, name: string, field: Field, required: boolean): Question {
  const what = cardText([field.title ?? name, field.description].filter(Boolean).join(': '))
  const usual = field.default
  const leave = usual === undefined ? skip : { ...skip, label: `Keep ${String(usual)}` }
  const choices = choicesOf(field)
  // "Leave out" and "decline" are not offered as options, because several options may be marked: no mark leaves the field out, and Escape
  // declines.
  if (field.type === 'array')
    return defined({
      about: 'choice',
      text: `${said}\n${what}`,
      from: [],
      multiple: true,
      marked: Array.isArray(usual) ? usual : undefined,
      options: choices,
      unanswered: 'do not answer',
    })
  return defined({
    about: 'choice',
    text: `${said}\n${what}`,
    from: [],
    free: choices.length === 0 || undefined,
    options: [...choices, ...(required && usual === undefined ? [] : [leave]), decline],
    escape: decline.id,
  })
}

function choicesOf(field: Field): Question['options'] {
  if (field.type === 'boolean')
    return consentOptions({ once: { id: 'true', label: 'Yes' }, no: { id: 'false', label: 'No' } })
  const titled = field.oneOf ?? field.items?.anyOf
  if (titled) return titled.slice(0, mostOptions).map((one) => ({ id: one.const, label: one.title ?? one.const }))
  const plain = field.enum ?? field.items?.enum ?? []
  return plain.slice(0, mostOptions).map((id, i) => ({ id, label: field.enumNames?.[i] ?? id }))
}

/** The answer, converted to the field's type; undefined if it does not fit. */
function valueOf(field: Field, picks: string[]): Value | undefined {
  if (field.type === 'array') return picks
  const pick = picks[0] ?? ''
  if (field.type === 'boolean') return pick === 'true'
  if (field.type !== 'number' && field.type !== 'integer') return pick
  const number = Number(pick)
  if (pick.trim() === '' || Number.isNaN(number)) return undefined
  return field.type === 'integer' && !Number.isInteger(number) ? undefined : number
}
