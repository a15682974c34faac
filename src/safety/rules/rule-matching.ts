import type { Tool } from '../../core/work/tool.ts'
import type { ProjectBounds } from '../path-location.ts'
import type { Part, Touched } from '../shell/shell-judgement.ts'
import type { JudgedCall } from './judged-call.ts'
import type { Rule } from './permission-rule.ts'
import { basename, isAbsolute, join, relative, sep } from 'node:path'
import { shellWord } from '../../base/text/shell-word.ts'
import { isPlainRemote } from './command-place.ts'
import { isRuleFor } from './permission-rule.ts'
import { isCarried } from '../shell/shell-judgement.ts'

/**
 * Whether a rule that denies or asks applies to this call. In doubt it does, so every spelling of a command is tried. `tools` are all
 * tools: a rule about a file tool also applies to shell commands that touch the same files.
 */
export function concerns(
  rule: Rule,
  call: JudgedCall,
  input: unknown,
  bounds: ProjectBounds,
  tools: readonly Tool[],
): boolean {
  const { spec } = rule
  if (isAbout(rule, call) || call.limits?.includes(rule.tool)) {
    if (spec === undefined) return true
    if (call.command === undefined) return call.parts.some((part) => covers(spec, part, call, input, bounds, 'either'))
    return isText(spec, call.command) || call.parts.some((part) => spellings(part).some((text) => isText(spec, text)))
  }
  if (call.command === undefined || spec === undefined) return false
  const covered = tools.filter((tool) => isRuleFor(rule, tool)).map(({ coversShell }) => coversShell)
  const [reads, writes] = [covered.includes('read'), covered.includes('write')]
  return call.parts.some((part) =>
    part.paths.some((path) => (reads || (writes && path.how !== 'read')) && isAt(spec, path, bounds, 'either')),
  )
}

/** Whether a rule allows this part of a call; only the plain meaning of the rule counts. */
export function allows(rule: Rule, part: Part, call: JudgedCall, input: unknown, bounds: ProjectBounds): boolean {
  if (!isAbout(rule, call)) return false
  if (rule.spec === undefined) return true
  if (call.command === undefined) return covers(rule.spec, part, call, input, bounds, 'real')
  // The text of a package script may have changed since the rule was made.
  const carried = part.script === undefined || isCarried(part)
  if (carried && isWhole(rule, call)) return true
  // A person who allowed a beginning did not see the rest, so nothing that cannot be read or undone is included.
  if (rule.answered && rule.spec.endsWith(':*')) {
    if (part.class === 'dynamic' || part.class === 'destructive' || !isPlainRemote(part.argv ?? [])) return false
  }
  const means = (argv: readonly string[] | undefined) =>
    argv !== undefined && isText(rule.spec!, argv.map(shellWord).join(' '))
  return means(part.argv) || (carried && means(part.script))
}

/** Whether a rule is the literal text of a whole command. */
export const isWhole = (rule: Rule, call: JudgedCall): boolean =>
  isAbout(rule, call) &&
  rule.spec !== undefined &&
  call.command !== undefined &&
  !hasStar(rule.spec) &&
  unescapePattern(rule.spec) === withoutBlanks(call.command)

/**
 * A command without surrounding blanks and line ends, which a shell removes too. Other Unicode blanks belong to a word: with one of them
 * at its end, a command names another program.
 */
export const withoutBlanks = (command: string): string => command.replace(/^[ \t\n]+|[ \t\n]+$/g, '')

/** Whether a rule names the tool of a call. */
export const isAbout = (rule: Rule, { name, aliases }: JudgedCall) =>
  isNamed(rule.tool, name) || aliases.includes(rule.tool)

function covers(
  spec: string,
  part: Part,
  call: JudgedCall,
  input: unknown,
  bounds: ProjectBounds,
  which: 'real' | 'either',
): boolean {
  const domain = /^domain:\s*(.+)$/.exec(spec)?.[1]
  if (domain !== undefined) return call.host !== undefined && textPattern(domain.toLowerCase()).test(call.host)
  if (part.paths.length > 0) return part.paths.every((path) => isAt(spec, path, bounds, which))
  return Object.values(input ?? {}).some((value) => typeof value === 'string' && textPattern(spec).test(value))
}

/** Whether a rule's tool name matches `name`: a star matches anything, and `mcp__server` matches all tools of that server. */
function isNamed(tool: string, name: string): boolean {
  if (hasStar(tool)) return textPattern(tool).test(name)
  return tool === name || (/^mcp__[^_]+(?:_[^_]+)*$/.test(tool) && name.startsWith(`${tool}__`))
}

/** `npm test:*` matches commands that begin with these whole words; a star anywhere else matches anything. */
function isText(spec: string, text: string): boolean {
  const command = text.trim()
  if (spec.endsWith(':*')) {
    const start = unescapePattern(spec.slice(0, -2))
    return command === start || command.startsWith(`${start} `)
  }
  return textPattern(spec.trim()).test(command)
}

/** All spellings of a part that a rule might mean. */
function spellings({ text, argv, words = argv }: Part): string[] {
  if (!words) return [text]
  const [program = '', ...rest] = words
  const names = [...new Set([program, basename(program)])]
  const all = withoutFlags(rest).flatMap((one) => names.map((name) => [name, ...one]))
  return [text, ...all.flatMap((one) => [one.join(' '), one.map(shellWord).join(' ')])]
}

const mostFlags = 40

/**
 * The arguments of a program without each possible prefix of flags: `-C x push` is also `push`. The word after a flag may be its value,
 * so both readings count.
 */
function withoutFlags(args: readonly string[]): string[][] {
  const starts = new Set([0])
  for (const at of starts) {
    if (starts.size > mostFlags || !args[at]?.startsWith('-')) continue
    starts.add(at + 1)
    if (args[at + 1] !== undefined) starts.add(at + 2)
  }
  return [...starts].map((at) => args.slice(at))
}

/** `src/**` and `/src` start at the project, `//` at the root of the disk, `~/` at home; a bare name matches in any folder. */
function isAt(spec: string, { path, real }: Touched, { root, home }: ProjectBounds, which: 'real' | 'either'): boolean {
  const pattern = absolutePattern(spec, root, home)
  const test = pathPattern(pattern)
  return test.test(real) || (which === 'either' && test.test(path))
}

function absolutePattern(spec: string, root: string, home: string): string {
  const base = (folder: string) => folder.replace(/[\\*?]/g, '\\$&')
  if (spec.startsWith('//')) return spec.slice(1)
  if (spec.startsWith('~/')) return `${base(home)}/${spec.slice(2)}`
  const own = spec.replace(/^\.?\//, '')
  return spec.includes('/') ? `${base(root)}/${own}` : `${base(root)}/**/${own}`
}

/** A path as it is written in a rule. */
export function rulePath(path: string, { root }: ProjectBounds): string {
  const inside = relative(root, path)
  const out = inside === '' || inside.startsWith(`..${sep}`) || inside === '..' || isAbsolute(inside)
  return out ? `/${path}` : join('/', inside)
}

/** A pattern for paths: `*` matches within a folder, `**` across folders; a backslash escapes a character. */
function pathPattern(pattern: string): RegExp {
  return new RegExp(`^${patternSource(pattern, '[^/]*')}(?:/.*)?$`, 's')
}

/** A pattern for other texts: `*` matches anything. */
function textPattern(pattern: string): RegExp {
  return new RegExp(`^${patternSource(pattern, '.*')}$`, 's')
}

function patternSource(pattern: string, star: string): string {
  return pattern.replace(/\\(.)|\*\*\/|\*\*|\*|\?|[^\\*?]/gsu, (part, escaped: string | undefined) => {
    if (escaped !== undefined) return literal(escaped)
    if (part === '**/') return '(?:.*/)?'
    if (part === '**') return '.*'
    if (part === '*') return star
    return part === '?' ? '[^/]' : literal(part)
  })
}

const literal = (text: string) => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')

/** Escapes a text, so that as a pattern it matches only itself. */
export const escapePattern = (text: string) => text.replace(/[\\*?]/g, '\\$&')

const hasStar = (pattern: string) => /(?<!\\)(?:\\\\)*[*]/.test(pattern)

const unescapePattern = (pattern: string) => pattern.replace(/\\([\\*?])/g, '$1')
