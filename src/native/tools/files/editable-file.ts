import type { BigIntStats } from 'node:fs'
import type { ToolCall } from '../../../core/work/tool.ts'
import type { ReadFiles } from './file-access.ts'
import type { Encoding } from './text-encoding.ts'
import { resolve } from 'node:path'
import { openFile } from './file-access.ts'
import { sizeText } from '../../../base/picture.ts'
import { encodingOf } from './text-encoding.ts'

/** A file up to this size is read whole; a larger one is read in parts, and edited with a shell command. */
export const wholeBytes = 8 * 1024 * 1024

/** A file with its whole content. `path` is the model's spelling, `at` is absolute, `real` has no links. */
export type WholeFile = { path: string; at: string; real: string; stats: BigIntStats; bytes: Buffer }

/** Reads a file that is about to be changed. Throws unless the agent has read it and it has not changed since. */
export async function readForEdit(path: string, call: ToolCall, seen: ReadFiles): Promise<WholeFile> {
  const { file, real, stats } = await openFile(path, call)
  try {
    const known = seen.compare(real, stats)
    if (known === 'unseen') throw new Error(`${path} was not read yet. Read it with file_reader first.`)
    if (known === 'changed') throw new Error(`${path} changed since you read it. Read it again, then edit it.`)
    if (stats.size > wholeBytes)
      throw new Error(`${path} is too large to edit here (${sizeText(stats.size)}). Use bash, for example with sed.`)
    return { path, at: resolve(call.cwd, path), real, stats, bytes: await file.readFile() }
  } finally {
    await file.close()
  }
}

/** The text of a file as a draft in its encoding. Throws if the file is not text. */
export function draftOf({ path, bytes }: Pick<WholeFile, 'path' | 'bytes'>): { encoding: Encoding; draft: string } {
  const encoding = encodingOf(bytes)
  if (!encoding) throw new Error(`${path} is not text. Change it with bash and a program for its format.`)
  return { encoding, draft: encoding.draft(bytes.subarray(encoding.mark.length)) }
}

/** The bytes of a draft, with the byte order mark of the file. */
export const draftBytes = (draft: string, { mark, bytes }: Encoding) => Buffer.concat([mark, bytes(draft)])
