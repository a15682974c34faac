import type { Node } from 'web-tree-sitter'
import type { Word } from './simple-command.ts'

export type WordWorld = { home: string; cwds: readonly string[] | undefined; root: string; sources: Sources }

/** A character, and whether it was quoted. */
type Letter = { c: string; q: boolean }
type Texts = Letter[][]

/** A word with more readings than this counts as not readable. */
const mostValues = 64

/** Finds all texts that a word of a script can stand for. */
export function wordOf(node: Node, world: WordWorld, depth = 0): Word {
  const whole = read(node, world, depth)
  const texts = whole?.flatMap(braced)
  if (!whole || !texts || texts.length === 0 || texts.length > mostValues) return { text: node.text }
  // Several readings of several words each cannot be told apart.
  const spread = texts.length > whole.length
  if (spread && whole.length > 1) return { text: node.text }
  // Braces come first: in `$A{b,c}` the variables are Ab and Ac, and each `~` begins a word.
  if (spread && /[$~]/.test(node.text)) return { text: node.text }
  const values: string[] = []
  let glob = false
  for (const letters of texts) {
    const value = tilde(node.text, letters, world.home)
    if (value === undefined) return { text: node.text }
    // In some shells `~` in `a=~/b` is the home too.
    if (letters.some(({ c, q }, i) => c === '~' && !q && /[=:]/.test(letters[i - 1]?.c ?? '')))
      return { text: node.text }
    const wild = letters.some(({ c, q }) => !q && /[*?[]/.test(c))
    // A quoted star beside a real one cannot be told from it afterwards.
    if (wild && letters.some(({ c, q }) => q && /[*?[\]\\]/.test(c))) return { text: node.text }
    glob ||= wild
    values.push(value)
  }
  return { text: node.text, values, ...(glob ? { glob } : {}), ...(spread ? { spread } : {}) }
}

function read(node: Node, world: WordWorld, depth: number): Texts | undefined {
  if (depth > 8) return undefined
  switch (node.type) {
    case 'command_name':
      return node.namedChildCount === 1 ? read(node.namedChild(0)!, world, depth) : undefined
    case 'word':
    case 'number':
      return bare(node.text)
    case 'raw_string':
      return [as(node.text.slice(1, -1), true)]
    case 'ansi_c_string':
      return node.text.includes('\\') ? undefined : [as(node.text.slice(2, -1), true)]
    case 'string':
      return joined(node, world, depth, true)
    case 'concatenation':
      return joined(node, world, depth, false)
    case 'simple_expansion':
    case 'expansion':
      return variable(node, world, depth)
    case 'arithmetic_expansion':
      return [as('0', true)]
    case 'command_substitution':
      return substituted(node.text, world)
    case 'process_substitution':
      return [as('/dev/fd/63', true)]
    default:
      return undefined
  }
}

/** Reads unquoted text; a backslash quotes one character, or removes a line end. */
function bare(text: string): Texts | undefined {
  // A dollar that the parser left unread begins an expansion, and a blank ends the word.
  if (/[$`\s;&|<>()]/.test(text.replace(/\\[^]/g, ''))) return undefined
  const letters: Letter[] = []
  for (let i = 0; i < text.length; i++) {
    if (text[i] !== '\\') letters.push({ c: text[i]!, q: false })
    else if (text[++i] !== '\n' && i < text.length) letters.push({ c: text[i]!, q: true })
  }
  return [letters]
}

const as = (text: string, q: boolean): Letter[] => [...text].map((c) => ({ c, q }))

/** Reads the parts of a string or of a joined word; between the parts there is plain text. */
function joined(node: Node, world: WordWorld, depth: number, inQuotes: boolean): Texts | undefined {
  const open = inQuotes ? (node.text.startsWith('$"') ? 2 : 1) : 0
  let at = node.startIndex + open
  const end = node.endIndex - (inQuotes ? 1 : 0)
  let texts: Texts = [[]]
  const add = (more: Texts | undefined) => {
    if (!more || texts.length * more.length > mostValues) return false
    texts = texts.flatMap((before) => more.map((after) => [...before, ...after]))
    return true
  }
  const between = (from: number, to: number) => {
    const gap = node.text.slice(from - node.startIndex, to - node.startIndex)
    if (inQuotes && /[$`]/.test(gap.replace(/\\[^]/g, ''))) return false
    return gap === '' || add(inQuotes ? [as(unescaped(gap), true)] : bare(gap))
  }
  for (const child of node.namedChildren) {
    if (child === null || child.type === 'string_content') continue
    if (!between(at, child.startIndex)) return undefined
    // As a word of its own a number is harmless; as a part of one it makes another name, and `$!` may be nothing.
    const alone = child.startIndex === node.startIndex + open && child.endIndex === end
    if (isNumber(child) && !alone) return undefined
    const inner = read(child, world, depth + 1)
    if (!add(inQuotes ? inner?.map((letters) => letters.map(({ c }) => ({ c, q: true }))) : inner)) return undefined
    at = child.endIndex
  }
  return between(at, end) ? texts : undefined
}

const isNumber = ({ type, text }: Node) => type === 'arithmetic_expansion' || /^\$\{?[?#$!]\}?$/.test(text)

const unescaped = (text: string) => text.replace(/\\(["\\$`\n])/g, (_, c: string) => (c === '\n' ? '' : c))

function variable(node: Node, world: WordWorld, depth: number): Texts | undefined {
  const name = /^\$\{?([A-Za-z_]\w*|[?#$!])\}?$/.exec(node.text)?.[1]
  if (name === undefined) return undefined
  // These expand to numbers, which are neither paths nor options.
  if (/^[?#$!]$/.test(name)) return [as('0', true)]
  const source = world.sources.get(name)
  if (source) {
    if (!source.holds(node)) return undefined
    const words = source.nodes.map((one) => wordOf(one, world, depth + 1))
    if (words.some((word) => word.values === undefined || word.glob || word.spread)) return undefined
    const values = words.flatMap((word) => word.values!)
    // The shell would split an unquoted value into words and expand its patterns.
    return values.every((value) => /^[^\s*?[\]]+$/.test(value)) ? values.map((value) => as(value, true)) : undefined
  }
  if (name === 'HOME') return [as(world.home, true)]
  if (name === 'PWD') return world.cwds?.map((cwd) => as(cwd, true))
  return undefined
}

function substituted(text: string, world: WordWorld): Texts | undefined {
  if (/^(?:\$\(\s*pwd\s*\)|`pwd`)$/.test(text)) return world.cwds?.map((cwd) => as(cwd, true))
  if (/^\$\(\s*git rev-parse --show-toplevel\s*\)$/.test(text)) return [as(world.root, true)]
  return undefined
}

/** Expands `{a,b}`; nested braces and ranges are not read. */
function braced(letters: Letter[]): Texts {
  const open = letters.findIndex(({ c, q }) => c === '{' && !q)
  const close = letters.findIndex(({ c, q }, i) => i > open && c === '}' && !q)
  if (open < 0 || close < 0) return [letters]
  const inside = letters.slice(open + 1, close)
  if (inside.some(({ c, q }) => !q && c === '{')) return []
  const choices: Letter[][] = [[]]
  for (const letter of inside)
    if (letter.c === ',' && !letter.q) choices.push([])
    else choices.at(-1)!.push(letter)
  // `{}` and `{a}` stand for themselves; `{1..3}` is a range.
  if (choices.length === 1) {
    if (inside.some(({ c }) => c === '.')) return []
    return braced(letters.slice(close + 1)).map((rest) => [...letters.slice(0, close + 1), ...rest])
  }
  return choices.flatMap((choice) => braced([...letters.slice(0, open), ...choice, ...letters.slice(close + 1)]))
}

/** Replaces an unquoted `~` by the home; another user's home is not known. */
function tilde(written: string, letters: readonly Letter[], home: string): string | undefined {
  const text = letters.map(({ c }) => c).join('')
  if (!written.startsWith('~') || /^~["']/.test(written)) return text
  return /^~(?:\/|$)/.test(written) ? home + text.slice(1) : undefined
}

/** Commands that set variables in ways that this reader does not follow. */
const setters =
  /^(?:read|mapfile|readarray|printf|getopts|unset|declare|typeset|local|export|readonly|let|eval|source|\.)$/

export type Sources = ReadonlyMap<string, { nodes: readonly Node[]; holds(at: Node): boolean }>

/**
 * The variables with one value that the script shows: assigned once, and certainly before their use.
 * Every other variable is unknown, which makes the person be asked.
 */
export function variablesOf(root: Node): Sources {
  const found = new Map<string, { nodes: Node[]; holds(at: Node): boolean } | undefined>()
  const note = (name: string | undefined, nodes: Node[], holds: (at: Node) => boolean) => {
    if (name !== undefined) found.set(name, found.has(name) ? undefined : { nodes, holds })
  }
  for (const node of root.descendantsOfType(['variable_assignment', 'for_statement', 'command', 'expansion'])) {
    if (node === null) continue
    const name = node.childForFieldName(node.type === 'for_statement' ? 'variable' : 'name')?.text
    if (node.type === 'for_statement')
      note(
        name,
        node.childrenForFieldName('value').filter((one) => one !== null),
        within(node),
      )
    else if (node.type === 'variable_assignment') {
      const value = node.childForFieldName('value')
      // `+=` and arrays give more than one value.
      const plain = value && value.type !== 'array' && node.text.startsWith(`${name}=`)
      note(name, plain ? [value] : [], plain && isFirst(node) ? (at) => at.startIndex > node.endIndex : () => false)
    } else if (node.type === 'expansion') {
      if (/^\$\{\w+:?=/.test(node.text)) found.set(/\w+/.exec(node.text)![0], undefined)
    } else if (setters.test(node.childForFieldName('name')?.text ?? '')) {
      for (const word of node.text.match(/\w+/g) ?? []) found.set(word, undefined)
    }
  }
  const sources = new Map<string, { nodes: Node[]; holds(at: Node): boolean }>()
  if (found.has('IFS')) return sources
  for (const [name, source] of found) if (source && source.nodes.length > 0) sources.set(name, source)
  return sources
}

function within(loop: Node): (at: Node) => boolean {
  const body = loop.childForFieldName('body')
  return (at) => body !== null && at.startIndex >= body.startIndex && at.endIndex <= body.endIndex
}

/** Whether an assignment always runs: at the top level, or first in a list there, and not for one command only. */
function isFirst(node: Node): boolean {
  let one = node
  let above = node.parent
  while (above?.type === 'list' && above.firstChild?.id === one.id) [one, above] = [above, above.parent]
  return above?.type === 'program'
}
