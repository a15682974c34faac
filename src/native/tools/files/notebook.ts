import type { Ref, Blobs } from '../../../core/talk/store.ts'
import { stripAnsi } from '../../../base/text/ansi.ts'
import { pictureMedia } from '../../../base/picture.ts'

/** A cell of a Jupyter notebook, format 4. A text is a string or a list of lines. */
type Text = string | readonly string[]
type Output = {
  output_type?: string
  text?: Text
  data?: Record<string, Text>
  ename?: string
  evalue?: string
  traceback?: readonly string[]
}
type Cell = { cell_type?: string; source?: Text; execution_count?: number | null; outputs?: readonly Output[] }

const mostOutput = 4000
const mostPictures = 8

/** A notebook as text, cell by cell, with the pictures in its outputs; undefined if the text is not a notebook. */
export async function notebookText(json: string, blobs: Blobs): Promise<{ text: string; files: Ref[] } | undefined> {
  const cells = cellsIn(json)
  if (!cells) return undefined
  const files: Ref[] = []
  const parts: string[] = []
  for (const [i, cell] of cells.entries()) {
    const run = cell.execution_count ? `, run ${cell.execution_count}` : ''
    parts.push(
      `--- cell ${i + 1} of ${cells.length}: ${cell.cell_type ?? 'unknown'}${run} ---\n${joinText(cell.source)}`,
    )
    for (const output of cell.outputs ?? [])
      parts.push(`--- output of cell ${i + 1} ---\n${await outputText(output, files, blobs)}`)
  }
  return { text: parts.join('\n\n'), files }
}

function cellsIn(json: string): readonly Cell[] | undefined {
  try {
    const { cells } = JSON.parse(json) as { cells?: unknown }
    return Array.isArray(cells) && cells.every((cell) => typeof cell === 'object' && cell !== null) ? cells : undefined
  } catch {
    return undefined
  }
}

async function outputText(output: Output, files: Ref[], blobs: Blobs): Promise<string> {
  if (output.output_type === 'error')
    return cutOutput(plain(output.traceback?.join('\n') ?? `${output.ename}: ${output.evalue}`))
  const { data } = output
  for (const media of ['image/png', 'image/jpeg']) {
    if (!data?.[media]) continue
    const body = Buffer.from(joinText(data[media]), 'base64')
    if (pictureMedia(body) !== media) continue
    if (files.length >= mostPictures) return `[a picture (${media}); only the first ${mostPictures} are attached]`
    files.push(await blobs.put(body, media))
    return `[a picture (${media}), attached]`
  }
  return cutOutput(plain(joinText(output.text ?? data?.['text/plain']))) || '[nothing that can be shown as text]'
}

const joinText = (text: Text = ''): string => (typeof text === 'string' ? text : text.join(''))

const plain = (text: string) => stripAnsi(text).trimEnd()

const cutOutput = (text: string) =>
  text.length <= mostOutput
    ? text
    : `${text.slice(0, mostOutput)}\n[… ${text.length - mostOutput} more characters of output]`
