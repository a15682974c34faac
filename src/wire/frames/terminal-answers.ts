import type { Exit, Terminal, Picture } from '../../core/screen/terminal.ts'
import type { Answering } from './methods.ts'
import { untilAborted } from '../../base/time/clock.ts'
import { defined } from '../../base/defined.ts'
import { outputUntil } from '../../core/screen/output-until.ts'
import { longestFrame, OutputPiece, WireFailure } from './frames.ts'

export type FindTerminal = (id: string) => Promise<Terminal | undefined>

/** The terminal with an id; throws if there is no such terminal. */
export async function terminalOf(find: FindTerminal, id: string): Promise<Terminal> {
  const terminal = await find(id)
  if (!terminal) throw new WireFailure('missing', 'There is no such terminal on the machine now.')
  return terminal
}

/** Shows terminals to another program, read-only. */
export function shownTerminals(find: FindTerminal) {
  const on = (id: string) => terminalOf(find, id)
  return {
    'terminal.open': async ({ id }) => defined({ attach: (await on(id)).attach }),
    'terminal.screen': async ({ id }) => (await on(id)).screen(),
    'terminal.paint': async ({ id, above }) => fittingPicture(await on(id), above, longestFrame / 2, bytesOf),
    'terminal.history': async ({ id, rows }) =>
      fittingRows(await (await on(id)).history(rows), longestFrame / 2, mostBytesOf),
    async *'terminal.output'({ id, after }, { signal }) {
      for await (const { at, bytes } of outputUntil(signal, await on(id), after)) yield new OutputPiece(at, bytes)
    },
    async *'terminal.exited'({ id }, { signal }): AsyncGenerator<Exit> {
      const exit = await Promise.race([(await on(id)).exited, untilAborted(signal)])
      if (exit) yield exit
    },
  } satisfies Answering
}

/** How many bytes a text has in a frame. */
const bytesOf = (text: string) => Buffer.byteLength(JSON.stringify(text))

/** An upper bound for the bytes of a text in a frame, without counting them: a character is at most three. */
const mostBytesOf = (text: string) => JSON.stringify(text).length * 3

/** Keeps the newest rows whose sizes together are at most `most`; each row also needs a comma. */
function fittingRows(rows: readonly string[], most: number, sizeOf: (row: string) => number): string[] {
  let room = most
  const from = rows.findLastIndex((row) => (room -= sizeOf(row) + 1) < 0)
  return rows.slice(from + 1)
}

/**
 * Draws a terminal with as many of the `above` rows before its screen as possible, so that the text of the picture stays smaller than
 * `most`.
 */
async function fittingPicture(
  terminal: Terminal,
  above: number,
  most: number,
  sizeOf: (text: string) => number,
): Promise<Picture> {
  const picture = await terminal.paint(above)
  if (above === 0 || sizeOf(picture.text) < most) return picture
  return fittingPicture(terminal, above >> 2, most, sizeOf)
}
