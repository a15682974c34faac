import type { FileHandle } from 'node:fs/promises'
import type { LineRange, FileReference } from '../../core/talk/file-references.ts'
import type { Stats } from 'node:fs'
import { realpath, stat } from 'node:fs/promises'
import { isAbsolute, join, relative, resolve, sep } from 'node:path'
import { HeldFolder, openReal } from '../../base/files/held-folder.ts'
import { errorCode } from '../../base/files/files.ts'
import { pictureFacts, pictureMedia, sizeText } from '../../base/picture.ts'

/** The attached part of a file: `cut` says what is missing, `lines` gives the line numbers. */
export type FilePart = { body: string; cut?: string; lines?: LineRange }

/** Reads at most `most` bytes of a file. Throws when it cannot be attached. */
export async function readPart(named: NamedFile, most: number): Promise<FilePart> {
  const file = await openReal(named.at)
  try {
    const stats = await file.stat()
    if (!stats.isFile()) throw new Error('a pipe, a socket or a device cannot be attached')
    return named.lines ? await linesOf(file, named.lines, most) : await headOf(file, most)
  } finally {
    await file.close()
  }
}

async function headOf(file: FileHandle, most: number): Promise<FilePart> {
  const buffer = Buffer.alloc(most + 1)
  let bytes = 0
  for await (const chunk of chunks(file)) {
    bytes += chunk.copy(buffer, bytes)
    if (bytes > most) break
  }
  if (bytes <= most) return { body: textOf(buffer.subarray(0, bytes)) }
  const { size } = await file.stat()
  const cut = `only its first ${kilobytes(most)} of ${kilobytes(Math.max(size, bytes))} are attached`
  return { body: textOf(buffer.subarray(0, most)), cut }
}

/** Lines beyond this point of a file are not searched for. */
const furthest = 64 * 1024 * 1024

async function linesOf(file: FileHandle, { from, to }: LineRange, most: number): Promise<FilePart> {
  const kept: Buffer[] = []
  let [line, bytes, passed, last] = [1, 0, 0, 10]
  for await (const chunk of chunks(file)) {
    for (let at = 0; at < chunk.length && line <= to && bytes <= most;) {
      const newline = chunk.indexOf(10, at)
      const end = newline < 0 ? chunk.length : newline + 1
      if (line >= from) bytes += kept[kept.push(chunk.subarray(at, end)) - 1]!.length
      if (newline >= 0) line++
      at = end
    }
    last = chunk.at(-1) ?? last
    passed += chunk.length
    if (line > to || bytes > most) break
    if (passed > furthest) throw new Error(`line ${from} lies too far into the file`)
  }
  const whole = last === 10 ? line - 1 : line
  if (bytes === 0) throw new Error(`the file has only ${whole} ${whole === 1 ? 'line' : 'lines'}`)
  const lines = { from, to: Math.min(to, Math.max(from, whole)) }
  if (bytes <= most) return { body: textOf(Buffer.concat(kept)).replace(/\n$/, ''), lines }
  const cut = `only the first ${kilobytes(most)} of these lines are attached`
  return { body: textOf(Buffer.concat(kept).subarray(0, most)), lines: { from, to: line }, cut }
}

async function* chunks(file: FileHandle): AsyncGenerator<Buffer> {
  for (;;) {
    const buffer = Buffer.alloc(64 * 1024)
    const { bytesRead } = await file.read(buffer, 0, buffer.length, null)
    if (bytesRead === 0) return
    yield buffer.subarray(0, bytesRead)
  }
}

/** Decodes text, and drops a character that was cut in half at the end. */
function textOf(bytes: Buffer): string {
  if (bytes.includes(0)) throw new Error('the file is not text')
  return new TextDecoder().decode(bytes, { stream: true })
}

const kilobytes = (bytes: number) =>
  bytes < 1024 * 1024 ? `${Math.ceil(bytes / 1024)} KB` : `${(bytes / 1024 / 1024).toFixed(1)} MB`

export type Where = { cwd: string; root: string; home?: string }

/** The file or folder that a reference names: `at` is its real path; `path` is its name as seen from the working folder. */
export type NamedFile = { at: string; path: string; end: number; folder: boolean; lines?: LineRange }

/** Finds the file that a reference means: the first of its possible readings that exists. Throws if that file may not be attached. */
export async function findNamedFile(reference: FileReference, where: Where): Promise<NamedFile | undefined> {
  for (const { path, end, lines } of reference.readings) {
    const home = /^~(?:\/|$)/.test(path) ? where.home : undefined
    const at = home === undefined ? resolve(where.cwd, path) : join(home, path.slice(1))
    const stats = await stat(at).catch(notThere)
    if (!stats || (path.endsWith('/') && !stats.isDirectory())) continue
    if (!stats.isFile() && !stats.isDirectory()) throw new Error('a pipe, a socket or a device cannot be attached')
    if (lines && stats.isDirectory()) throw new Error('a folder has no lines')
    const rooted = home !== undefined || isAbsolute(path)
    const real = await realpath(at)
    if (!rooted) mustBeInside(where.root, real)
    return {
      at: real,
      end,
      path: called(at, rooted, where.cwd, stats),
      folder: stats.isDirectory(),
      lines,
    }
  }
  return undefined
}

function called(at: string, rooted: boolean, cwd: string, stats: Stats): string {
  const name = rooted ? at : relative(cwd, at) || '.'
  return stats.isDirectory() && !name.endsWith('/') ? `${name}/` : name
}

/** Refuses a link that leads out of the project, because a repository's link may lead anywhere; the person can name the real path. */
function mustBeInside(root: string, real: string): void {
  const way = relative(root, real)
  if (way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way))
    throw new Error(`it is a link that leads out of the project; write @${real} to attach it all the same`)
}

const absent = new Set(['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ELOOP', 'ERR_INVALID_ARG_VALUE'])

function notThere(error: unknown): undefined {
  if (!absent.has(errorCode(error) ?? '')) throw new Error(sayable[errorCode(error)!] ?? String(error))
}

const sayable: Record<string, string> = {
  EACCES: 'you have no permission to read it',
  EPERM: 'you have no permission to read it',
}

const mostNames = 500
/** Entries of a longer folder beyond this number are not read. */
const mostLooked = 10_000

/** Lists the names in a folder, folders with a slash; a long list is cut. */
export async function readFolder(at: string): Promise<FilePart> {
  const folder = HeldFolder.open(at)
  const entries = await folder.entries(mostLooked).finally(() => folder.close())
  const names = entries.map((one) => `${one.name.replaceAll(/\p{Cc}/gu, '?')}${one.isDirectory() ? '/' : ''}`)
  names.sort()
  if (names.length <= mostNames) return { body: names.join('\n') }
  const body = [...names.slice(0, mostNames), `… ${names.length - mostNames} more`].join('\n')
  return { body, cut: `only the first ${mostNames} of its names are attached` }
}

/** Larger pictures are refused: no provider accepts them. */
const longestPicture = 20 * 1024 * 1024

/** A picture that was read, and the properties found in its bytes. */
export type Picture = { media: string; bytes: Buffer; width: number; height: number }

/** Reads a picture that a model can see; undefined when the file is not a picture. Throws when it is too large or damaged. */
export async function pictureIn(path: string): Promise<Picture | undefined> {
  const file = await openReal(path)
  try {
    const stats = await file.stat()
    if (!stats.isFile()) return undefined
    const { buffer, bytesRead } = await file.read(Buffer.alloc(16), 0, 16, 0)
    if (pictureMedia(buffer.subarray(0, bytesRead)) === undefined) return undefined
    if (stats.size > longestPicture) throw new Error(tooLarge(stats.size))
    const bytes = Buffer.alloc(stats.size)
    const read = await file.read(bytes, 0, stats.size, 0)
    return pictureOf(bytes.subarray(0, read.bytesRead))
  } finally {
    await file.close()
  }
}

const tooLarge = (size: number) =>
  `a picture of ${sizeText(size)} is too large; scale it below ${sizeText(longestPicture)}`

/** The picture in these bytes; undefined if they are not a picture. Throws when it is too large or damaged. */
export function pictureOf(bytes: Buffer): Picture | undefined {
  const facts = pictureFacts(bytes)
  if (!facts) return undefined
  if (bytes.length > longestPicture) throw new Error(tooLarge(bytes.length))
  const { media, width, height, fault } = facts
  if (fault !== undefined) throw new Error(`the picture cannot be sent: ${fault}`)
  return { media, bytes, width, height }
}
