import type { Ended } from '../../core/profile/profile.ts'
import type { Outcome } from '../../core/talk/outcome.ts'
import { defined } from '../../base/defined.ts'
import { failed } from '../../core/talk/outcome.ts'

/** An object that another program printed: every field may have any value. */
export type Loose = Readonly<Record<string, unknown>>

/** Parses one line of a CLI's output; throws if the line is not a JSON object, so that the error is reported. */
export function parseLine(line: string): Loose {
  const value: unknown = JSON.parse(line)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('not a JSON object')
  return value as Loose
}

export function loose(value: unknown): Loose {
  return typeof value === 'object' && value !== null ? (value as Loose) : {}
}

export function listOf(value: unknown): Loose[] {
  return Array.isArray(value) ? value.map(loose) : []
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** An id or another value from a program, as text. `String` would throw for an object with its own `toString`. */
export function idOf(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** The row of a table that a program names. A name such as `constructor`, a property of every object, matches no row. */
export function rowOf<Row>(table: Readonly<Record<string, Row>>, word: unknown): Row | undefined {
  return typeof word === 'string' && Object.hasOwn(table, word) ? table[word] : undefined
}

export function numberOf(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0
}

/** The text of content that is a string or a list of parts, as most CLIs print it. */
export function contentText(content: unknown): string {
  if (typeof content === 'string') return content
  return listOf(content)
    .map(({ text, type }) => textOf(text) ?? `[${textOf(type) ?? 'part'}]`)
    .join('\n')
}

/** The provider's own message inside an error that a CLI passes on as JSON. */
export function innerMessage(message: string): string {
  const json = /\{.*\}/s.exec(message)?.[0]
  if (json === undefined) return message
  try {
    const body = loose(JSON.parse(json))
    return textOf(loose(body.error).message) ?? textOf(body.message) ?? message
  } catch {
    return message
  }
}

/** A tool call as text, short enough for a list of denials. */
export function denial(tool: string, input: unknown): string {
  const { command, cmd, file_path, filePath, path, url } = loose(input)
  const known = [command, cmd, file_path, filePath, path, url].find((value) => typeof value === 'string')
  const text = textOf(known) ?? JSON.stringify(input) ?? ''
  return `${tool}: ${text.length > 200 ? `${text.slice(0, 200)}…` : text}`
}

/** The outcome of a run that exited before it reported a result. */
export function brokenOff(title: string, { err, code, signal }: Ended): Outcome {
  const words = err.trimEnd().split('\n').at(-1)!.trim().slice(0, 300)
  const how = code === undefined ? `ended by ${signal ?? 'a signal'}` : `exit code ${code}`
  return failed('crash', `${title} ended before it gave a result (${how})${words ? `: ${words}` : ''}`)
}

type Used = { input: number; output: number; cached: number; cost?: number }

/** The usage of several parts together; undefined if none is known. */
export function sumOf(all: readonly Used[]): Used | undefined {
  if (all.length === 0) return undefined
  return all.reduce((sum, one) =>
    defined({
      input: sum.input + one.input,
      output: sum.output + one.output,
      cached: sum.cached + one.cached,
      cost: sum.cost === undefined && one.cost === undefined ? undefined : (sum.cost ?? 0) + (one.cost ?? 0),
    }),
  )
}

/** The usage of all requests of a turn, the newest last, and the number of tokens in the context after the newest. */
export function usageOfRequests(all: readonly Used[]): (Used & { held?: number }) | undefined {
  const sum = sumOf(all)
  const last = all.findLast(({ input }) => input > 0)
  return sum && defined({ ...sum, held: last && last.input + last.output })
}
