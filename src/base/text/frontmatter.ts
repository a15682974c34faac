/** The fields between two lines of `---` at the beginning of a text, and the text after them. Nested maps are left out. */
type Frontmatter = { fields: Record<string, string | string[]>; body: string }

const head = /^---[ \t]*\r?\n(?<fields>[^]*?)^---[ \t]*(?:\r?\n|$)/m
const field = /^([\w-]+):(?:[ \t]+(.*))?$/

/** Splits a text into its raw frontmatter and its body; undefined when the frontmatter has no end. */
export function headAndBody(text: string): { head: string; body: string } | undefined {
  const whole = text.replace(/^\uFEFF/, '')
  if (!/^---[ \t]*\r?$/m.test(whole.slice(0, whole.indexOf('\n') + 1))) return { head: '', body: whole.trim() }
  const match = head.exec(whole)
  return match ? { head: match.groups!.fields!, body: whole.slice(match[0].length).trim() } : undefined
}

/**
 * Parses a text's frontmatter; undefined if it has no end. It does not use a YAML parser, which is slow to load and refuses common
 * mistakes, such as a second colon in a line.
 */
export function frontmatter(text: string): Frontmatter | undefined {
  const cut = headAndBody(text)
  return cut && { fields: fieldsOf(cut.head.split(/\r?\n/)), body: cut.body }
}

/**
 * The fields of a text's frontmatter that contain a map, such as `tools:` with a line `bash: false` below it. An entry has all values
 * that are in it or below it.
 */
export function nestedFields(text: string): Record<string, Record<string, string[]>> {
  const maps = new Map<string, Map<string, string[]>>()
  let map: Map<string, string[]> | undefined
  let entry: { indent: number; values: string[] } | undefined
  for (const line of headAndBody(text)?.head.split(/\r?\n/) ?? []) {
    const [, name, first = ''] = field.exec(line) ?? []
    if (name !== undefined) {
      map = first.trim() === '' || first.startsWith('#') ? new Map() : undefined
      entry = undefined
      if (map) maps.set(name, map)
      continue
    }
    const [, indent, key, value = ''] = /^([ \t]+)("[^"]*"|'[^']*'|[^\s:#-][^:]*):(?:[ \t]+(.*))?$/.exec(line) ?? []
    if (!map || indent === undefined || key === undefined) continue
    const values = unquote(value.replace(/\s+#.*$/, '').trim())
    if (entry && indent.length > entry.indent) {
      if (values !== '') entry.values.push(values)
      continue
    }
    entry = { indent: indent.length, values: values === '' ? [] : [values] }
    map.set(unquote(key.trim()), entry.values)
  }
  return Object.fromEntries(
    [...maps].filter(([, one]) => one.size > 0).map(([name, one]) => [name, Object.fromEntries(one)]),
  )
}

function fieldsOf(lines: string[]): Record<string, string | string[]> {
  const fields = new Map<string, string | string[]>()
  for (let at = 0; at < lines.length;) {
    const [, name, first = ''] = field.exec(lines[at++]!) ?? []
    if (name === undefined) continue
    const start = at
    while (at < lines.length && /^(?:[ \t]|-[ \t]|$)/.test(lines[at]!)) at++
    const value = valueOf(first.trim(), lines.slice(start, at))
    if (value !== undefined) fields.set(name, value)
  }
  return Object.fromEntries(fields)
}

function valueOf(first: string, more: string[]): string | string[] | undefined {
  const block = /^([|>])[+-]?\d?$/.exec(first)
  if (block) return block[1] === '|' ? removeIndent(more).join('\n').trim() : foldLines(more)
  if (first === '' || first.startsWith('#')) return blockValue(more)
  const value = [first, ...more.map((line) => line.trim())].join(' ').trim()
  const list = /^\[(.*)\]$/.exec(value)
  return list ? unquoteItems(list[1]!.split(',')) : unquote(value)
}

/** Parses a value that begins on the next line: a list, or a text. */
function blockValue(more: string[]): string | string[] | undefined {
  const lines = more.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'))
  if (lines.length === 0) return undefined
  if (lines.every((line) => line.startsWith('- '))) return unquoteItems(lines.map((line) => line.slice(2)))
  return lines.some((line) => field.test(line)) ? undefined : unquote(lines.join(' '))
}

const unquoteItems = (items: string[]) => items.map((item) => unquote(item.trim())).filter((item) => item !== '')

/** Joins lines to one; an empty line stays a line break. */
function foldLines(lines: string[]): string {
  const parts = removeIndent(lines)
    .join('\n')
    .trim()
    .split(/\n{2,}/)
  return parts.map((part) => part.replaceAll('\n', ' ')).join('\n')
}

function removeIndent(lines: string[]): string[] {
  const indent = /^[ \t]*/.exec(lines.find((line) => line.trim() !== '') ?? '')![0].length
  return lines.map((line) => line.slice(indent).trimEnd())
}

function unquote(value: string): string {
  if (/^'.*'$/s.test(value)) return value.slice(1, -1).replaceAll("''", "'")
  if (!/^".*"$/s.test(value)) return value
  try {
    return JSON.parse(value) as string
  } catch {
    return value.slice(1, -1)
  }
}
