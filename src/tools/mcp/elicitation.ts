import type { ElicitRequestFormParams, ElicitRequestURLParams, ElicitResult } from '@modelcontextprotocol/client'
import type { Ask, Question } from '../../core/talk/question.ts'
import { defined } from '../../base/defined.ts'
import { consentOptions } from '../../core/talk/consent.ts'

/** The call whose caller answers a server's questions; its time limit is paused meanwhile. */
export type ActiveCall = { ask: Ask; signal: AbortSignal; whilePaused<T>(work: () => Promise<T>): Promise<T> }

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

/** Asks the person what a server wants to know, one question per field. Without an answer the request is cancelled. */
export async function elicit(
  server: string,
  params: ElicitRequestFormParams | ElicitRequestURLParams,
  asked: ActiveCall | undefined,
): Promise<ElicitResult> {
  if (!asked) return { action: 'cancel' }
  return asked.whilePaused(() =>
    params.mode === 'url' ? openPage(server, params, asked) : fillForm(server, params, asked),
  )
}

async function openPage(server: string, params: ElicitRequestURLParams, asked: ActiveCall): Promise<ElicitResult> {
  const text = `The MCP server ${server} asks you to open a page: ${params.message}`
  const options = consentOptions({
    once: { id: 'done', label: 'Yes, I opened it' },
    no: { id: 'no', label: 'No, I do not open it' },
  })
  const shows = [{ type: 'text' as const, text: params.url }]
  const picks = await asked.ask({ about: 'choice', text, from: [], shows, options }, asked.signal)
  if (!picks) return { action: 'cancel' }
  return { action: picks.includes('done') ? 'accept' : 'decline' }
}

async function fillForm(server: string, params: ElicitRequestFormParams, asked: ActiveCall): Promise<ElicitResult> {
  const { properties, required = [] } = params.requestedSchema as {
    properties: Record<string, Field>
    required?: string[]
  }
  const content: Record<string, Value> = {}
  const said = `The MCP server ${server} asks: ${params.message}`
  if (Object.keys(properties).length === 0) {
    const picks = await asked.ask(
      { about: 'choice', text: said, from: [], options: consentOptions({ once: yes, no: decline }) },
      asked.signal,
    )
    if (!picks) return { action: 'cancel' }
    return picks.includes(yes.id) ? { action: 'accept', content } : { action: 'decline' }
  }
  for (const [name, field] of Object.entries(properties)) {
    const question = questionOf(said, name, field, required.includes(name))
    for (let again = ''; ; again = `\nThat is not a valid ${field.type}.`) {
      const picks = await asked.ask({ ...question, text: question.text + again }, asked.signal)
      if (!picks) return { action: 'cancel' }
      if (picks.includes(decline.id)) return { action: 'decline' }
      if (picks.includes(skip.id)) break
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
  const what = [field.title ?? name, field.description].filter(Boolean).join(': ')
  const usual = field.default
  const leave = usual === undefined ? skip : { ...skip, label: `Keep ${String(usual)}` }
  const choices = choicesOf(field)
  return defined({
    about: 'choice',
    text: `${said}\n${what}`,
    from: [],
    multiple: field.type === 'array' || undefined,
    free: choices.length === 0 || undefined,
    options: [...choices, ...(required && usual === undefined ? [] : [leave]), decline],
    escape: decline.id,
  })
}

function choicesOf(field: Field): Question['options'] {
  if (field.type === 'boolean')
    return consentOptions({ once: { id: 'true', label: 'Yes' }, no: { id: 'false', label: 'No' } })
  const titled = field.oneOf ?? field.items?.anyOf
  if (titled) return titled.map((one) => ({ id: one.const, label: one.title ?? one.const }))
  const plain = field.enum ?? field.items?.enum ?? []
  return plain.map((id, i) => ({ id, label: field.enumNames?.[i] ?? id }))
}

/** The answer as the field's type; undefined when it does not fit. */
function valueOf(field: Field, picks: string[]): Value | undefined {
  if (field.type === 'array') return picks
  const pick = picks[0] ?? ''
  if (field.type === 'boolean') return pick === 'true'
  if (field.type !== 'number' && field.type !== 'integer') return pick
  const number = Number(pick)
  if (pick.trim() === '' || Number.isNaN(number)) return undefined
  return field.type === 'integer' && !Number.isInteger(number) ? undefined : number
}
