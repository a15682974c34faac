import type { IBufferCell, IBuffer } from '@xterm/headless'
import type { Emulator } from './load.ts'

/** The sequences that bring an empty screen to what an emulator shows: its modes, its rows, its cursor. */
export function painted(emulator: Emulator, modes: string): string {
  const { active } = emulator.buffer
  const rows = Array.from({ length: emulator.rows }, (_, row) => paintedRow(emulator, active, active.baseY + row))
  // Without wrapping, a row that is full to its edge does not push the next one down; wiped after it, it would lose its last letter.
  const body = `\u001b[0m\u001b[?7l\u001b[H${rows.map((row) => `\u001b[K${row}\u001b[0m`).join('\r\n')}\u001b[?7h`
  return `${body}${modes}\u001b[${active.cursorY + 1};${active.cursorX + 1}H`
}

function paintedRow(emulator: Emulator, buffer: IBuffer, index: number): string {
  const line = buffer.getLine(index)
  if (!line) return ''
  let text = ''
  let style = ''
  let blank = ''
  for (let col = 0; col < emulator.cols; col++) {
    const cell = line.getCell(col)
    // The second half of a wide character.
    if (!cell || cell.getWidth() === 0) continue
    const wanted = styleOf(cell)
    const chars = cell.getChars() || ' '
    if (chars === ' ' && wanted === '' && style === '') {
      blank += ' '
      continue
    }
    text += blank + (wanted === style ? '' : `\u001b[0${wanted}m`) + chars
    blank = ''
    style = wanted
  }
  return text
}

/** The parameters after the reset, each with its semicolon. */
function styleOf(cell: IBufferCell): string {
  if (cell.isAttributeDefault()) return ''
  return [
    cell.isBold() ? ';1' : '',
    cell.isDim() ? ';2' : '',
    cell.isItalic() ? ';3' : '',
    cell.isUnderline() ? ';4' : '',
    cell.isBlink() ? ';5' : '',
    cell.isInverse() ? ';7' : '',
    cell.isInvisible() ? ';8' : '',
    cell.isStrikethrough() ? ';9' : '',
    cell.isOverline() ? ';53' : '',
    colour(38, cell.isFgRGB(), cell.isFgPalette(), cell.getFgColor()),
    colour(48, cell.isBgRGB(), cell.isBgPalette(), cell.getBgColor()),
  ].join('')
}

function colour(code: 38 | 48, rgb: boolean, palette: boolean, value: number): string {
  if (rgb) return `;${code};2;${value >> 16};${(value >> 8) & 255};${value & 255}`
  return palette ? `;${code};5;${value}` : ''
}
