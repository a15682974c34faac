import { attribute, tag } from './transcript.ts'

export type LineRange = { from: number; to: number }

/** One way to read a reference: where it ends, and the path it names. */
export type ReferenceReading = { end: number; path: string; lines?: LineRange }

/**
 * An `@` in a prompt that may name a file, with its possible readings, the likeliest first. Only the disk knows which one is a
 * file. `plain`: the reference can hardly mean anything but a file, so the person is told when that file is missing.
 */
export type FileReference = { start: number; readings: ReferenceReading[]; plain: boolean }

/** A reference is quoted or ends at the next space. An `@` inside a word is an e-mail address, and one after a backslash is none. */
const mention = /(?<![^\s([{<"',;])@(?:"([^"\n]+)"(:\d+(?:-\d+)?|#L\d+(?:-L?\d+)?)?|([^\s"`@][^\s"`]*))/g

export function fileReferences(prompt: string): FileReference[] {
  return [...withoutCode(prompt).matchAll(mention)].flatMap((match): FileReference[] => {
    const [whole, quoted, range = '', bare] = match
    const end = match.index + whole.length
    if (quoted !== undefined)
      return [{ start: match.index, plain: true, readings: readingsOf(`${quoted}${range}`, end, range === '') }]
    if (!/[\p{L}\p{N}_]|^(?:\.{1,2}|~)\/$/u.test(bare!)) return []
    // Punctuation after a path is tried as part of the name first, and then as part of the sentence.
    const [, word, marks] = /^(.*?)([.,;:!?)\]}>'…]*)$/su.exec(bare!)!
    const shorter = Array.from({ length: marks!.length + 1 }, (_, cut) => cut)
    const readings = shorter.flatMap((cut) => readingsOf(bare!.slice(0, bare!.length - cut), end - cut, true))
    return [{ start: match.index, plain: plainly.test(word!), readings }]
  })
}

const plainly = /^(?:\.{0,2}\/|~\/)|\/$|[\w-]:\d+(?:-\d+)?$|#L\d+(?:-L?\d+)?$|^[\w./~+-]*[\w-]\.[a-z]\w{0,4}$/i

const ranged = /^(.+?)(?::(\d+)(?:-(\d+))?|#L(\d+)(?:-L?(\d+))?)$/s

function readingsOf(name: string, end: number, literally: boolean): ReferenceReading[] {
  const literal = literally && name !== '' ? [{ end, path: name }] : []
  const [, path, from, to = from, fromL, toL = fromL] = ranged.exec(name) ?? []
  if (path === undefined) return literal
  const [a, b] = [Number(from ?? fromL), Number(to ?? toL)]
  return [...literal, { end, path, lines: { from: Math.min(a, b), to: Math.max(a, b) } }]
}

const code = /(```|~~~).*?(?:\1|$)|`[^`\n]*`|<file path="[^"\n]*"[^>\n]*>\n.*?\n<\/file>/gs

/** Blanks out code, keeping the length: an `@` in code is no reference, and files that are attached already are not read again. */
function withoutCode(prompt: string): string {
  return prompt.replaceAll(code, (text) => '\0'.repeat(text.length))
}

/** A file that was found for a reference. The prompt names it, and its text, if it has one, follows the prompt. */
export type AttachedFile = { start: number; end: number; path: string; lines?: LineRange; body?: string }

export function attachFiles(prompt: string, found: readonly AttachedFile[]): string {
  let text = ''
  let at = 0
  for (const one of found) {
    text += prompt.slice(at, one.start) + nameOf(one.path, one.lines)
    at = one.end
  }
  const blocks = found.flatMap(({ path, lines, body }) => {
    if (body === undefined) return []
    const part = lines ? ` lines="${lines.from}-${lines.to}"` : ''
    return [tag('file', ` path="${attribute(path)}"${part}`, body)]
  })
  return [text + prompt.slice(at), ...new Set(blocks)].join('\n\n')
}

function nameOf(path: string, lines: LineRange | undefined): string {
  if (!lines) return path
  return `${path}:${lines.from}${lines.to > lines.from ? `-${lines.to}` : ''}`
}

const block = /\n\n<file path="([^"\n]*)"(?: lines="(\d+)-(\d+)")?>\n(?:.*?\n<\/file>(?=\n|$)|.*$)/gs

/** Returns the prompt as the person typed it, to show it or to edit it again: without the files' text, each name with its `@`. */
export function typedPrompt(prompt: string): string {
  const written = new Map<string, string>()
  const text = prompt.replaceAll(block, (_block, path: string, from?: string, to?: string) => {
    const name = nameOf(path, from === undefined ? undefined : { from: Number(from), to: Number(to) })
    written.set(name, /[\s"`]/.test(path) ? `@"${path}"${name.slice(path.length)}` : `@${name}`)
    return ''
  })
  if (written.size === 0) return prompt
  // The longest name first: one name may be the beginning of another.
  const names = [...written.keys()].sort((a, b) => b.length - a.length).map((name) => name.replaceAll(special, '\\$&'))
  const alone = new RegExp(`(?<![^\\s([{<"',;])(?:${names.join('|')})(?=[.,;:!?)\\]}>'…]*(?:\\s|$))`, 'g')
  return text.replaceAll(alone, (name) => written.get(name)!)
}

const special = /[\\^$.*+?()[\]{}|/-]/g
