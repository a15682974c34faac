import type { AttachedFile, FileReference } from '../../core/talk/file-references.ts'
import type { Ref, Blobs } from '../../core/talk/store.ts'
import type { Part, Meant, Where, Picture } from './attached-file.ts'
import { projectRoot } from '../../base/git.ts'
import { messageOf } from '../../base/error-message.ts'
import { attachFiles, fileReferences } from '../../core/talk/file-references.ts'
import { readFolder, meant, readPart, pictureIn } from './attached-file.ts'

/** How much one file may bring along, and all of them together. */
export const mostBytes = { file: 256 * 1024, all: 1024 * 1024 }

/** A prompt with what it names: words stand behind it, pictures go beside it. */
export type WithAttachments = { prompt: string; pictures: Picture[]; warnings: string[] }

/** What each `@path` of a prompt names, read and put behind it; what cannot be attached stays as it is, with a line why. */
export async function withAttachments(prompt: string, cwd: string, home?: string): Promise<WithAttachments> {
  const references = fileReferences(prompt)
  if (references.length === 0) return { prompt, pictures: [], warnings: [] }
  const where: Where = { cwd, root: projectRoot(cwd), ...(home === undefined ? {} : { home }) }
  const found: AttachedFile[] = []
  const warnings: string[] = []
  let left = mostBytes.all
  const pictures: Picture[] = []
  const known = new Map<string, Part & { picture?: Picture }>()
  for (const reference of references) {
    try {
      const named = await meant(reference, where)
      if (!named) {
        if (reference.plain) warnings.push(`${written(prompt, reference)}: there is no such file`)
        continue
      }
      const key = JSON.stringify([named.at, named.lines])
      const before = known.get(key)
      const part = before ?? (await read(named, left))
      if (!before) {
        known.set(key, part)
        left -= Buffer.byteLength(part.body)
        if (part.picture) pictures.push(part.picture)
        if (part.cut !== undefined) warnings.push(`${written(prompt, reference)}: ${part.cut}`)
      }
      const { path, end } = named
      const body = part.picture ? {} : { body: part.body }
      found.push({ start: reference.start, end, path, ...body, ...(part.lines ? { lines: part.lines } : {}) })
    } catch (error) {
      warnings.push(`${written(prompt, reference)}: ${messageOf(error)}`)
    }
  }
  return { prompt: attachFiles(prompt, found), pictures, warnings }
}

async function read(named: Meant, left: number): Promise<Part & { picture?: Picture }> {
  const picture = named.folder || named.lines ? undefined : await pictureIn(named.at)
  if (picture) return { body: '', picture }
  if (left <= 0) throw new Error(`${mostBytes.all / 1024 / 1024} MB are attached already, so it was left out`)
  return named.folder ? readFolder(named.at) : readPart(named, Math.min(mostBytes.file, left))
}

/** Pictures as a turn is given them. */
export function keptPictures(pictures: readonly Picture[], blobs: Blobs): Promise<Ref[]> {
  return Promise.all(pictures.map(({ media, bytes }) => blobs.put(bytes, media)))
}

/** The reference as the person wrote it, without what the sentence goes on with. */
function written(prompt: string, { start, readings }: FileReference): string {
  return prompt.slice(start, readings.at(-1)!.end)
}
