import type { BigIntStats } from 'node:fs'
import type { FileChange } from '../../../core/talk/entry.ts'
import type { DiffStarts } from '../../../core/talk/question.ts'
import type { ToolCall } from '../../../core/work/tool.ts'
import { constants, lstatSync } from 'node:fs'
import { rename, rm, unlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { messageOf } from '../../../base/error-message.ts'
import { partMark, wholeFile } from '../../../core/talk/question.ts'
import { errorCode } from '../../../base/files/files.ts'
import { HeldFolder, MovedPath } from '../../../base/files/held-folder.ts'
import { randomName } from '../../../base/id.ts'
import { realOf } from '../../../base/files/real-path.ts'
import { mustBeJudged } from './file-access.ts'

/** The longest text that a change stores whole; of a longer one it stores only the lines around the change. */
const longestSide = 24 * 1024

const context = 3

/** A change in the form that is stored with the tool's result: both whole texts, or the lines around the change if the texts are long. */
export function fileChange(path: string, before: string | undefined, after: string): FileChange {
  if (before === undefined) return { path, after: cutAfter(after), starts: wholeFile }
  if (before.length <= longestSide && after.length <= longestSide) return { path, before, after, starts: wholeFile }
  const [old, fresh] = [before.split('\n'), after.split('\n')]
  let head = 0
  while (head < old.length && head < fresh.length && old[head] === fresh[head]) head++
  let tail = 0
  const most = Math.min(old.length, fresh.length) - head
  while (tail < most && old[old.length - 1 - tail] === fresh[fresh.length - 1 - tail]) tail++
  const from = Math.max(0, head - context)
  const around = (lines: readonly string[]) => {
    const to = Math.min(lines.length, lines.length - tail + context)
    const above = from > 0 ? [partMark] : []
    const below = to < lines.length ? [partMark] : []
    return cutAfter([...above, ...lines.slice(from, to), ...below].join('\n'))
  }
  // The mark above is a part of its own, without lines.
  const starts: DiffStarts =
    from > 0
      ? [
          [1, 1],
          [from + 1, from + 1],
        ]
      : [[1, 1]]
  return { path, before: around(old), after: around(fresh), starts }
}

function cutAfter(text: string): string {
  return text.length <= longestSide ? text : `${text.slice(0, longestSide)}\n${partMark}`
}

/** A newly created file, with its path without links. */
type MadeFile = { real: string; stats: BigIntStats }

/**
 * Writes a new file at an absolute path, and the folders above it; `path` is the model's spelling. With `mode`, the file gets that mode.
 * If something of that name exists, throws an error that says what to do.
 */
export async function createFile(
  { at, path, body, mode }: { at: string; path: string; body: string | Uint8Array; mode?: number },
  call: Pick<ToolCall, 'places'>,
): Promise<MadeFile> {
  const folder = await folderFor(at, call)
  try {
    // O_EXCL refuses any existing name, even a link that leads nowhere.
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL
    const file = await folder.openFile(basename(at), flags, 0o666).catch((error) => {
      throw new Error(refusal(error, path))
    })
    try {
      await file.writeFile(body)
      if (mode !== undefined) await file.chmod(mode)
      return { real: join(folder.real, basename(at)), stats: await file.stat({ bigint: true }) }
    } catch (error) {
      await rm(folder.at(basename(at)), { force: true })
      throw error
    } finally {
      await file.close()
    }
  } finally {
    folder.close()
  }
}

/** Opens the folder for a new file, and creates it if it is missing. */
async function folderFor(at: string, call: Pick<ToolCall, 'places'>): Promise<HeldFolder> {
  const folder = dirname(at)
  try {
    const real = await realOf(folder)
    if (real === undefined) throw new Error('a link on its way leads nowhere')
    mustBeJudged(at, join(real, basename(at)), call)
    return HeldFolder.make(real)
  } catch (error) {
    if (error instanceof MovedPath) throw error
    throw new Error(`the folder ${folder} could not be created: ${messageOf(error)}.`)
  }
}

export const existsWords = (path: string) => `${path} exists already. Read it with file_reader, then edit it.`

function refusal(error: unknown, path: string): string {
  const code = errorCode(error)
  if (code === 'EEXIST') return existsWords(path)
  if (code === 'EISDIR') return `${path} is a folder: name a file in it.`
  return `${path} could not be written: ${messageOf(error)}.`
}

/** Removes the file at a real path, if it is still the file that was read. */
export async function removeFile(real: string, was: BigIntStats): Promise<void> {
  const folder = HeldFolder.open(dirname(real))
  try {
    const now = lstatSync(folder.at(basename(real)), { bigint: true })
    if (now.dev !== was.dev || now.ino !== was.ino) throw new MovedPath(real)
    await unlink(folder.at(basename(real)))
  } finally {
    folder.close()
  }
}

/**
 * Replaces a file's content and keeps its mode; a full disk or a crash leaves the old content intact. A file with several hard links, or
 * of another owner, is overwritten in place, so that links and owner are kept.
 */
export async function replaceContent(real: string, body: Uint8Array, was: BigIntStats): Promise<BigIntStats> {
  if (was.nlink === 1n && Number(was.uid) === process.getuid?.())
    return writeAtomically(real, body, Number(was.mode) & 0o7777)
  const folder = HeldFolder.open(dirname(real))
  try {
    const file = await folder.openFile(basename(real), constants.O_WRONLY)
    try {
      const now = await file.stat({ bigint: true })
      if (now.dev !== was.dev || now.ino !== was.ino) throw new MovedPath(real)
      await file.truncate()
      await file.writeFile(body)
      await file.sync()
      return await file.stat({ bigint: true })
    } finally {
      await file.close()
    }
  } finally {
    folder.close()
  }
}

/** Writes a file next to its place and renames it in one step, replacing a file or link of that name. */
export async function writeAtomically(real: string, body: string | Uint8Array, mode?: number): Promise<BigIntStats> {
  const folder = HeldFolder.open(dirname(real))
  const temporary = `.termaite-${randomName()}.tmp`
  try {
    // O_EXCL fails instead of following a link that somebody placed there.
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL
    const file = await folder.openFile(temporary, flags, 0o666)
    try {
      await file.writeFile(body)
      // The umask limits the mode of a new file, so the wanted mode is set explicitly.
      if (mode !== undefined) await file.chmod(mode)
      await file.sync()
      await rename(folder.at(temporary), folder.at(basename(real)))
      return await file.stat({ bigint: true })
    } catch (error) {
      await rm(folder.at(temporary), { force: true })
      throw error
    } finally {
      await file.close()
    }
  } finally {
    folder.close()
  }
}
