import type { FileHandle } from 'node:fs/promises'
import type { Tool, ToolCall, ToolOutput } from '../../core/work/tool.ts'
import type { OpenFile, ReadFiles } from './files/file-access.ts'
import type { Range } from './files/file-lines.ts'
import type { ToolParts } from './shared/tool-parts.ts'
import { resolve } from 'node:path'
import { notebookText } from './files/notebook.ts'
import { isPdf, pagesText, pdfPages } from './files/pdf-pages.ts'
import { openFile } from './files/file-access.ts'
import { FileLines, mostLines } from './files/file-lines.ts'
import { wholeBytes } from './files/editable-file.ts'
import { encodingOf } from './files/text-encoding.ts'
import { pictureMedia, sizeText } from '../../base/picture.ts'
import { defineTool } from './shared/tool-definition.ts'
import { integer, optional, parser, string } from '../../core/data/shape.ts'

const longestPicture = 5 * 1024 * 1024
const longestPdf = 64 * 1024 * 1024
const chunkBytes = 1024 * 1024
const headBytes = 8 * 1024

const input = parser({
  file_path: string({ min: 1 }),
  offset: optional(integer(1)),
  limit: optional(integer(1)),
})

export function fileReader(parts: Pick<ToolParts, 'blobs' | 'clock'>, seen: ReadFiles): Tool {
  return defineTool({
    name: 'file_reader',
    risk: 'read',
    input,
    aliases: { rules: ['Read'], hooks: ['Read'] },
    coversShell: 'read',
    effect: ({ file_path }, cwd) => ({ does: 'access', paths: [{ access: 'read', path: resolve(cwd, file_path) }] }),
    async run({ file_path, offset, limit }, call) {
      const opened = await openFile(file_path, call)
      try {
        const output = await readRange(opened, file_path, { offset, limit }, call, parts)
        seen.remember(opened.real, opened.stats)
        return output
      } finally {
        await opened.file.close()
      }
    },
  })
}

async function readRange(
  { file, stats }: OpenFile,
  path: string,
  wanted: Partial<Range>,
  { signal }: ToolCall,
  { blobs, clock }: Pick<ToolParts, 'blobs' | 'clock'>,
): Promise<ToolOutput> {
  const head = await readAt(file, 0, Buffer.alloc(headBytes))
  const media = pictureMedia(head)
  if (media) {
    if (stats.size > longestPicture)
      throw new Error(`${path} is a picture of ${sizeText(stats.size)}: scale it below ${sizeText(longestPicture)}.`)
    const ref = await blobs.put(await file.readFile(), media)
    return { text: `${path} is a picture (${media}, ${sizeText(stats.size)}); it is attached.`, files: [ref] }
  }
  // A model that asks for certain lines sees their numbers; for a whole file the numbers are left out to save tokens.
  const numbers = wanted.offset !== undefined || wanted.limit !== undefined
  const lines = new FileLines({ offset: wanted.offset ?? 1, limit: wanted.limit ?? mostLines, numbers })
  if (isPdf(head)) {
    if (stats.size > longestPdf)
      throw new Error(`${path} is a PDF of ${sizeText(stats.size)}: read parts of it with bash and pdftotext.`)
    const read = await pdfPages(await file.readFile(), clock, signal)
    if ('problem' in read)
      throw new Error(
        `${path} is a PDF that could not be read: ${read.problem.replace(/\.$/, '')}. Try bash with pdftotext.`,
      )
    lines.push(pagesText(read.pages))
    return lines.done(true)
  }
  // Only the whole file reveals its encoding with certainty.
  if (stats.size <= wholeBytes) {
    const bytes = head.length < headBytes ? head : await file.readFile()
    const encoding = encodingOf(bytes)
    if (!encoding) return binary(path, stats.size)
    const text = encoding.shown(encoding.draft(bytes.subarray(encoding.mark.length)))
    // With a range, a notebook is read as the JSON that can be edited.
    const notebook = path.endsWith('.ipynb') && !wanted.offset && !wanted.limit && (await notebookText(text, blobs))
    if (notebook) return { text: `${notebook.text}\n\n${notebookHint}`, files: notebook.files }
    lines.push(text)
    const note = encoding.name === 'UTF-8' ? '' : `\n[the file is ${encoding.name}]`
    return lines.done(true) + note
  }
  const utf16 = ['utf-16le', 'utf-16be'].find((_label, i) => head.readUInt16LE() === [0xfeff, 0xfffe][i])
  if (!utf16 && head.includes(0)) return binary(path, stats.size)
  const decoder = new TextDecoder(utf16)
  const room = Buffer.allocUnsafe(chunkBytes)
  for (let at = 0; !lines.full;) {
    if (signal.aborted) throw new Error('cancelled.')
    const chunk = await readAt(file, at, room)
    at += chunk.length
    if (chunk.length === 0) return lines.done(true)
    lines.push(decoder.decode(utf16 ? chunk : lines.skip(chunk), { stream: true }))
  }
  return lines.done(false)
}

const notebookHint = '[the cells of a notebook; to edit it, read its JSON with offset 1 and edit that]'

const binary = (path: string, size: bigint) =>
  `${path} is not text (${sizeText(size)} of binary data). Use bash with file, xxd or strings to look into it.`

async function readAt(file: FileHandle, at: number, room: Buffer): Promise<Buffer> {
  const { bytesRead } = await file.read(room, 0, room.length, at)
  return room.subarray(0, bytesRead)
}
