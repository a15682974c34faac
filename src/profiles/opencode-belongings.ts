import type { Belongings, FoundRule, FoundSettings, Unusable } from '../core/profile/belongings.ts'
import { join } from 'node:path'
import { isPlainObject } from '../base/plain-object.ts'
import { configFolder } from './shared/home-folders.ts'
import { commandRule } from './shared/found-rules.ts'
import { joined, serversIn } from './shared/found-servers.ts'
import { idOf, rowOf } from './shared/jsonl.ts'

/** `{env:NAME}` is a variable in OpenCode; `{file:path}` is the content of a file, which termaite does not insert. */
const form = {
  text: (written: string) =>
    /\{file:/.test(written) || /\$\{\w/.test(written) ? undefined : written.replaceAll(/\{env:(\w+)\}/g, '${$1}'),
}

/** Our name for each tool of OpenCode that rules can name. */
const tools: Readonly<Record<string, string>> = {
  bash: 'bash',
  read: 'file_reader',
  edit: 'Edit',
  glob: 'glob',
  grep: 'grep_search',
  list: 'ls',
  webfetch: 'web_fetch',
  websearch: 'web_search',
  task: 'subagent',
  skill: 'load_skill',
}

const actions: Readonly<Record<string, FoundRule['list']>> = { allow: 'allow', ask: 'ask', deny: 'deny' }

/**
 * `"permission": {"bash": {"*": "ask", "git *": "allow"}, "edit": "deny"}`. In OpenCode the last matching pattern wins, in termaite the
 * strictest rule. A pattern is therefore left out if a later one with another decision may match the same text.
 */
function permissions(found: unknown): FoundSettings {
  if (!isPlainObject(found)) return {}
  const rules: FoundRule[] = []
  const unusable: Unusable[] = []
  for (const [tool, said] of Object.entries(found)) {
    const ours = rowOf(tools, tool)
    const entries = isPlainObject(said) ? Object.entries(said) : [['*', said] as const]
    for (const [at, [pattern, action]] of entries.entries()) {
      const list = rowOf(actions, action)
      const what = `rule ${idOf(action)} ${tool}${pattern === '*' ? '' : ` ${pattern}`}`
      const later = entries.slice(at + 1)
      const leave = (why: string) => unusable.push({ what, why })
      if (ours === undefined || list === undefined) leave(`termaite has no rule like it for ${tool}`)
      // A first pattern for everything is the default. If later patterns say more, termaite's own mode decides instead.
      else if (pattern === '*' && later.length > 0 && list === 'ask') continue
      else if (later.some(([other, how]) => how !== action && mayOverlap(pattern, other)))
        leave('a later pattern may win over it there, and here the strictest rule wins')
      else if (pattern === '*') rules.push({ list, rule: ours })
      else {
        const rule = ours === 'bash' ? shellRule(pattern) : undefined
        if (rule === undefined) leave('its pattern means something else here')
        else rules.push({ list, rule })
      }
    }
  }
  return { rules, unusable }
}

/** Whether one text may match both patterns, judged by the text before their first star. */
function mayOverlap(one: string, other: string): boolean {
  const [a, b] = [one, other].map((pattern) => pattern.split(/[*?]/)[0]!)
  return a!.startsWith(b!) || b!.startsWith(a!)
}

/** `git *` means commands that begin with `git`; a pattern without a star is the whole command. */
function shellRule(pattern: string): string | undefined {
  const words = /^([^*?]+) \*$/.exec(pattern)?.[1]
  if (words !== undefined) return commandRule(words.split(' '))
  return /^[\w./:@%+=, -]+$/.test(pattern) ? `bash(${pattern})` : undefined
}

/** `opencode.json`: `{"mcp": {"name": {"type": "local", "command": ["node", "x.js"], "environment": {}}}, "permission": {…}}` */
function settings(value: unknown): FoundSettings {
  if (!isPlainObject(value)) return {}
  const inline = ['command', 'agent'].filter((key) => isPlainObject(value[key]))
  return joined(serversIn(value.mcp, form), permissions(value.permission), {
    unusable: inline.map((key) => ({
      what: `each ${key} in the settings`,
      why: 'termaite reads commands and subagents from Markdown files alone',
    })),
  })
}

const names = ['opencode.json', 'opencode.jsonc']

export const opencodeBelongings: Belongings = {
  settings: ({ root, ...place }) => [
    ...names.map((name) => ({
      path: configFolder({ ...place, cwd: root }, 'opencode', name),
      owner: 'person' as const,
      format: 'json' as const,
      read: settings,
    })),
    ...names.map((name) => ({
      path: join(root, name),
      owner: 'project' as const,
      format: 'json' as const,
      read: settings,
    })),
  ],
  places({ root, ...place }) {
    const own = (name: string) => configFolder({ ...place, cwd: root }, 'opencode', name)
    return [
      { kind: 'commands', path: own('commands') },
      { kind: 'commands', path: own('command'), name: 'opencode-command' },
      { kind: 'agents', path: own('agents') },
      { kind: 'agents', path: own('agent'), name: 'opencode-agent' },
      { kind: 'skills', path: own('skills') },
      { kind: 'skills', path: own('skill'), name: 'opencode-skill' },
      { kind: 'instructions', path: own('AGENTS.md') },
    ]
  },
}
