import type { Screen } from './terminal.ts'
import { fenceCloses, fenceMarks, plainMarks } from './fence.ts'

/** The marks of one program's screen: busy is looked for first, because many keep their prompt while they work. */
export type Reader = { busy?: RegExp; asking?: RegExp; idle?: RegExp; ready?: RegExp }

/** All that is known of a terminal at one moment. */
export type Look = {
  screen: Screen
  children: number
  /** How long nothing was drawn, in ms. */
  quietMs: number
  /** The fence of the turn under way. */
  nonce?: string
  /** What stands behind the prompt of the turn under way, where that is known: nothing older can be taken for its answer. */
  since?: string
}

export type Reading = {
  state: 'busy' | 'idle' | 'asking' | 'unknown'
  by: 'fence' | 'pattern' | 'children' | 'quiet'
}

/** How long a program without marks must draw nothing before it counts as idle. */
export const quietAfterMs = 2_000

/** An idle mark counts in so many last lines that hold anything. */
const idleLines = 5

/** Pure: a rendered screen and the facts of its process in, the state and the tier that decided out. */
export function read(look: Look, reader: Reader): Reading {
  const text = look.screen.rows.join('\n')
  if (fenced(look, text)) return { state: 'idle', by: 'fence' }
  if (reader.busy?.test(text)) return { state: 'busy', by: 'pattern' }
  if (reader.asking?.test(text)) return { state: 'asking', by: 'pattern' }
  if (reader.idle?.test(lastLines(look.screen.rows, idleLines))) return { state: 'idle', by: 'pattern' }
  if (look.children > 0) return { state: 'busy', by: 'children' }
  if (look.quietMs < quietAfterMs) return { state: 'busy', by: 'quiet' }
  // A program whose marks we know and do not see is in a state we do not know: nothing is typed into it.
  return { state: reader.busy || reader.idle ? 'unknown' : 'idle', by: 'quiet' }
}

function fenced({ nonce, since }: Look, text: string): boolean {
  if (nonce !== undefined && fenceCloses(since ?? text, fenceMarks(nonce))) return true
  return since !== undefined && fenceCloses(since, plainMarks)
}

function lastLines(rows: readonly string[], count: number): string {
  return rows
    .filter((row) => row.trim() !== '')
    .slice(-count)
    .join('\n')
}
