import type { Ref, Blobs } from '../../core/talk/store.ts'
import { readBody } from '../../core/talk/store.ts'
import type { ModelMessage } from '../../core/work/model.ts'
import type { WireName } from '../provider.ts'
import type { Images, SeenImage, Target } from '../http/wire-format.ts'
import { pictureFacts, sizeText } from '../../base/picture.ts'
import { pictureFile } from '../../base/picture-file.ts'

const seen = /^image\/(png|jpeg|gif|webp)$/

export const isImage = ({ media }: Ref) => seen.test(media)

const megabyte = 1024 * 1024

/** The largest image: in bytes, and in pixels on its longer side. */
type ImageLimits = { bytes: number; points?: number }

/** The images that the providers of each wire accept; a larger one would make them refuse the whole request. */
const limits: Record<WireName, ImageLimits> = {
  // "image exceeds 5 MB maximum", "image dimensions exceed max allowed size: 8000 pixels"
  anthropic: { bytes: 5 * megabyte, points: 8000 },
  // A whole request must be below 20 MB, and an image grows by a third in it.
  gemini: { bytes: 14 * megabyte },
  responses: { bytes: 20 * megabyte },
  chat: { bytes: 20 * megabyte },
  ollama: { bytes: 20 * megabyte },
}

/**
 * Reads every image of a conversation. An image that the model cannot see is replaced by a sentence that says why, and where the image
 * is.
 */
export async function imagesOf(messages: readonly ModelMessage[], blobs: Blobs, to: Target): Promise<Images> {
  const images = new Map<string, SeenImage>()
  for (const message of messages)
    for (const ref of ('files' in message && message.files) || [])
      if (isImage(ref) && !images.has(ref.sha)) images.set(ref.sha, await imageOf(ref, blobs, to))
  return ({ sha }) => images.get(sha)
}

async function imageOf(ref: Ref, blobs: Blobs, to: Target): Promise<SeenImage> {
  const body = to.known.blind ? undefined : await readBody(blobs, ref)
  const why = to.known.blind ? 'this model cannot see pictures' : body ? refusal(body, to) : 'it can no longer be read'
  if (body && why === undefined) return { media: ref.media, data: body.toString('base64') }
  to.unseen.set(ref.sha, why!)
  const path = await pictureFile(blobs.place(ref), ref.sha, ref.media)
  const where = path === undefined ? '' : `; the picture is at ${path}`
  return { missing: `[an ${ref.media} was attached here, but ${why}${where}]` }
}

/** Why the provider would refuse an image, and with it the whole conversation from then on. */
function refusal(body: Buffer, { provider }: Target): string | undefined {
  const { bytes, points } = { ...limits[provider.wire], ...provider.images }
  if (body.length > bytes)
    return `it is ${sizeText(body.length)} large, and ${provider.label} takes pictures of at most ${sizeText(bytes)}`
  const { width = 0, height = 0, fault } = pictureFacts(body) ?? {}
  if (fault !== undefined) return fault
  if (points !== undefined && Math.max(width, height) > points)
    return `it is ${width}×${height} points large, and ${provider.label} takes at most ${points}×${points}`
  return undefined
}

/** Returns the images of a message that were read. */
export function pictures(files: readonly Ref[] | undefined, images: Images): SeenImage[] {
  return (files ?? []).filter(isImage).flatMap((ref) => images(ref) ?? [])
}
