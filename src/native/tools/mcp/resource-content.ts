import type { BlobResourceContents, TextResourceContents } from '@modelcontextprotocol/client'
import type { Clock } from '../../../base/time/clock.ts'
import type { Blobs } from '../../../core/talk/store.ts'
import { terminalText } from '../../../base/text/ansi.ts'
import { oneLine } from '../../../base/text/table.ts'
import { pictureMedia, sizeText } from '../../../base/picture.ts'
import { isPdf, pagesText, pdfPages } from '../files/pdf-pages.ts'

/** A picture that a model can see. */
type ReadPicture = { media: string; bytes: Buffer }

/**
 * The content of a resource: text for the model, and pictures next to it. `whole`: the number of bytes of its text, if the text was cut.
 */
export type ResourceContent = { text: string; pictures: ReadPicture[]; whole?: number }

type ContentParts = {
  blobs: Blobs
  clock: Clock
  signal: AbortSignal
  /** The most bytes of text to return. */
  most: number
}

/** Models accept no larger picture. */
const longestPicture = 5 * 1024 * 1024
const longestPdf = 64 * 1024 * 1024

type Contents = TextResourceContents | BlobResourceContents

/**
 * Turns the parts of a resource into text and pictures. A PDF becomes the text of its pages; any other file is stored beside the
 * conversation and named. A text that is too long is cut, and the whole text is stored too.
 */
export async function contentOf(contents: readonly Contents[], parts: ContentParts): Promise<ResourceContent> {
  const pictures: ReadPicture[] = []
  const texts: string[] = []
  for (const one of contents) {
    const text = 'text' in one ? one.text : await blobText(one, pictures, parts)
    if (text === '') continue
    // Reading a folder may return many resources: each part then says which one it is.
    texts.push(contents.length > 1 ? `[${shownUri(one.uri)}]\n${text}` : text)
  }
  const text = texts.join('\n\n')
  const bytes = Buffer.byteLength(text)
  if (bytes <= parts.most) return { text, pictures }
  const place = parts.blobs.place(await parts.blobs.put(text, 'text/plain'))
  const head = new TextDecoder().decode(Buffer.from(text).subarray(0, parts.most), { stream: true })
  const note = `[only the first ${sizeText(parts.most)} of ${sizeText(bytes)} are here${place ? `; the whole text is in ${place}` : ''}]`
  return { text: `${head}\n${note}`, pictures, whole: bytes }
}

async function blobText(one: BlobResourceContents, pictures: ReadPicture[], parts: ContentParts): Promise<string> {
  const bytes = Buffer.from(one.blob, 'base64')
  const media = oneLine(terminalText(one.mimeType ?? 'application/octet-stream'), 100)
  const picture = pictureMedia(bytes.subarray(0, 16))
  if (picture !== undefined && bytes.length <= longestPicture) {
    pictures.push({ media: picture, bytes })
    return ''
  }
  if (isPdf(bytes) && bytes.length <= longestPdf) {
    const read = await pdfPages(bytes, parts.clock, parts.signal)
    if ('pages' in read) return pagesText(read.pages)
  }
  if (picture === undefined && isText(bytes, media)) return new TextDecoder().decode(bytes)
  const place = parts.blobs.place(await parts.blobs.put(bytes, picture ?? media))
  return `[a file of ${sizeText(bytes.length)} (${picture ?? media})${place ? `, kept in ${place}` : ''}]`
}

/** Some servers send text as bytes. */
function isText(bytes: Buffer, media: string): boolean {
  if (!/^(text\/|application\/(json|xml|yaml|toml|javascript))|\+(json|xml)$/.test(media) || bytes.includes(0))
    return false
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return true
  } catch {
    return false
  }
}

/** A server's address on one line, for a person or a model. */
const shownUri = (uri: string) => oneLine(terminalText(uri.slice(0, 2_000)), 300)
