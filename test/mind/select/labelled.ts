import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export type Labelled = { label: string; request: string }

/** A set of requests in test/fixtures/requests, in its order. */
export function labelled(set: string): Labelled[] {
  const text = readFileSync(join(import.meta.dirname, '../../fixtures/requests', `${set}.txt`), 'utf8')
  let label = ''
  return text.split('\n').flatMap((line) => {
    if (line.startsWith('# ')) label = line.slice(2)
    return line === '' || line.startsWith('# ') ? [] : [{ label, request: line }]
  })
}
