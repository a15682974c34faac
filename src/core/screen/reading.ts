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
  if (idleRow(lastRows(look.screen.rows, idleLines), reader) >= 0) return { state: 'idle', by: 'pattern' }
  if (look.children > 0) return { state: 'busy', by: 'children' }
  if (look.quietMs < quietAfterMs) return { state: 'busy', by: 'quiet' }
  // A program whose marks we know and do not see is in a state we do not know: nothing is typed into it.
  return { state: reader.busy || reader.idle ? 'unknown' : 'idle', by: 'quiet' }
}

function fenced({ nonce, since }: Look, text: string): boolean {
  if (nonce !== undefined && fenceCloses(since ?? text, fenceMarks(nonce))) return true
  return since !== undefined && fenceCloses(since, plainMarks)
}

/** The row on which the last idle mark begins; -1 where there is none. */
export function idleRow(rows: readonly string[], { idle }: Reader): number {
  if (!idle) return -1
  const every = new RegExp(idle, `${idle.flags.replace('g', '')}g`)
  // Whether a row is told with the blanks at its end differs from terminal to terminal.
  const texts = ['', ' '].map((blank) => rows.map((row) => row.trimEnd() + blank).join('\n'))
  return Math.max(...texts.map((text) => rowAt(text, [...text.matchAll(every)].at(-1)?.index)))
}

function rowAt(text: string, index: number | undefined): number {
  return index === undefined ? -1 : text.slice(0, index).split('\n').length - 1
}

function lastRows(rows: readonly string[], count: number): string[] {
  return rows.filter((row) => row.trim() !== '').slice(-count)
}
