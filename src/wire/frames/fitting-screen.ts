import type { Picture, Terminal } from '../../core/screen/terminal.ts'

/** Keeps the newest rows whose sizes together are at most `most`; each row also needs a comma. */
export function fittingRows(rows: readonly string[], most: number, sizeOf: (row: string) => number): string[] {
  let room = most
  const from = rows.findLastIndex((row) => (room -= sizeOf(row) + 1) < 0)
  return rows.slice(from + 1)
}

/** Draws a terminal below as many of the `above` rows before its screen as keep the text of the picture smaller than `most`. */
export async function fittingPicture(
  terminal: Terminal,
  above: number,
  most: number,
  sizeOf: (text: string) => number,
): Promise<Picture> {
  const picture = await terminal.paint(above)
  if (above === 0 || sizeOf(picture.text) < most) return picture
  return fittingPicture(terminal, above >> 2, most, sizeOf)
}
