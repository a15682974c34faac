import type { FoundRule, FoundSettings, Unusable } from '../../core/profile/belongings.ts'
import { isPlainObject } from '../../base/plain-object.ts'
import { textsIn } from './found-servers.ts'
import { rowOf } from './jsonl.ts'

type List = FoundRule['list']
const lists: readonly List[] = ['deny', 'ask', 'allow']

/** One of our rules, or the reason why none of ours means the same. */
export type Translated = { rule: string } | { why: string }

/** Parses the rule lists of Claude Code and of CLIs with the same format. */
export function ruleLists(found: unknown, translate: (rule: string, list: List) => Translated): FoundSettings {
  if (!isPlainObject(found)) return {}
  const rules: FoundRule[] = []
  const unusable: Unusable[] = []
  for (const list of lists)
    for (const written of textsIn(found[list])) {
      const read = translate(written.trim(), list)
      if ('rule' in read) rules.push({ list, rule: read.rule })
      else unusable.push({ what: `rule ${list} ${written}`, why: read.why })
    }
  return { rules, unusable }
}

/** A command that begins with these words, as one of our rules; undefined if a word would need quotes. */
export function commandRule(words: readonly string[]): string | undefined {
  if (words.length === 0 || !words.every((word) => /^[\w./:@%+=,-]+$/.test(word))) return undefined
  return `bash(${words.join(' ')}:*)`
}

/** Translates a rule in Claude Code's syntax. `tools` gives our name for each tool of the CLI. */
export function claudeRule(tools: Readonly<Record<string, string>>, rootedAt: 'settings' | 'project') {
  return (written: string, list: List): Translated => {
    if (/^mcp__[\w-]+$/.test(written)) return { rule: written }
    const [, tool = '', spec] = /^([A-Za-z_]\w*)(?:\(([^]*)\))?$/.exec(written) ?? []
    const ours = rowOf(tools, tool)
    if (ours === undefined)
      return {
        why: tool === '' ? 'it is not a rule of a known form' : `termaite has no tool that does the same as ${tool}`,
      }
    if (spec === undefined || spec === '*') return { rule: ours }
    if (ours === 'bash') return shellRule(spec, list)
    if (ours === 'web_fetch')
      return /^domain:[\w.*-]+$/.test(spec)
        ? { rule: `web_fetch(${spec})` }
        : { why: 'termaite knows only domains here' }
    if (ours === 'Read' || ours === 'Edit') return pathRule(ours, spec, list, rootedAt)
    return { why: `termaite has no rules for only some uses of ${tool}` }
  }
}

/**
 * In Claude Code `git *` and `git:*` are the same rule: commands that begin with `git`. In termaite a star behind a space needs at least
 * one word.
 */
function shellRule(spec: string, list: List): Translated {
  const words = /^([^*?\\]+?)(?::\*| \*)$/.exec(spec)?.[1]
  if (words !== undefined) return { rule: `bash(${words}:*)` }
  if (!/[*?\\]/.test(spec)) return { rule: `bash(${spec})` }
  if (list === 'allow') return { why: 'a star inside a command allows more than it seems to' }
  return /[?\\]/.test(spec) || /:\*./.test(spec)
    ? { why: 'its pattern means something else here' }
    : { rule: `bash(${spec})` }
}

/**
 * Paths relative to the folder of a session are treated as relative to the project in a rule that forbids, and dropped in a rule that
 * allows.
 */
function pathRule(tool: string, spec: string, list: List, rootedAt: 'settings' | 'project'): Translated {
  if (/[[\]{}!\\]/.test(spec) || spec.endsWith('/')) return { why: 'its pattern means something else here' }
  if (spec.startsWith('//') || spec.startsWith('~/')) return { rule: `${tool}(${spec})` }
  if (spec.startsWith('/') && rootedAt === 'settings') return { why: 'its path begins at the settings file' }
  if (spec.startsWith('../')) return { why: 'its path leads out of the project' }
  if (list === 'allow') return { why: 'its path begins at the folder in which the CLI is started' }
  return { rule: `${tool}(${spec})` }
}
