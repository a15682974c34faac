import type { CreateElicitationRequest, CreateElicitationResponse } from '@agentclientprotocol/sdk'
import type { Question } from '../../core/talk/question.ts'
import type { Rules } from './rules.ts'

type Field = {
  type?: string
  title?: string | null
  description?: string | null
  enum?: string[]
  oneOf?: { const: string; title: string }[]
  items?: { enum?: string[]; anyOf?: { const: string; title: string }[] }
}

/** A form that an agent wants filled in: one card for each of its fields. What we cannot show is declined. */
export async function elicit(
  request: CreateElicitationRequest,
  rules: Rules,
  signal: AbortSignal,
): Promise<CreateElicitationResponse> {
  if (request.mode !== 'form') return { action: 'decline' }
  const { properties = {} } = (request as { requestedSchema: { properties?: Record<string, Field> } }).requestedSchema
  const withdrawn = AbortSignal.any([rules.over, signal])
  const content: Record<string, string | number | boolean | string[]> = {}
  for (const [key, field] of Object.entries(properties)) {
    const picks = await rules.ask(questionOf(request.message, field), withdrawn)
    const value = picks && valueOf(field, picks)
    if (value === undefined) return { action: 'cancel' }
    content[key] = value
  }
  return { action: 'accept', content }
}

function questionOf(message: string, field: Field): Question {
  const options = choicesOf(field)
  const label = field.description ?? field.title
  return {
    about: 'choice',
    text: label ? `${message}\n${label}` : message,
    from: [],
    ...(field.type === 'array' ? { multiple: true } : {}),
    ...(options.length === 0 ? { free: true } : {}),
    options,
  }
}

function choicesOf({ type, enum: words, oneOf, items }: Field): Question['options'] {
  if (type === 'boolean')
    return [
      { id: 'true', label: 'Yes' },
      { id: 'false', label: 'No' },
    ]
  const titled = oneOf ?? items?.anyOf
  if (titled) return titled.map(({ const: id, title: label }) => ({ id, label }))
  return (words ?? items?.enum ?? []).map((id) => ({ id, label: id }))
}

function valueOf({ type }: Field, picks: string[]): string | number | boolean | string[] | undefined {
  const [first] = picks
  if (type === 'array') return picks
  if (first === undefined) return undefined
  if (type === 'boolean') return first === 'true'
  if (type !== 'number' && type !== 'integer') return first
  const number = Number(first)
  return Number.isFinite(number) && (type === 'number' || Number.isInteger(number)) ? number : undefined
}
