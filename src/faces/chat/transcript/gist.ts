import { oneLine } from './text.ts'

/** What tells most of an answer that is written for a program, in the words that agents are asked for. */
const telling = ['name', 'summary', 'cause', 'task', 'why']

/** What an answer comes to, in one line: what its JSON says where there is any, else how it begins. */
export function gist(text: string): string {
  const told = tellingOf(jsonIn(text), 4)
  return oneLine(told === '' ? (text.split('\n').find((line) => line.trim() !== '') ?? '') : told, 200)
}

/** The newest words of an answer that is still being written, without the signs of JSON between them. */
export function tail(text: string): string {
  const line = text.split('\n').findLast((each) => /\p{L}/u.test(each)) ?? ''
  return oneLine(line.slice(-400).replaceAll(/[{}[\]"`]+/g, ' '), 400).replaceAll(/ ([,:])/g, '$1')
}

function jsonIn(text: string): unknown {
  const fenced = [...text.matchAll(/^ *```(?:json)?[ \t]*\n([^]*?)\n *```/gm)].at(-1)?.[1]
  try {
    return JSON.parse(fenced ?? text)
  } catch {
    return undefined
  }
}

/** Of a thing its name, of a list each of its things. */
function tellingOf(value: unknown, depth: number): string {
  if (typeof value === 'string') return value
  if (typeof value !== 'object' || value === null || depth === 0) return ''
  const within = (each: unknown) => tellingOf(each, depth - 1)
  if (Array.isArray(value)) return value.slice(0, 12).map(within).filter(Boolean).join(', ')
  const named = telling.map((key) => (value as Record<string, unknown>)[key])
  return [...named, ...Object.values(value)].map(within).find(Boolean) ?? ''
}
