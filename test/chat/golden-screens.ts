import type { Question } from '../../src/core/talk/question.ts'
import type { Key, Screen } from '../../src/core/screen/terminal.ts'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export const folder = join(import.meta.dirname, '..', 'fixtures', 'screens')

/** A screen of a real CLI as it was recorded: `scene` says what was going on. */
export type Golden = { cli: string; scene: string; size: string; screen: Screen }

/** One file: where the cursor was and what the window was called, then the rows as they stood. */
export function printScreen({ cols, cursor, title, rows }: Screen): string {
  return [`${cols} columns, cursor ${cursor.row}:${cursor.col}, title ${title ?? ''}`, ...rows, ''].join('\n')
}

export function parseScreen(text: string): Screen {
  const [head = '', ...rows] = text.split('\n')
  const [, cols, row, col, title] = /^(\d+) columns, cursor (\d+):(\d+), title ?(.*)$/.exec(head) ?? []
  return {
    rows: rows.slice(0, -1),
    cols: Number(cols),
    cursor: { row: Number(row), col: Number(col) },
    title: title ?? '',
  }
}

/** Every golden screen of a CLI, `<scene>-<columns>x<rows>.txt`. */
export function goldensOf(cli: string): Golden[] {
  return readdirSync(join(folder, cli))
    .sort()
    .map((file) => {
      const [, scene, size] = /^(.+)-(\d+x\d+)\.txt$/.exec(file)!
      return { cli, scene: scene!, size: size!, screen: parseScreen(readFileSync(join(folder, cli, file), 'utf8')) }
    })
}

/** The question of a recorded dialog, and the keys that answered the real program: for each of its options, and for no answer. */
export type Asked = { question: Question; keys: { options: Key[][]; nothing: Key[] } }

export function askedOf({ cli, scene }: Golden): Asked | undefined {
  const all = JSON.parse(readFileSync(join(folder, '..', 'asked', `${cli}.json`), 'utf8')) as Record<string, Asked>
  return all[scene]
}
