import type { IBufferCell, Terminal as Emulator } from '@xterm/headless'

/** The rows of a screen as text, without what is empty at their ends. */
export function rowsOf({ buffer, rows }: Emulator): string[] {
  const { active } = buffer
  return Array.from({ length: rows }, (_, row) =>
    (active.getLine(active.baseY + row)?.translateToString(true) ?? '').trimEnd(),
  )
}

/** A screen: its rows, and where in a row each style begins; rows in one style are said once. */
export type Frame = { rows: string[]; styles: string[] }

export function frameOf(emulator: Emulator): Frame {
  const rows = rowsOf(emulator)
  const all = rows.map((_, row) => stylesOf(emulator, row))
  const styles = all.flatMap((style, row) => {
    if (style === '' || style === all[row - 1]) return []
    const others = all.slice(row).findIndex((other) => other !== style)
    const last = others < 0 ? rows.length - 1 : row + others - 1
    return [`${row === last ? row : `${row}-${last}`} ${style}`]
  })
  return { rows: rows.map((row) => (hasScrollbar(row, emulator.cols) ? row.slice(0, -1).trimEnd() : row)), styles }
}

/** The scroll bar comes and goes by itself, in the last column, which only the frames of a crew on one screen use too. */
const hasScrollbar = (row: string, cols: number) => row.length === cols && /^[^│╭╰].*[│┃]$/.test(row)

function stylesOf({ buffer, cols }: Emulator, row: number): string {
  const { active } = buffer
  const line = active.getLine(active.baseY + row)
  const cell = active.getNullCell()
  const style = (col: number) => styleOf(line?.getCell(col, cell) ?? cell)
  const barred = hasScrollbar(line?.translateToString(true) ?? '', cols)
  const runs: string[] = []
  let last = ''
  for (let col = 0; col < cols; col++) {
    const now = col === cols - 1 && barred ? '' : style(col)
    if (now !== last) runs.push(`${col}:${now || '-'}`)
    last = now
  }
  return runs.join(' ')
}

function styleOf(cell: IBufferCell): string {
  const colour = (mode: 'fg' | 'bg') => {
    const [isDefault, isRGB, value] =
      mode === 'fg'
        ? [cell.isFgDefault(), cell.isFgRGB(), cell.getFgColor()]
        : [cell.isBgDefault(), cell.isBgRGB(), cell.getBgColor()]
    if (isDefault) return ''
    return `${mode}${isRGB ? `#${value.toString(16)}` : value}`
  }
  const flags = [
    cell.isBold() ? 'b' : '',
    cell.isDim() ? 'd' : '',
    cell.isItalic() ? 'i' : '',
    cell.isUnderline() ? 'u' : '',
    cell.isInverse() ? 'r' : '',
    cell.isStrikethrough() ? 's' : '',
  ].join('')
  return [colour('fg'), colour('bg'), flags].filter((part) => part !== '').join(',')
}
