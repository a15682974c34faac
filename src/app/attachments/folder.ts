import type { Part } from './part.ts'
import { opendir } from 'node:fs/promises'

const mostNames = 500
/** A folder with more is not read to its end. */
const mostLooked = 10_000

/** The names in a folder, folders with a slash; a long list is cut. */
export async function readFolder(at: string): Promise<Part> {
  const names: string[] = []
  for await (const entry of await opendir(at)) {
    if (names.length === mostLooked) break
    names.push(`${entry.name.replaceAll(/\p{Cc}/gu, '?')}${entry.isDirectory() ? '/' : ''}`)
  }
  names.sort()
  if (names.length <= mostNames) return { body: names.join('\n') }
  const body = [...names.slice(0, mostNames), `… ${names.length - mostNames} more`].join('\n')
  return { body, cut: `only the first ${mostNames} of its names are attached` }
}
