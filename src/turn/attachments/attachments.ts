import { defined } from '../../base/defined.ts'
import type { Ask, Question } from '../../core/talk/question.ts'
import type { AttachedFile, FileReference } from '../../core/talk/file-references.ts'
import type { Ref, Blobs } from '../../core/talk/store.ts'
import type { PastedPictures } from '../../chat/desk/chat-desk.ts'
import type { FilePart, NamedFile, Where, Picture } from './attached-file.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { PersonServers } from '../../native/person-servers.ts'
import type { NamedResource } from './attached-resource.ts'
import { promises } from 'node:fs'
import { nobody } from '../../core/talk/question.ts'
import { isSecretName, isSecretPlace } from '../../safety/secret-files.ts'
import { projectRoot } from '../../base/files/git.ts'
import { messageOf } from '../../base/error-message.ts'
import { isPlainPrompt } from '../../core/talk/plain-prompt.ts'
import { attachFiles, fileReferences } from '../../core/talk/file-references.ts'
import { linkedPicture, pictureName, takePictures } from '../../core/talk/pictures.ts'
import { sha256 } from '../../base/hash.ts'
import { shortPath } from '../../base/files/short-path.ts'
import { consentOptions } from '../../core/talk/consent.ts'

/** The most bytes attached of one file, and of all files together. */
export const mostBytes = { file: 256 * 1024, all: 1024 * 1024 }

/**
 * A prompt, followed by the contents of the files and resources that it names. `files` are the pictures that it mentions, in order;
 * `pictures` are those of them that were read now and are not stored yet.
 */
export type WithAttachments = { prompt: string; files: Ref[]; pictures: Picture[]; warnings: string[] }

/** Loaded on demand: few prompts name a file or a resource. */
const attachedFile = () => import('./attached-file.ts')
const attachedResource = () => import('./attached-resource.ts')

const taken = (text: string) => {
  const { text: prompt, files } = takePictures(text)
  return { prompt, files }
}

/** The person who typed the prompt, and the sources beside files that they may name in it. */
type PromptPerson = {
  ask: Ask
  signal: AbortSignal
  /** The MCP servers whose resources and prompts can be named. */
  served?: { servers: PersonServers; blobs: Blobs; clock: Clock }
  /** Shows what is waited for. */
  waits?(words: string): void
}

/**
 * Reads each `@path` and `@server:uri` of a prompt and appends the contents. A prompt like `/server:prompt` is fetched from the MCP
 * server. A reference that cannot be attached stays as it is, with a warning. A file that may contain keys is attached only if the person
 * agrees, because prompts are often pasted.
 */
export async function withAttachments(
  prompt: string,
  cwd: string,
  home?: string,
  person: PromptPerson = { ask: nobody, signal: new AbortController().signal },
): Promise<WithAttachments> {
  const { served, waits, signal } = person
  if (isPlainPrompt(prompt)) return { ...taken(prompt), pictures: [], warnings: [] }
  if (served && /^\s*\/[^\s/:]+:/.test(prompt)) {
    const { findCalledPrompt, readCalledPrompt } = await import('./served-prompt.ts')
    const called = await findCalledPrompt(prompt, served.servers, signal)
    if (called) {
      waits?.(`waiting for the MCP server ${called.server}`)
      const parts = { ...served, most: mostBytes.all, person }
      const { prompt: words, pictures } = await readCalledPrompt(called, parts)
      return { prompt: words, files: pictures.map(refOf), pictures, warnings: [] }
    }
  }
  const references = fileReferences(prompt)
  if (references.length === 0) return { ...taken(prompt), pictures: [], warnings: [] }
  const [{ findNamedFile }, { fileNameOf, findNamedResource }] = await Promise.all([attachedFile(), attachedResource()])
  const where: Where = { cwd, root: projectRoot(cwd), home }
  const found: AttachedFile[] = []
  const warnings: string[] = []
  let left = mostBytes.all
  const pictures: Picture[] = []
  const known = new Map<string, ReadPart>()
  for (const reference of references) {
    try {
      const named =
        (await findNamedFile(reference, where)) ?? (served && (await findNamedResource(reference, served.servers)))
      if (!named) {
        if (reference.plain) warnings.push(`${written(prompt, reference)}: there is no such file`)
        continue
      }
      const key = JSON.stringify('uri' in named ? [named.server, named.uri] : [named.at, named.lines])
      const name = 'uri' in named ? `${named.server}:${named.uri}` : named.path
      const before = known.get(key)
      const place = 'uri' in named ? fileNameOf(named.uri) : named.at
      if (!before && (await holdsKeys(place, home)) && !(await isAllowed(name, person)))
        throw new Error(
          'it may hold keys, and was not attached without your yes. Paste the parts that the agent needs instead',
        )
      const part = before ?? (await ('uri' in named ? readServed(named, left, person) : read(named, left)))
      if (!before) {
        known.set(key, part)
        left -= Buffer.byteLength(part.body)
        pictures.push(...(part.pictures ?? []))
        if (part.cut !== undefined) warnings.push(`${written(prompt, reference)}: ${part.cut}`)
      }
      const { start } = reference
      const links = (part.pictures ?? []).map((one) => linkedPicture(mentionOf(name, one), refOf(one))).join(' ')
      const body = links !== '' && part.body === '' ? undefined : part.body
      const picture = links === '' ? undefined : 'uri' in named ? `${name} ${links}` : links
      found.push(
        'uri' in named
          ? defined({ start, end: named.end, path: named.uri, server: named.server, body, picture })
          : defined({ start, end: named.end, path: named.path, body, lines: part.lines, picture }),
      )
    } catch (error) {
      warnings.push(`${written(prompt, reference)}: ${messageOf(error)}`)
    }
  }
  return { ...taken(attachFiles(prompt, found)), pictures, warnings }
}

type ReadPart = FilePart & { pictures?: Picture[] }

async function readServed(named: NamedResource, left: number, person: PromptPerson): Promise<ReadPart> {
  mustHaveRoom(left, 'resource')
  person.waits?.(`reading a resource of the MCP server ${named.server}`)
  const { readNamedResource } = await attachedResource()
  return readNamedResource(named, person.served!.servers, Math.min(mostBytes.file, left), person)
}

async function read(named: NamedFile, left: number): Promise<ReadPart> {
  const { pictureIn, readFolder, readPart } = await attachedFile()
  const picture = named.folder || named.lines ? undefined : await pictureIn(named.at)
  if (picture) return { body: '', pictures: [picture] }
  mustHaveRoom(left, 'file')
  return named.folder ? readFolder(named.at) : readPart(named, Math.min(mostBytes.file, left))
}

function mustHaveRoom(left: number, kind: 'file' | 'resource'): void {
  if (left <= 0) throw new Error(`${mostBytes.all / 1024 / 1024} MB are attached already, so this ${kind} was left out`)
}

async function holdsKeys(at: string, home: string | undefined): Promise<boolean> {
  const real = await promises.realpath(at).catch(() => at)
  return isSecretName(at) || isSecretName(real) || (home !== undefined && isSecretPlace(real, home))
}

async function isAllowed(path: string, { ask, signal }: PromptPerson): Promise<boolean> {
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

/** Stores pictures as blobs, before a prompt that mentions them is stored. */
export async function keepPictures(pictures: readonly Picture[], blobs: Blobs): Promise<void> {
  await Promise.all(pictures.map(({ media, bytes }) => blobs.put(bytes, media)))
}

const mentionOf = (name: string, { width, height }: Picture, number = 1) => ({
  number,
  name: pictureName(name),
  width,
  height,
})

const refOf = ({ media, bytes }: Picture): Ref => ({
  sha: sha256().update(bytes).digest('hex'),
  media,
  bytes: bytes.length,
})

/** Stores a picture that was pasted, and returns the text that stands for it in a prompt. */
export async function pastedPicture(
  bytes: Uint8Array,
  name: string,
  blobs: Blobs,
): Promise<PastedPictures | undefined> {
  try {
    const { pictureOf } = await attachedFile()
    const picture = pictureOf(Buffer.from(bytes))
    if (!picture) return undefined
    await keepPictures([picture], blobs)
    return { texts: [linkedPicture(mentionOf(name, picture), refOf(picture))], problems: [] }
  } catch (error) {
    return { texts: [], problems: [`${pictureName(name)}: ${messageOf(error)}.`] }
  }
}

/**
 * Stores the pictures that pasted paths name, by the same rules as for `@path`. `readings` are the possible ways to read the paste; the
 * first one whose paths all lead to files, at least one of them a picture, is used. A path that does not lead to a picture stays as it
 * was pasted. Returns undefined if no reading has a picture: the paste is then ordinary text.
 */
export async function pastedPaths(
  readings: readonly (readonly string[])[],
  where: { cwd: string; home?: string },
  blobs: Blobs,
): Promise<PastedPictures | undefined> {
  for (const paths of readings) {
    const found = await Promise.all(paths.map((path) => pastedPath(path, where)))
    if (found.some((one) => one === undefined) || found.every((one) => typeof one === 'string')) continue
    const pictures = found.flatMap((one) => (typeof one === 'object' && one.picture ? [one.picture] : []))
    await keepPictures(pictures, blobs)
    const texts = found.map((one, at) =>
      typeof one === 'object' && one.picture
        ? linkedPicture(mentionOf(one.name, one.picture), refOf(one.picture))
        : paths[at]!,
    )
    return { texts, problems: found.flatMap((one) => (typeof one === 'object' && one.problem ? [one.problem] : [])) }
  }
  return undefined
}

/**
 * Returns the picture at a pasted path, or why it cannot be attached; 'other' for a file that is not a picture, undefined if no file
 * exists there.
 */
async function pastedPath(
  path: string,
  { cwd, home }: { cwd: string; home?: string },
): Promise<{ name: string; picture?: Picture; problem?: string } | 'other' | undefined> {
  const { findNamedFile, pictureIn } = await attachedFile()
  const where: Where = { cwd, root: projectRoot(cwd), home }
  try {
    const named = await findNamedFile({ start: 0, plain: true, readings: [{ end: 0, path }] }, where)
    if (!named) return undefined
    if (named.folder) return 'other'
    const picture = await pictureIn(named.at)
    if (!picture) return 'other'
    const name = shortPath(named.at, where.root) === named.at ? shortName(named.at, home) : shortPath(named.at, cwd)
    if (await holdsKeys(named.at, home))
      return { name, problem: `${name} may hold keys. Write @${named.at} to attach it after a question.` }
    return { name, picture }
  } catch (error) {
    const why = messageOf(error)
    // A pipe, a socket or a link out of the project stays in the prompt as plain text.
    if (!/^(a|the) picture /.test(why)) return 'other'
    return { name: path, problem: `${pictureName(path)}: ${why}.` }
  }
}

const shortName = (path: string, home: string | undefined) =>
  home !== undefined && path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path

/** The reference as the person wrote it, without the punctuation of the sentence around it. */
function written(prompt: string, { start, readings }: FileReference): string {
  return prompt.slice(start, readings.at(-1)!.end)
}
