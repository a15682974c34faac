import { fileURLToPath } from 'node:url'

/** A longer paste is a text, not a list of paths. */
const longest = 16 * 1024

/** A path that can only mean one place: absolute, in the home folder, or said to be relative. */
const rooted = /^(?:\/(?!\/)|~\/|\.{1,2}\/|file:\/\/|[A-Za-z]:[\\/])/

/**
 * Parses a paste as paths, in the forms in which terminals insert files that are dragged onto them: quoted, with backslashes, as
 * `file://` addresses, several in a row or one in a line. Returns every way to read it, the likeliest first, because only the disk knows
 * where a name with spaces ends. Undefined when the paste is plainly a text.
 */
export function pastedPaths(pasted: string, { wsl = false } = {}): string[][] | undefined {
  const text = pasted.trim()
  if (text === '' || text.length > longest || !rooted.test(text.replace(/^['"]/, ''))) return undefined
  const lines = text.split(/\r?\n/).map((line) => line.trim())
  const readings = [
    // A line is one path, whatever it contains.
    lines.filter((line) => line !== '' && !line.startsWith('#')),
    lines.flatMap((line) => shellWords(line) ?? ['']),
    lines.flatMap((line) => line.split(/\s+(?=\/(?!\/)|~\/|file:\/\/|[A-Za-z]:[\\/])/)),
  ].map((paths) => paths.map((path) => located(path, wsl)))
  const whole = readings.filter((paths): paths is string[] => paths.length > 0 && !paths.includes(undefined))
  const distinct = new Map(whole.map((paths) => [JSON.stringify(paths), paths]))
  return distinct.size > 0 ? [...distinct.values()] : undefined
}

/** The words of a line as a shell reads them; undefined if a quote is left open. */
function shellWords(line: string): string[] | undefined {
  const words: string[] = []
  let word: string | undefined
  for (let at = 0; at < line.length; at++) {
    const sign = line[at]!
    if (/\s/.test(sign)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else if (sign === "'" || sign === '"') {
      const end = quoteEnd(line, at)
      if (end === undefined) return undefined
      const inside = line.slice(at + 1, end)
      word = (word ?? '') + (sign === '"' ? inside.replaceAll(/\\(["\\$`])/g, '$1') : inside)
      at = end
    } else if (sign === '\\') word = (word ?? '') + (line[++at] ?? '')
    else word = (word ?? '') + sign
  }
  return word === undefined ? words : [...words, word]
}

/** The end of the quote that begins at `from`. In double quotes a backslash escapes the next character. */
function quoteEnd(line: string, from: number): number | undefined {
  const sign = line[from]
  for (let at = from + 1; at < line.length; at++) {
    if (sign === '"' && line[at] === '\\') at++
    else if (line[at] === sign) return at
  }
  return undefined
}

/** The place that a path names on this machine; undefined if the path is not rooted. */
function located(path: string, wsl: boolean): string | undefined {
  const bare = /^(["'])(.*)\1$/s.exec(path)?.[2] ?? path
  if (!rooted.test(bare) || bare.includes('\0')) return undefined
  const drive = /^([A-Za-z]):[\\/]/.exec(bare)?.[1]
  if (drive !== undefined) return wsl ? `/mnt/${drive.toLowerCase()}/${bare.slice(3).replaceAll('\\', '/')}` : undefined
  if (!bare.startsWith('file://')) return bare
  try {
    return fileURLToPath(bare.replace(/^file:\/\/localhost\//, 'file:///'))
  } catch {
    return undefined
  }
}
