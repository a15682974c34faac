import type { Hands } from '../minds.ts'

/** One kind of project: the commands by which its users build and test it, the build first; none where it is not one. */
export type Kind = (read: Hands['read']) => Promise<string[]>

/** The first of these files that is there. */
export async function firstOf(read: Hands['read'], ...paths: string[]): Promise<string | undefined> {
  for (const path of paths) {
    const text = await read(path)
    if (text !== undefined) return text
  }
  return undefined
}

/** An object in JSON; what is broken says nothing. */
export function objectIn(text: string | undefined): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text ?? '')
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}

/** The entries of an object in an object that are words. */
export function wordsIn(object: Record<string, unknown>, field: string): Record<string, string> {
  const inner = object[field]
  if (typeof inner !== 'object' || inner === null) return {}
  return Object.fromEntries(Object.entries(inner).filter(([, value]) => typeof value === 'string'))
}
