import type { Ref } from './store.ts'

/** A picture in a text: its number there, its name, and its size in pixels. */
export type PictureMention = { number: number; name: string; width: number; height: number }

/**
 * A prompt mentions a picture as `[picture 1: shot.png, 640×480]`, and the kept prompt has its files in the order of the numbers.
 * On its way to a turn (in the input, in the queue, to another process) there is only the text, so each mention carries its picture
 * as a link behind it.
 */
const mention =
  /\[picture (\d{1,4}): ([^[\]\n]{1,300}), (\d{1,6})×(\d{1,6})\](?:\(kept:(image\/[a-z]{2,8}),(\d{1,12}),([0-9a-f]{64})\))?/g

export const pictureMention = ({ number, name, width, height }: PictureMention): string =>
  `[picture ${number}: ${name}, ${width}×${height}]`

/** A mention with its picture, in the form inside a text. */
export const linkedPicture = (told: PictureMention, ref: Ref): string => `${pictureMention(told)}${linkOf(ref)}`

const linkOf = ({ media, bytes, sha }: Ref) => `(kept:${media},${bytes},${sha})`

/** A name that can be used in a mention: without brackets, line breaks and invisible characters. */
export function pictureName(name: string): string {
  const plain = name
    .replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '_')
    .replaceAll('[', '(')
    .replaceAll(']', ')')
  return plain.length <= 200 ? plain || 'picture' : `${plain.slice(0, 100)}…${plain.slice(-99)}`
}

/** The mentions of a text without links, in order; `end` is the position after the bracket. */
function pictureMentions(text: string): (PictureMention & { end: number })[] {
  return [...text.matchAll(mention)].flatMap((match) => {
    const [whole, number, name, width, height, media] = match
    if (media !== undefined) return []
    const told = { number: Number(number), name: name!, width: Number(width), height: Number(height) }
    return [{ ...told, end: match.index + whole.length }]
  })
}

/** The linked mentions of a text, in order. */
export function linkedPictures(
  text: string,
): { start: number; end: number; text: string; told: PictureMention; ref: Ref }[] {
  return [...text.matchAll(mention)].flatMap((match) => {
    const [whole, number, name, width, height, media, bytes, sha] = match
    if (sha === undefined) return []
    const told = { number: Number(number), name: name!, width: Number(width), height: Number(height) }
    const ref = { sha, media: media!, bytes: Number(bytes) }
    return [{ start: match.index, end: match.index + whole.length, text: whole, told, ref }]
  })
}

/**
 * Takes the pictures out of a text: numbers their mentions from 1, and returns the files in that order. A picture that is mentioned twice
 * has only one number.
 */
export function takePictures(text: string): { text: string; files: Ref[] } {
  const files: Ref[] = []
  let [left, at] = ['', 0]
  for (const { start, end, told, ref } of linkedPictures(text)) {
    const number = files.findIndex(({ sha }) => sha === ref.sha) + 1 || files.push(ref)
    left += text.slice(at, start) + pictureMention({ ...told, number })
    at = end
  }
  return { text: left + text.slice(at), files }
}

/** The text with a link after each mention of a picture, to send it or to edit it again; the reverse of `takePictures`. */
export function withPictures(text: string, files: readonly Ref[] = []): string {
  let [linked, at] = ['', 0]
  for (const { end, ref } of mentionedFiles(text, files)) {
    linked += text.slice(at, end) + linkOf(ref)
    at = end
  }
  return linked + text.slice(at)
}

/** The mentions of these files. Somebody typed a mention whose number is higher than the next one: it is left out. */
export function mentionedFiles(
  text: string,
  files: readonly Ref[],
): (PictureMention & { end: number; ref: Ref; again: boolean })[] {
  let next = 1
  return pictureMentions(text).flatMap((one) => {
    const ref = files[one.number - 1]
    if (!ref || one.number > next) return []
    const again = one.number < next
    if (!again) next++
    return [{ ...one, ref, again }]
  })
}

/** The text in the form for people, without the links. */
export const withoutPictureLinks = (text: string): string =>
  text.replaceAll(mention, (whole: string) => whole.slice(0, whole.indexOf(']') + 1))

/** A mention in few columns, for the input: only the name of the file. */
export function pictureLabel({ number, name, width, height }: PictureMention, most = 24): string {
  const own = name.replace(/\/+$/, '').replace(/^.*\//s, '')
  const short = own.length <= most ? own : `${own.slice(0, most - 9)}…${own.slice(-8)}`
  return pictureMention({ number, name: short, width, height })
}

/** A text that was typed during a turn, in the form in which it is stored. */
export function steerFact(typed: string): { type: 'steer'; text: string; files?: Ref[] } {
  const { text, files } = takePictures(typed)
  return files.length > 0 ? { type: 'steer', text, files } : { type: 'steer', text }
}
