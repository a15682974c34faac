import { defined } from '../../base/defined.ts'
import type { Ask, Question } from '../../core/talk/question.ts'
import type { AttachedFile, FileReference } from '../../core/talk/file-references.ts'
import type { Ref, Blobs } from '../../core/talk/store.ts'
import type { FilePart, NamedFile, Where, Picture } from './attached-file.ts'
import type { Clock } from '../../base/clock.ts'
import type { PersonServers } from '../native/person-servers.ts'
import type { NamedResource } from './attached-resource.ts'
import { realpath } from 'node:fs/promises'
import { nobody } from '../../core/talk/question.ts'
import { isSecretName, isSecretPlace } from '../../safety/secret-files.ts'
import { projectRoot } from '../../base/git.ts'
import { messageOf } from '../../base/error-message.ts'
import { attachFiles, fileReferences } from '../../core/talk/file-references.ts'
import { readFolder, findNamedFile, readPart, pictureIn } from './attached-file.ts'
import { fileNameOf, findNamedResource, readNamedResource } from './attached-resource.ts'
import { consentOptions } from '../../core/talk/consent.ts'

/** How much of one file is attached, and of all files together. */
export const mostBytes = { file: 256 * 1024, all: 1024 * 1024 }

/** A prompt with the contents of the files and resources that it names behind it, and the pictures beside it. */
export type WithAttachments = { prompt: string; pictures: Picture[]; warnings: string[] }

/** Who typed the prompt, and what they may name in it beside files. */
export type PromptPerson = {
  ask: Ask
  signal: AbortSignal
  /** The MCP servers whose resources and prompts can be named. */
  served?: { servers: PersonServers; blobs: Blobs; clock: Clock }
  /** Shows what is waited for. */
  waits?(words: string): void
}

/**
 * Reads each `@path` and `@server:uri` of a prompt and puts the contents behind it; a prompt that is a server's, as
 * `/server:prompt`, is got from the server. A reference that cannot be attached stays as it is, with a warning. A file that may
 * hold keys is attached only after a yes, because a prompt is often pasted.
 */
export async function withAttachments(
  prompt: string,
  cwd: string,
  home?: string,
  person: PromptPerson = { ask: nobody, signal: new AbortController().signal },
): Promise<WithAttachments> {
  const { served, waits, signal } = person
  if (served && /^\s*\/[^\s/:]+:/.test(prompt)) {
    const { findCalledPrompt, readCalledPrompt } = await import('./served-prompt.ts')
    const called = await findCalledPrompt(prompt, served.servers, signal)
    if (called) {
      waits?.(`waiting for the MCP server ${called.server}`)
      const parts = { ...served, most: mostBytes.all, person }
      return { ...(await readCalledPrompt(called, parts)), warnings: [] }
    }
  }
  const references = fileReferences(prompt)
  if (references.length === 0) return { prompt, pictures: [], warnings: [] }
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
      const body = part.pictures?.length && part.body === '' ? undefined : part.body
      found.push(
        'uri' in named
          ? defined({ start, end: named.end, path: named.uri, server: named.server, body })
          : defined({ start, end: named.end, path: named.path, body, lines: part.lines }),
      )
    } catch (error) {
      warnings.push(`${written(prompt, reference)}: ${messageOf(error)}`)
    }
  }
  return { prompt: attachFiles(prompt, found), pictures, warnings }
}

type ReadPart = FilePart & { pictures?: Picture[] }

async function readServed(named: NamedResource, left: number, person: PromptPerson): Promise<ReadPart> {
  mustHaveRoom(left, 'resource')
  person.waits?.(`reading a resource of the MCP server ${named.server}`)
  return readNamedResource(named, person.served!.servers, Math.min(mostBytes.file, left), person)
}

async function read(named: NamedFile, left: number): Promise<ReadPart> {
  const picture = named.folder || named.lines ? undefined : await pictureIn(named.at)
  if (picture) return { body: '', pictures: [picture] }
  mustHaveRoom(left, 'file')
  return named.folder ? readFolder(named.at) : readPart(named, Math.min(mostBytes.file, left))
}

function mustHaveRoom(left: number, kind: 'file' | 'resource'): void {
  if (left <= 0) throw new Error(`${mostBytes.all / 1024 / 1024} MB are attached already, so this ${kind} was left out`)
}

async function holdsKeys(at: string, home: string | undefined): Promise<boolean> {
  const real = await realpath(at).catch(() => at)
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

/** Stores pictures as blobs, for the turn. */
export function keptPictures(pictures: readonly Picture[], blobs: Blobs): Promise<Ref[]> {
  return Promise.all(pictures.map(({ media, bytes }) => blobs.put(bytes, media)))
}

/** The reference as the person wrote it, without the punctuation of the sentence. */
function written(prompt: string, { start, readings }: FileReference): string {
  return prompt.slice(start, readings.at(-1)!.end)
}
