import type { Screen } from './terminal.ts'
import { fenceCloses, fenceMarks, plainMarks } from './fence.ts'

/** The patterns for reading a program's screen. `busy` is tried first, because many programs keep their prompt while they work. */
export type Reader = { busy?: RegExp; asking?: RegExp; idle?: RegExp; ready?: RegExp }

/** All known facts about a terminal at one moment. */
export type Look = {
  screen: Screen
  children: number
  /** How long nothing has been drawn, in ms. Set if all children belong to the current turn: they outweigh the idle pattern. */
  stillMs?: number
  /** How long nothing has been drawn and no child process has exited, in ms. */
  quietMs: number
  /** The factor by which waits on a busy machine are longer. */
  stretch?: number
  /** The nonce in the fence of the current turn. */
  nonce?: string
  /** Whether the program was asked for the fence: then a running child process outweighs the idle pattern. */
  fence?: boolean
  /** The text after the prompt of the current turn, if it is known, so that no older text is taken for its answer. */
  since?: string
}

/** The state of a program, and the sign that decided it. */
export type Reading = {
  state: 'busy' | 'idle' | 'asking' | 'unknown'
  by: 'fence' | 'pattern' | 'children' | 'quiet'
}

/** How long a program without patterns must draw nothing before it counts as idle. */
export const quietAfterMs = 2_000

/** An idle pattern that has been visible for this long counts even if a child process runs, because a started server may run forever. */
const longestChildMs = 120_000

/** How many of the last non-empty lines are searched for the idle pattern. */
const idleLines = 5

/** Determines the state of a program from its screen and its processes. */
export function read(look: Look, reader: Reader): Reading {
  const text = look.screen.rows.join('\n')
  if (fenced(look, text)) return { state: 'idle', by: 'fence' }
  if (reader.busy?.test(text)) return { state: 'busy', by: 'pattern' }
  if (reader.asking?.test(text)) return { state: 'asking', by: 'pattern' }
  if (idleRow(lastRows(look.screen.rows, idleLines), reader) >= 0) {
    // A program without a busy pattern may keep its prompt while a tool works silently.
    const isWaited = look.fence || (look.stillMs ?? Infinity) < longestChildMs
    const works = !reader.busy && look.children > 0 && isWaited
    return works ? { state: 'busy', by: 'children' } : { state: 'idle', by: 'pattern' }
  }
  if (look.children > 0) return { state: 'busy', by: 'children' }
  if (look.quietMs < quietAfterMs * (look.stretch ?? 1)) return { state: 'busy', by: 'quiet' }
  // If a program's patterns are known but not visible, its state is unknown, and no text is typed into it.
  return { state: reader.busy || reader.idle ? 'unknown' : 'idle', by: 'quiet' }
}

function fenced({ nonce, since }: Look, text: string): boolean {
  if (nonce !== undefined && fenceCloses(since ?? text, fenceMarks(nonce))) return true
  return since !== undefined && fenceCloses(since, plainMarks)
}

/** Returns the row at which the last idle pattern begins; -1 if there is no match. */
export function idleRow(rows: readonly string[], { idle }: Reader): number {
  if (!idle) return -1
  const every = new RegExp(idle, `${idle.flags.replace('g', '')}g`)
  // Some terminals keep the blanks at the end of a row and others do not: both forms are tried.
  const texts = ['', ' '].map((blank) => rows.map((row) => row.trimEnd() + blank).join('\n'))
  return Math.max(...texts.map((text) => rowAt(text, [...text.matchAll(every)].at(-1)?.index)))
}

function rowAt(text: string, index: number | undefined): number {
  return index === undefined ? -1 : text.slice(0, index).split('\n').length - 1
}

function lastRows(rows: readonly string[], count: number): string[] {
  return rows.filter((row) => row.trim() !== '').slice(-count)
}
