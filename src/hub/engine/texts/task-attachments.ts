import type { Blobs, Ref } from '../../../core/talk/store.ts'
import type { Attachment } from '../../model/tasks/attachment.ts'
import { pictureMedia } from '../../../base/picture.ts'
import { StoreError } from '../../../core/talk/store.ts'
import { longestAttachment, mostAttachments, safeFileNames } from '../../model/tasks/attachment.ts'
import { HubError } from '../rules/task-rules.ts'

/** A file as a new task names it: the id that its upload returned, and the name that the person gave it. */
export type SentAttachment = { id: string; name: string }

const storedAs = 'application/octet-stream'
const megabytes = longestAttachment / 1024 / 1024

/** The files of tasks. They are stored beside the tasks, by the hash of their content. */
export class TaskAttachments {
  #blobs: Blobs

  constructor(blobs: Blobs) {
    this.#blobs = blobs
  }

  /** Stores a file that is sent in pieces. A file that is incomplete or too long is not kept. */
  async receive(pieces: AsyncIterable<Uint8Array>): Promise<{ id: string; bytes: number }> {
    const writer = this.#blobs.writer(storedAs)
    let bytes = 0
    try {
      for await (const piece of pieces) {
        bytes += piece.length
        if (bytes > longestAttachment)
          throw new HubError('long', `The file is larger than ${megabytes} MB. Put it into the workspace instead.`)
        await writer.write(piece)
      }
      const { sha } = await writer.done()
      return { id: sha, bytes }
    } catch (error) {
      await writer.drop()
      throw error
    }
  }

  /** The files of a new task, each under a name that is safe to write. Throws if the hub does not have one of them. */
  async of(sent: readonly SentAttachment[] = []): Promise<Attachment[] | undefined> {
    if (sent.length === 0) return undefined
    if (sent.length > mostAttachments)
      throw new HubError('wrong', `Found ${sent.length} files, allowed: at most ${mostAttachments} with one task.`)
    const names = safeFileNames(sent.map(({ name }) => name))
    return Promise.all(sent.map(async ({ id }, at) => ({ id, name: names[at]!, ...(await this.#measured(id)) })))
  }

  read({ id, bytes }: Pick<Attachment, 'id' | 'bytes'>): AsyncIterable<Uint8Array> {
    return this.#blobs.read(refOf(id, bytes))
  }

  async whole(attachment: Attachment): Promise<Buffer> {
    const chunks: Uint8Array[] = []
    for await (const chunk of this.read(attachment)) chunks.push(chunk)
    return Buffer.concat(chunks)
  }

  /** The size of a file, and its media type, which is taken from its content rather than its name. */
  async #measured(id: string): Promise<{ media: string; bytes: number }> {
    const missing = new HubError('wrong', `The hub has no file ${JSON.stringify(id)}. Send the file first.`)
    if (!/^[0-9a-f]{64}$/.test(id)) throw missing
    const chunks: Uint8Array[] = []
    try {
      for await (const chunk of this.#blobs.read(refOf(id, 0))) chunks.push(chunk)
    } catch (error) {
      throw error instanceof StoreError ? missing : error
    }
    const body = Buffer.concat(chunks)
    return { media: mediaOf(body), bytes: body.length }
  }
}

const refOf = (sha: string, bytes: number): Ref => ({ sha, media: storedAs, bytes })

function mediaOf(body: Buffer): string {
  const picture = pictureMedia(body)
  if (picture !== undefined) return picture
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(body)
    return text.includes('\0') ? storedAs : 'text/plain'
  } catch {
    return storedAs
  }
}
