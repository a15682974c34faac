import { defined } from '../../base/defined.ts'
import type { Ask, Question } from '../../core/talk/question.ts'
import type { AttachedFile, FileReference } from '../../core/talk/file-references.ts'
import type { Ref, Blobs } from '../../core/talk/store.ts'
import type { FilePart, NamedFile, Where, Picture } from './attached-file.ts'
import { realpath } from 'node:fs/promises'
import { nobody } from '../../core/talk/question.ts'
import { isSecretName, isSecretPlace } from '../../safety/secret-files.ts'
import { projectRoot } from '../../base/git.ts'
import { messageOf } from '../../base/error-message.ts'
import { attachFiles, fileReferences } from '../../core/talk/file-references.ts'
import { readFolder, findNamedFile, readPart, pictureIn } from './attached-file.ts'
import { consentOptions } from '../../core/talk/consent.ts'

/** How much of one file is attached, and of all files together. */
export const mostBytes = { file: 256 * 1024, all: 1024 * 1024 }

/** A prompt with the contents of the files that it names behind it, and the pictures beside it. */
export type WithAttachments = { prompt: string; pictures: Picture[]; warnings: string[] }

/**
 * Reads each `@path` of a prompt and puts the contents behind it. A path that cannot be attached stays as it is, with a
 * warning. A file that may hold keys is attached only after a yes, because a prompt is often pasted.
 */
export async function withAttachments(
  prompt: string,
  cwd: string,
  home?: string,
  { ask, signal }: { ask: Ask; signal: AbortSignal } = { ask: nobody, signal: new AbortController().signal },
): Promise<WithAttachments> {
  const references = fileReferences(prompt)
  if (references.length === 0) return { prompt, pictures: [], warnings: [] }
  const where: Where = { cwd, root: projectRoot(cwd), home }
  const found: AttachedFile[] = []
  const warnings: string[] = []
  let left = mostBytes.all
  const pictures: Picture[] = []
  const known = new Map<string, FilePart & { picture?: Picture }>()
  for (const reference of references) {
    try {
      const named = await findNamedFile(reference, where)
      if (!named) {
        if (reference.plain) warnings.push(`${written(prompt, reference)}: there is no such file`)
        continue
      }
      const key = JSON.stringify([named.at, named.lines])
      const before = known.get(key)
      if (!before && (await holdsKeys(named.at, home)) && !(await isAllowed(named.path, ask, signal)))
        throw new Error(
          'it may hold keys, and was not attached without your yes. Paste the parts that the agent needs instead',
        )
      const part = before ?? (await read(named, left))
      if (!before) {
        known.set(key, part)
        left -= Buffer.byteLength(part.body)
        if (part.picture) pictures.push(part.picture)
        if (part.cut !== undefined) warnings.push(`${written(prompt, reference)}: ${part.cut}`)
      }
      const { path, end } = named
      const body = part.picture ? undefined : part.body
      found.push(defined({ start: reference.start, end, path, body, lines: part.lines }))
    } catch (error) {
      warnings.push(`${written(prompt, reference)}: ${messageOf(error)}`)
    }
  }
  return { prompt: attachFiles(prompt, found), pictures, warnings }
}

async function read(named: NamedFile, left: number): Promise<FilePart & { picture?: Picture }> {
  const picture = named.folder || named.lines ? undefined : await pictureIn(named.at)
  if (picture) return { body: '', picture }
  if (left <= 0) throw new Error(`${mostBytes.all / 1024 / 1024} MB are attached already, so this file was left out`)
  return named.folder ? readFolder(named.at) : readPart(named, Math.min(mostBytes.file, left))
}

async function holdsKeys(at: string, home: string | undefined): Promise<boolean> {
  const real = await realpath(at).catch(() => at)
  return isSecretName(at) || isSecretName(real) || (home !== undefined && isSecretPlace(real, home))
}

async function isAllowed(path: string, ask: Ask, signal: AbortSignal): Promise<boolean> {
  const question: Question = {
    about: 'permission',
    text: `${path} may hold keys. Attach it, so that the agent and its vendor see it?`,
    from: [],
    options: consentOptions({
      once: { id: 'once', label: 'Yes, attach it to this prompt' },
      no: { id: 'no', label: 'No, leave it out' },
    }),
    enter: 'no',
  }
  return (await ask(question, signal))?.includes('once') ?? false
}

/** Stores pictures as blobs, for the turn. */
export function keptPictures(pictures: readonly Picture[], blobs: Blobs): Promise<Ref[]> {
  return Promise.all(pictures.map(({ media, bytes }) => blobs.put(bytes, media)))
}

/** The reference as the person wrote it, without the punctuation of the sentence. */
function written(prompt: string, { start, readings }: FileReference): string {
  return prompt.slice(start, readings.at(-1)!.end)
}
