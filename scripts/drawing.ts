import type { IBufferCell, Terminal } from '@xterm/headless'

/** The sixteen colours, the background, the text and the frame as common themes have them. */
const dark = {
  palette: [
    ['#484f58', '#ff7b72', '#3fb950', '#d29922', '#58a6ff', '#bc8cff', '#39c5cf', '#b1bac4'],
    ['#6e7681', '#ffa198', '#56d364', '#e3b341', '#79c0ff', '#d2a8ff', '#56d4dd', '#f0f6fc'],
  ].flat(),
  background: '#0d1117',
  text: '#e6edf3',
  frame: '#30363d',
}
const light = {
  palette: [
    ['#24292f', '#cf222e', '#116329', '#9a6700', '#0969da', '#8250df', '#1b7c83', '#6e7781'],
    ['#57606a', '#a40e26', '#1a7f37', '#7d4e00', '#0550ae', '#6639ba', '#136061', '#32383f'],
  ].flat(),
  background: '#ffffff',
  text: '#1f2328',
  frame: '#d0d7de',
}

const [cellWidth, cellHeight, margin, top] = [8.2, 17, 18, 46]

const colours = (theme: typeof dark) =>
  [
    `.b{fill:${theme.background};stroke:${theme.frame}}.t{fill:${theme.text}}`,
    ...theme.palette.map((colour, index) => `.c${index}{fill:${colour}}`),
  ].join('')

/** A window with a terminal in it, which follows the theme of the reader. `style` and `body` say what moves and what is drawn. */
export function terminalWindow({ cols, rows }: Terminal, title: string, body: string, style = ''): string {
  const width = Math.ceil(cols * cellWidth + 2 * margin)
  const height = rows * cellHeight + top + margin
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escaped(title)}">
<style>${colours(light)}@media(prefers-color-scheme:dark){${colours(dark)}}text{white-space:pre}${style}</style>
<rect x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="10" class="b"/>
<circle cx="22" cy="20" r="6" fill="#ff5f57"/><circle cx="42" cy="20" r="6" fill="#febc2e"/><circle cx="62" cy="20" r="6" fill="#28c840"/>
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="13.6">
${body}
</g>
</svg>
`
}

/** The screen of a terminal as it is now, as a picture. */
export function drawn(terminal: Terminal, title: string): string {
  const rows = Array.from({ length: terminal.rows }, (_, row) => placed(drawnRow(terminal, row), row))
  return terminalWindow(terminal, title, rows.filter((row) => row !== '').join('\n'))
}

/** A drawn row at its place. */
export function placed(row: string, at: number, more = ''): string {
  return row === '' ? '' : `<g transform="translate(${margin} ${top + at * cellHeight})"${more}>${row}</g>`
}

/** One row of a terminal: a text for each run of cells in one style. An empty row is an empty string. */
export function drawnRow(terminal: Terminal, row: number): string {
  const { active } = terminal.buffer
  const line = active.getLine(active.baseY + row)
  const runs: { text: string; style: string; inverse: boolean; from: number; cells: number }[] = []
  const cell = active.getNullCell()
  for (let col = 0; line && col < terminal.cols; col++) {
    const here = line.getCell(col, cell) ?? cell
    if (here.getWidth() === 0) continue
    const style = styleOf(here)
    const inverse = here.isInverse() !== 0
    const last = runs.at(-1)
    const text = here.getChars() || ' '
    if (last?.style === style && last.inverse === inverse) {
      last.text += text
      last.cells += here.getWidth()
    } else runs.push({ text, style, inverse, from: col, cells: here.getWidth() })
  }
  return runs.map(drawnRun).join('')
}

type Run = { text: string; style: string; inverse: boolean; from: number; cells: number }

function drawnRun({ text, style, inverse, from, cells }: Run): string {
  const x = short(from * cellWidth)
  const width = short(cells * cellWidth)
  const back = inverse ? `<rect x="${x}" y="-13" width="${width}" height="${cellHeight}" ${style}/>` : ''
  if (text.trim() === '') return back
  // Each run is as wide as its cells, whatever font the reader has.
  const shown = inverse ? 'class="b" stroke="none"' : style
  return `${back}<text x="${x}" ${shown} textLength="${width}" lengthAdjust="spacingAndGlyphs">${escaped(text)}</text>`
}

function styleOf(cell: IBufferCell): string {
  const colour = cell.isFgDefault() || cell.getFgColor() > 15 ? 't' : `c${cell.getFgColor()}`
  return [
    `class="${colour}"`,
    ...(cell.isBold() ? ['font-weight="bold"'] : []),
    ...(cell.isItalic() ? ['font-style="italic"'] : []),
    ...(cell.isDim() ? ['opacity="0.65"'] : []),
    ...(cell.isUnderline() ? ['text-decoration="underline"'] : []),
  ].join(' ')
}

const short = (pixels: number) => String(Number(pixels.toFixed(1)))
const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
