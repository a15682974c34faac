import type { IBufferCell, Terminal } from '@xterm/headless'

/** The sixteen colours as a common dark theme has them. */
const palette = [
  ['#484f58', '#ff7b72', '#3fb950', '#d29922', '#58a6ff', '#bc8cff', '#39c5cf', '#b1bac4'],
  ['#6e7681', '#ffa198', '#56d364', '#e3b341', '#79c0ff', '#d2a8ff', '#56d4dd', '#f0f6fc'],
].flat()
const [background, foreground] = ['#0d1117', '#e6edf3']
const [cellWidth, cellHeight, margin, top] = [8.2, 17, 18, 46]

/** What is on a terminal's screen, as a picture. */
export function drawn(terminal: Terminal, title: string): string {
  const width = Math.ceil(terminal.cols * cellWidth + 2 * margin)
  const height = terminal.rows * cellHeight + top + margin
  const rows = Array.from({ length: terminal.rows }, (_, row) => drawnRow(terminal, row))
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escaped(title)}">
<rect width="${width}" height="${height}" rx="10" fill="${background}"/>
<circle cx="22" cy="20" r="6" fill="#ff5f57"/><circle cx="42" cy="20" r="6" fill="#febc2e"/><circle cx="62" cy="20" r="6" fill="#28c840"/>
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="13.6">
${rows.filter((row) => row !== '').join('\n')}
</g>
</svg>
`
}

function drawnRow(terminal: Terminal, row: number): string {
  const { active } = terminal.buffer
  const line = active.getLine(active.baseY + row)
  const runs: { text: string; style: string; from: number; cells: number }[] = []
  const cell = active.getNullCell()
  for (let col = 0; line && col < terminal.cols; col++) {
    const here = line.getCell(col, cell) ?? cell
    if (here.getWidth() === 0) continue
    const style = styleOf(here)
    const last = runs.at(-1)
    const text = here.getChars() || ' '
    if (last?.style === style) {
      last.text += text
      last.cells += here.getWidth()
    } else runs.push({ text, style, from: col, cells: here.getWidth() })
  }
  const y = top + row * cellHeight
  return runs
    .filter(({ text }) => text.trim() !== '')
    .map(({ text, style, from, cells }) => {
      const x = margin + from * cellWidth
      // Each run is as wide as its cells, whatever font the reader has.
      return `<text x="${x.toFixed(1)}" y="${y}" ${style} textLength="${(cells * cellWidth).toFixed(1)}" lengthAdjust="spacingAndGlyphs" xml:space="preserve">${escaped(text)}</text>`
    })
    .join('')
}

function styleOf(cell: IBufferCell): string {
  const colour = cell.isFgDefault() ? foreground : cell.isFgRGB() ? hex(cell.getFgColor()) : indexed(cell.getFgColor())
  return [
    `fill="${colour}"`,
    ...(cell.isBold() ? ['font-weight="bold"'] : []),
    ...(cell.isItalic() ? ['font-style="italic"'] : []),
    ...(cell.isDim() ? ['opacity="0.65"'] : []),
    ...(cell.isUnderline() ? ['text-decoration="underline"'] : []),
  ].join(' ')
}

const hex = (colour: number) => `#${colour.toString(16).padStart(6, '0')}`
const indexed = (colour: number) => palette[colour] ?? foreground
const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
