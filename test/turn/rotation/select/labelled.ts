import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export type Labelled = { label: string; request: string }

/** A set of requests in test/fixtures/requests, in its order. */
export function labelled(set: string): Labelled[] {
  const text = readFileSync(join(import.meta.dirname, '../../../fixtures/requests', `${set}.txt`), 'utf8')
  let label = ''
  return text.split('\n').flatMap((line) => {
    if (line.startsWith('# ')) label = line.slice(2)
    return line === '' || line.startsWith('# ') ? [] : [{ label, request: line }]
  })
}

/** A request of the fresh set: the frameworks that are right for it, and the messages before it where there are any. */
export type FreshRequest = { language: string; request: string; context?: unknown; wants: readonly string[] }

export const fresh = (): FreshRequest[] =>
  JSON.parse(readFileSync(join(import.meta.dirname, '../../../fixtures/requests/fresh.json'), 'utf8')) as FreshRequest[]
