/** Facts read from the bytes of a picture; `fault` says why it cannot be shown to a model. */
type PictureFacts = { media: string; width: number; height: number; fault?: string }

/** The media type of a picture that models can see, by its first bytes. */
export function pictureMedia(head: Buffer): string | undefined {
  const starts = (text: string, at = 0) => head.subarray(at, at + text.length).equals(Buffer.from(text, 'latin1'))
  if (starts('\x89PNG\r\n\x1a\n')) return 'image/png'
  if (starts('\xff\xd8\xff')) return 'image/jpeg'
  if (starts('GIF87a') || starts('GIF89a')) return 'image/gif'
  if (starts('RIFF') && starts('WEBP', 8)) return 'image/webp'
  return undefined
}

/** The extension that programs expect for a file with this media type. */
export const pictureExtension = (media: string) => media.replace('image/', '.').replace('.jpeg', '.jpg')

const readers: Record<string, (bytes: Buffer) => Omit<PictureFacts, 'media'>> = {
  'image/png': readPng,
  'image/jpeg': readJpeg,
  'image/gif': readGif,
  'image/webp': readWebp,
}

/**
 * Reads the size of a picture and whether it is complete; undefined if the bytes are not a picture that models can see. A provider
 * refuses a damaged picture, and would then refuse the whole conversation.
 */
export function pictureFacts(bytes: Buffer): PictureFacts | undefined {
  const media = pictureMedia(bytes)
  if (media === undefined) return undefined
  try {
    const facts = { media, ...readers[media]!(bytes) }
    return facts.width > 0 && facts.height > 0 ? facts : { ...facts, fault: 'it is empty' }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return { media, width: 0, height: 0, fault: cut }
  }
}

const cut = 'it is damaged: its end is missing'

function readPng(bytes: Buffer): Omit<PictureFacts, 'media'> {
  const [width, height] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)]
  // Each chunk has its length, its name, its body and a checksum.
  for (let at = 8; at + 12 <= bytes.length; at += 12 + bytes.readUInt32BE(at))
    if (bytes.toString('latin1', at + 4, at + 8) === 'IEND') return { width, height }
  return { width, height, fault: cut }
}

/** The markers that begin a frame and contain its size; DHT (c4), JPG (c8) and DAC (cc) are in the same range. */
const isFrame = (marker: number) => marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)

function readJpeg(bytes: Buffer): Omit<PictureFacts, 'media'> {
  for (let at = 2; ;) {
    while (bytes.readUInt8(at) === 0xff && bytes.readUInt8(at + 1) === 0xff) at++
    const marker = bytes.readUInt8(at + 1)
    if (bytes.readUInt8(at) !== 0xff || marker === 0xd9) return { width: 0, height: 0, fault: cut }
    if (isFrame(marker)) {
      const [height, width] = [bytes.readUInt16BE(at + 5), bytes.readUInt16BE(at + 7)]
      return bytes.lastIndexOf(Buffer.from([0xff, 0xd9])) > at ? { width, height } : { width, height, fault: cut }
    }
    at += 2 + bytes.readUInt16BE(at + 2)
  }
}

function readGif(bytes: Buffer): Omit<PictureFacts, 'media'> {
  const [width, height] = [bytes.readUInt16LE(6), bytes.readUInt16LE(8)]
  return bytes.lastIndexOf(0x3b) >= 13 ? { width, height } : { width, height, fault: cut }
}

function readWebp(bytes: Buffer): Omit<PictureFacts, 'media'> {
  const fault = bytes.length < 8 + bytes.readUInt32LE(4) ? { fault: cut } : {}
  switch (bytes.toString('latin1', 12, 16)) {
    case 'VP8X':
      return { width: 1 + bytes.readUIntLE(24, 3), height: 1 + bytes.readUIntLE(27, 3), ...fault }
    case 'VP8L': {
      const bits = bytes.readUInt32LE(21)
      return { width: 1 + (bits & 0x3fff), height: 1 + ((bits >>> 14) & 0x3fff), ...fault }
    }
    default:
      return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff, ...fault }
  }
}

export function sizeText(bytes: number | bigint): string {
  const size = Number(bytes)
  if (size < 1024) return `${size} bytes`
  if (size < 1024 * 1024) return `${(size / 1024).toFixed(1)} KB`
  return `${(size / 1024 / 1024).toFixed(1)} MB`
}
