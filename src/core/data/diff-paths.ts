const escapes: Readonly<Record<string, number>> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13, '"': 34, '\\': 92 }

/** Decodes a path in git's notation: in quotes, with escapes for bytes, if it has special characters. */
export function unquoted(text: string): string {
  if (!/^"(?:[^"\\]|\\.)*"$/s.test(text)) return text
  const bytes: number[] = []
  const inner = new TextEncoder().encode(text.slice(1, -1))
  for (let at = 0; at < inner.length; at++) {
    if (inner[at] !== 92) {
      bytes.push(inner[at]!)
      continue
    }
    const octal = /^[0-3][0-7]{2}/.exec(String.fromCharCode(...inner.subarray(at + 1, at + 4)))?.[0]
    bytes.push(
      octal === undefined ? (escapes[String.fromCharCode(inner[at + 1]!)] ?? inner[at + 1]!) : parseInt(octal, 8),
    )
    at += octal === undefined ? 1 : 3
  }
  return new TextDecoder().decode(new Uint8Array(bytes))
}

/** The path in a line that begins with `---` or `+++`; undefined for /dev/null. A time or a tab may follow the path. */
export function headerPath(text: string): string | undefined {
  const quoted = /^"(?:[^"\\]|\\.)*"/s.exec(text)?.[0]
  const path = quoted === undefined ? text.split('\t', 1)[0]! : unquoted(quoted)
  return path === '/dev/null' ? undefined : withoutSide(path)
}

/**
 * The paths in `diff --git a/… b/…`. Paths with spaces are not quoted there: both sides count as equal unless later lines say otherwise.
 */
export function gitHeaderPaths(text: string): { oldPath: string; newPath: string } {
  const quoted = /^("(?:[^"\\]|\\.)*"|[^" ]+) ("(?:[^"\\]|\\.)*"|[^"]+)$/s.exec(text)
  const half = (text.length - 1) / 2
  const [left, right] = [text.slice(0, half), text.slice(half + 1)]
  if (text[half] === ' ' && withoutSide(left) === withoutSide(right)) {
    const path = withoutSide(left)
    return { oldPath: path, newPath: path }
  }
  const at = text.includes('"') ? -1 : text.lastIndexOf(' b/')
  if (quoted && at < 0)
    return { oldPath: withoutSide(unquoted(quoted[1]!)), newPath: withoutSide(unquoted(quoted[2]!)) }
  return at < 0
    ? { oldPath: text, newPath: text }
    : { oldPath: withoutSide(text.slice(0, at)), newPath: text.slice(at + 3) }
}

/** The path without the letter for its side (depending on settings, git also uses i, w, c and o). */
const withoutSide = (path: string) => path.replace(/^[abciwo]\//, '')

/** Encodes a path in git's notation; the reverse of `unquoted`. */
export function quoted(path: string): string {
  if (!/[\u0000-\u001f"\\\u007f]/.test(path)) return path
  const escaped = [...path].map((char) => {
    const code = char.charCodeAt(0)
    if (char === '"' || char === '\\') return `\\${char}`
    return code < 32 || code === 127 ? `\\${code.toString(8).padStart(3, '0')}` : char
  })
  return `"${escaped.join('')}"`
}
