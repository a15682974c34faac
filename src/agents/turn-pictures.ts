import type { Entry } from '../core/talk/entry.ts'
import type { Blobs, Ref } from '../core/talk/store.ts'
import { readBody } from '../core/talk/store.ts'
import type { Turn } from '../core/work/agent.ts'
import type { PictureLimits, SentPicture } from '../core/profile/profile.ts'
import { promises } from 'node:fs'
import { isAbsolute, resolve } from 'node:path'
import { projectRoot } from '../base/files/git.ts'
import { shortPath } from '../base/files/short-path.ts'
import { pictureFacts, sizeText } from '../base/picture.ts'
import { pictureFile } from '../base/picture-file.ts'
import { sha256 } from '../base/hash.ts'
import { mentionedFiles, takePictures } from '../core/talk/pictures.ts'

/** The parts of a turn that an agent sees and that may mention pictures. */
type Told = Pick<Turn, 'prompt' | 'files' | 'steered' | 'cwd'> & { history: readonly Entry[] }

/**
 * The parts of a turn with pictures, as an agent gets them: texts that name the path of each picture that is not sent, the sent pictures
 * in the order of their mentions, and a note for the person about the pictures that are not sent.
 */
type HandedOver = Pick<Turn, 'prompt' | 'steered'> & {
  history: Entry[]
  pictures: SentPicture[]
  notes: string[]
}

/** The most pictures sent with one turn; older ones of the conversation are named by their path. */
const mostPictures = 20

type PictureParts = {
  /** The name of the agent, for the note. */
  name: string
  /** The limits on the pictures that the agent accepts; undefined if it accepts none. */
  takes: PictureLimits | undefined
  blobs: Blobs
}

/** Prepares the pictures of a turn and of the history for an agent. */
export async function handOverPictures(told: Told, parts: PictureParts): Promise<HandedOver> {
  const typed = told.steered.map(takePictures)
  const earlier = told.history.flatMap(filesOf)
  const now = [...(told.files ?? []), ...typed.flatMap(({ files }) => files)]
  if (earlier.length + now.length === 0)
    return { prompt: told.prompt, steered: told.steered, history: [...told.history], pictures: [], notes: [] }
  const old = Math.max(0, earlier.length + now.length - mostPictures)
  const handover = new Handover(told.cwd, parts, old)
  const history: Entry[] = []
  for (const entry of told.history) history.push(await handover.entry(entry))
  const prompt = await handover.text(told.prompt, told.files ?? [], true)
  const steered: string[] = []
  for (const { text, files } of typed) steered.push(await handover.text(text, files, true))
  return { prompt, steered, history, pictures: handover.pictures, notes: handover.notes() }
}

/** Prepares a text that was typed during a turn for the agent at work. */
export async function handOverTyped(
  typed: string,
  cwd: string,
  parts: PictureParts,
): Promise<Pick<HandedOver, 'pictures' | 'notes'> & { text: string }> {
  const { text, files } = takePictures(typed)
  const handover = new Handover(cwd, parts, 0)
  return {
    text: await handover.text(text, files, true),
    pictures: handover.pictures,
    notes: handover.notes(),
  }
}

const filesOf = (entry: Entry): readonly Ref[] =>
  (entry.type === 'prompt' || entry.type === 'steer' ? entry.files : undefined) ?? []

class Handover {
  readonly pictures: SentPicture[] = []
  #cwd: string
  #parts: PictureParts
  /** How many of the oldest pictures are not sent. */
  #old: number
  #untaken: { path?: string; why?: string }[] = []

  constructor(cwd: string, parts: PictureParts, old: number) {
    this.#cwd = cwd
    this.#parts = parts
    this.#old = old
  }

  async entry(entry: Entry): Promise<Entry> {
    const files = filesOf(entry)
    if (files.length === 0 || (entry.type !== 'prompt' && entry.type !== 'steer')) return entry
    return { ...entry, text: await this.text(entry.text, files, false) }
  }

  /** The text with the place of each picture that is not sent. `isNew`: the person sent it for this turn. */
  async text(text: string, files: readonly Ref[], isNew: boolean): Promise<string> {
    const mentioned = new Set<Ref>()
    let [told, at] = ['', 0]
    for (const { end, ref, name, again } of mentionedFiles(text, files)) {
      const place = again ? undefined : await this.#hand(ref, name, isNew)
      told += text.slice(at, end - 1) + (place === undefined ? '' : `; ${place}`) + ']'
      at = end
      mentioned.add(ref)
    }
    told += text.slice(at)
    for (const ref of files.filter((one) => !mentioned.has(one))) {
      const place = await this.#hand(ref, '', isNew)
      if (place !== undefined) told += `\n[a picture goes with this message; ${place}]`
    }
    return told
  }

  /** Adds a picture to the ones to send; otherwise returns a text that says where the picture is. */
  async #hand(ref: Ref, name: string, isNew: boolean): Promise<string | undefined> {
    const { takes, blobs } = this.#parts
    const isOld = this.#old > 0 && this.#old-- > 0
    const body = isOld || !takes ? undefined : await readBody(blobs, ref)
    const why = takes && !isOld ? (body ? overLimit(body, takes) : 'it can no longer be read') : undefined
    if (body && why === undefined) {
      this.pictures.push({ media: ref.media, data: body.toString('base64') })
      return undefined
    }
    const path = await this.#pathOf(ref, name)
    if (isNew) this.#untaken.push({ path, why })
    const because = why === undefined ? '' : `${why}; `
    return path === undefined ? `${because}it could not be handed over` : `${because}the picture is at ${path}`
  }

  /**
   * The path of the project's own file if that still equals the picture, because every agent may read the project; otherwise the path of
   * a copy.
   */
  async #pathOf(ref: Ref, name: string): Promise<string | undefined> {
    const own = name === '' || name.startsWith('~') ? undefined : resolve(this.#cwd, name)
    const isInside = own !== undefined && !isAbsolute(shortPath(own, projectRoot(this.#cwd)))
    if (isInside && (await isSame(own, ref))) return own
    return pictureFile(this.#parts.blobs.place(ref), ref.sha, ref.media)
  }

  /** A line for the person about the pictures of this turn that were not sent to the agent. */
  notes(): string[] {
    const { name, takes } = this.#parts
    const told = this.#untaken.flatMap(({ path }) => path ?? [])
    const lost = this.#untaken.length - told.length
    if (takes)
      return this.#untaken.map(({ path, why }) =>
        path === undefined
          ? `${name} did not get a picture: ${why}.`
          : `${name} got only the path of a picture (${path}): ${why}.`,
      )
    const where = told.length === 1 ? 'the picture is' : 'the pictures are'
    return [
      ...(told.length > 0 ? [`${name} takes no pictures. It knows where ${where}: ${told.join(', ')}`] : []),
      ...(lost > 0
        ? [`${name} takes no pictures, and ${lost === 1 ? 'one' : lost} could not be named by a path.`]
        : []),
    ]
  }
}

async function isSame(path: string, ref: Ref): Promise<boolean> {
  try {
    const found = await promises.stat(path)
    if (!found.isFile() || found.size !== ref.bytes) return false
    return (
      sha256()
        .update(await promises.readFile(path))
        .digest('hex') === ref.sha
    )
  } catch {
    return false
  }
}

function overLimit(body: Buffer, { bytes, points }: PictureLimits): string | undefined {
  if (bytes !== undefined && body.length > bytes)
    return `it is ${sizeText(body.length)} large, and at most ${sizeText(bytes)} are taken`
  const { width = 0, height = 0 } = pictureFacts(body) ?? {}
  if (points !== undefined && Math.max(width, height) > points)
    return `it is ${width}×${height} points large, and at most ${points}×${points} are taken`
  return undefined
}
