import { linkedPictures } from './pictures.ts'
import { attribute, tag } from './transcript.ts'

export type LineRange = { from: number; to: number }

/** One interpretation of a reference: the position at which it ends, and its path. */
type ReferenceReading = { end: number; path: string; lines?: LineRange }

/**
 * An `@` in a prompt that may name a file, with its possible readings, the likeliest first. Only the disk shows which one is a
 * file. `plain`: the reference can hardly mean anything but a file, so the person is informed if that file is missing.
 */
export type FileReference = { start: number; readings: ReferenceReading[]; plain: boolean }

/**
 * A reference is quoted or ends at the next space. An `@` inside a word is an e-mail address, and one after a backslash is not a
 * reference.
 */
const mention = /(?<![^\s([{<"',;])@(?:"([^"\n]+)"(:\d+(?:-\d+)?|#L\d+(?:-L?\d+)?)?|([^\s"`@][^\s"`]*))/g

export function fileReferences(prompt: string): FileReference[] {
  return [...withoutCode(prompt).matchAll(mention)].flatMap((match): FileReference[] => {
    const [whole, quoted, range = '', bare] = match
    const end = match.index + whole.length
    if (quoted !== undefined)
      return [{ start: match.index, plain: true, readings: readingsOf(`${quoted}${range}`, end, range === '') }]
    if (!/[\p{L}\p{N}_]|^(?:\.{1,2}|~)\/$/u.test(bare!)) return []
    // Punctuation after a path is first tried as part of the name, and then as part of the sentence.
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

const code =
  /(```|~~~).*?(?:\1|$)|`[^`\n]*`|<(file|resource|prompt|output) (?:path|server|command)="[^"\n]*"[^>\n]*>\n.*?\n<\/\2>/gs

/**
 * Blanks out code and pictures, keeping the length: an `@` in code or in the name of a picture is not a reference, files and
 * resources that are already attached are not read again, and the text of a server's prompt names no file of the person.
 */
function withoutCode(prompt: string): string {
  let text = prompt.replaceAll(code, (found) => '\0'.repeat(found.length))
  for (const { start, end } of linkedPictures(text))
    text = text.slice(0, start) + '\0'.repeat(end - start) + text.slice(end)
  return text
}

/**
 * A file, or a resource of an MCP `server`, that was found for a reference. The prompt names it, and its text, if it has one,
 * follows the prompt; a picture has its mention in the place of the name. The `path` of a resource is its address.
 */
export type AttachedFile = {
  start: number
  end: number
  path: string
  server?: string
  lines?: LineRange
  body?: string
  picture?: string
}

export function attachFiles(prompt: string, found: readonly AttachedFile[]): string {
  let text = ''
  let at = 0
  for (const one of found) {
    text += prompt.slice(at, one.start) + (one.picture ?? nameOf(one.path, one.lines, one.server))
    at = one.end
  }
  const blocks = found.flatMap(({ path, server, lines, body }) => {
    if (body === undefined) return []
    if (server !== undefined) return [resourceBlock(server, path, body)]
    const part = lines ? ` lines="${lines.from}-${lines.to}"` : ''
    return [tag('file', ` path="${attribute(path)}"${part}`, body)]
  })
  return [text + prompt.slice(at), ...new Set(blocks)].join('\n\n')
}

/** The text of a resource of an MCP server in the form for an agent: data from outside. */
export const resourceBlock = (server: string, uri: string, body: string): string =>
  tag('resource', ` server="${attribute(server)}" uri="${attribute(uri)}"`, body)

const promptOpening = 'Use the prompt '

/** The text of a server's prompt behind the command that the person typed for it, without its slash: other programs have such commands too. */
export const servedPromptText = (command: string, server: string, body: string): string =>
  `${promptOpening}${command}\n\n${tag('prompt', ` server="${attribute(server)}"`, body)}`

function nameOf(path: string, lines: LineRange | undefined, server?: string): string {
  if (server !== undefined) return `${server}:${path}`
  if (!lines) return path
  return `${path}:${lines.from}${lines.to > lines.from ? `-${lines.to}` : ''}`
}

const block =
  /\n\n<(file|resource) (?:path="([^"\n]*)"(?: lines="(\d+)-(\d+)")?|server="([^"\n]*)" uri="([^"\n]*)")>\n(?:.*?\n<\/\1>(?=\n|$)|.*$)/gs

const served = new RegExp(`^${promptOpening}([^]*?)\\n\\n<prompt server="[^"\\n]*">\\n`)

/**
 * Returns the prompt as the person typed it, to show it or to edit it again: without the text of files, resources and servers'
 * prompts, each name with its `@`, and a prompt's command with its slash.
 */
export function typedPrompt(prompt: string): string {
  const command = served.exec(prompt)?.[1]
  if (command !== undefined) return `/${command}`
  const written = new Map<string, string>()
  const text = prompt.replaceAll(block, (...found: (string | undefined)[]) => {
    const [, , path, from, to, server, uri] = found
    const lines = from === undefined ? undefined : { from: Number(from), to: Number(to) }
    const name = path === undefined ? `${server}:${uri}` : nameOf(path, lines)
    const whole = path ?? name
    written.set(name, /[\s"`]/.test(whole) ? `@"${whole}"${name.slice(whole.length)}` : `@${name}`)
    return ''
  })
  if (written.size === 0) return prompt
  // The longest name comes first, because one name may be the beginning of another.
  const names = [...written.keys()].sort((a, b) => b.length - a.length).map((name) => name.replaceAll(special, '\\$&'))
  const alone = new RegExp(`(?<![^\\s([{<"',;])(?:${names.join('|')})(?=[.,;:!?)\\]}>'…]*(?:\\s|$))`, 'g')
  return text.replaceAll(alone, (name) => written.get(name)!)
}

const special = /[\\^$.*+?()[\]{}|/-]/g
