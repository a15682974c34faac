import { basename, isAbsolute, join, relative, sep } from 'node:path'
import type { Ground } from '../places.ts'
import type { Part, Touched } from '../shell/judgement.ts'
import { quoted } from '../shell/simple.ts'
import type { Act } from './act.ts'
import { hasStar, pathPattern, textPattern, unescaped } from './glob.ts'
import type { Rule } from './rule.ts'
import { toolsOf } from './rule.ts'

/** Whether a rule that forbids or asks is about this call: in doubt it is, so every spelling is tried. */
export function concerns(rule: Rule, act: Act, input: unknown, ground: Ground): boolean {
  const tools = toolsOf(rule.tool)
  if (tools.some((tool) => isNamed(tool, act.name))) {
    if (rule.spec === undefined) return true
    if (act.command !== undefined)
      return (
        isText(rule.spec, act.command) ||
        act.parts.some((part) => spellings(part).some((text) => isText(rule.spec!, text)))
      )
    return act.parts.some((part) => covers(rule.spec!, part, act, input, ground, 'either'))
  }
  // What a file tool may not touch, a shell may not either.
  const spec = rule.spec
  if (act.command === undefined || spec === undefined) return false
  const reads = tools.includes('file_reader')
  const writes = tools.some((tool) => tool === 'file_editor' || tool === 'file_creator')
  return act.parts.some((part) =>
    part.paths.some((path) => (reads || (writes && path.how !== 'read')) && isAt(spec, path, ground, 'either')),
  )
}

/** Whether a rule allows this part of a call: only what it plainly means. */
export function allows(rule: Rule, part: Part, act: Act, input: unknown, ground: Ground): boolean {
  if (!toolsOf(rule.tool).some((tool) => isNamed(tool, act.name))) return false
  if (rule.spec === undefined) return true
  if (act.command === undefined) return covers(rule.spec, part, act, input, ground, 'real')
  if (!hasStar(rule.spec) && unescaped(rule.spec) === act.command.trim()) return true
  return part.argv !== undefined && isText(rule.spec, part.argv.map(quoted).join(' '))
}

function covers(spec: string, part: Part, act: Act, input: unknown, ground: Ground, which: 'real' | 'either'): boolean {
  const domain = /^domain:\s*(.+)$/.exec(spec)?.[1]
  if (domain !== undefined) return act.host !== undefined && textPattern(domain.toLowerCase()).test(act.host)
  if (part.paths.length > 0) return part.paths.every((path) => isAt(spec, path, ground, which))
  return Object.values((input ?? {}) as object).some(
    (value) => typeof value === 'string' && textPattern(spec).test(value),
  )
}

/** `server__*` and the like; a server's name alone means all its tools. */
function isNamed(tool: string, name: string): boolean {
  if (hasStar(tool)) return textPattern(tool).test(name)
  return tool === name || (/^mcp__[^_]+(?:_[^_]+)*$/.test(tool) && name.startsWith(`${tool}__`))
}

/** `npm test:*` is the beginning of a command, at the end of a word; a star anywhere else is anything. */
function isText(spec: string, text: string): boolean {
  const command = text.trim()
  if (spec.endsWith(':*')) {
    const start = unescaped(spec.slice(0, -2))
    return command === start || command.startsWith(`${start} `)
  }
  return textPattern(spec.trim()).test(command)
}

/** A part in every way that a rule might mean it. */
function spellings({ text, argv }: Part): string[] {
  if (!argv) return [text]
  const short = [basename(argv[0]!), ...argv.slice(1)]
  return [text, ...[argv, short].flatMap((words) => [words.join(' '), words.map(quoted).join(' ')])]
}

/** `src/**` and `/src` begin at the project, `//` at the top of the disk, `~/` at home; a bare name is meant in any folder. */
function isAt(spec: string, { path, real }: Touched, { root, home }: Ground, which: 'real' | 'either'): boolean {
  const pattern = placed(spec, root, home)
  const test = pathPattern(pattern)
  return test.test(real) || (which === 'either' && test.test(path))
}

function placed(spec: string, root: string, home: string): string {
  const base = (folder: string) => folder.replace(/[\\*?]/g, '\\$&')
  if (spec.startsWith('//')) return spec.slice(1)
  if (spec.startsWith('~/')) return `${base(home)}/${spec.slice(2)}`
  const own = spec.replace(/^\.?\//, '')
  return spec.includes('/') ? `${base(root)}/${own}` : `${base(root)}/**/${own}`
}

/** A path as a rule names it. */
export function namedAt(path: string, { root }: Ground): string {
  const inside = relative(root, path)
  const out = inside === '' || inside.startsWith(`..${sep}`) || inside === '..' || isAbsolute(inside)
  return out ? `/${path}` : join('/', inside)
}
