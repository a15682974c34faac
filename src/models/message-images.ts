import type { Ref, Blobs } from '../core/talk/store.ts'
import type { ModelMessage } from '../core/work/model.ts'
import type { Images } from './wire-format.ts'

const seen = /^image\/(png|jpeg|gif|webp)$/

export const isImage = ({ media }: Ref) => seen.test(media)

/** Reads every image of a conversation. A missing one is left out; the request then has a sentence in its place. */
export async function imagesOf(messages: readonly ModelMessage[], blobs: Blobs): Promise<Images> {
  const bodies = new Map<string, string>()
  for (const message of messages) {
    for (const ref of ('files' in message && message.files) || []) {
      if (!isImage(ref) || bodies.has(ref.sha)) continue
      const body = await base64(ref, blobs)
      if (body) bodies.set(ref.sha, body)
    }
  }
  return ({ sha }) => bodies.get(sha)
}

async function base64(ref: Ref, blobs: Blobs): Promise<string | undefined> {
  try {
    const chunks: Uint8Array[] = []
    for await (const chunk of blobs.read(ref)) chunks.push(chunk)
    return Buffer.concat(chunks).toString('base64')
  } catch {
    return undefined
  }
}

export type Picture = { media: string; data: string } | { missing: string }

/** Returns the images of a message for one model. A sentence stands for each image that the model cannot see. */
export function pictures(files: readonly Ref[] | undefined, images: Images, blind: boolean | undefined): Picture[] {
  return (files ?? []).filter(isImage).map((ref) => {
    if (blind) return { missing: `[an ${ref.media} was attached here; this model cannot see images]` }
    const data = images(ref)
    return data
      ? { media: ref.media, data }
      : { missing: `[an ${ref.media} was attached here; it could not be read any more]` }
  })
}
