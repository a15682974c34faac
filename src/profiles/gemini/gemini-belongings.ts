import type { Belongings, FoundRule, FoundSettings, Unusable } from '../../core/profile/belongings.ts'
import type { Translated } from '../shared/found-rules.ts'
import { join } from 'node:path'
import { isPlainObject } from '../../base/plain-object.ts'
import { hooksIn } from '../shared/found-hooks.ts'
import { commandRule } from '../shared/found-rules.ts'
import { dollarVariables, joined, serversIn, textsIn } from '../shared/found-servers.ts'
import { idOf, rowOf } from '../shared/jsonl.ts'

const form = {
  text: dollarVariables,
  /** `httpUrl` is an address for streamable HTTP, `url` one for server-sent events. */
  address: ({ httpUrl }: Readonly<Record<string, unknown>>) => (typeof httpUrl === 'string' ? 'http' : 'sse'),
} as const

/** Our name for each tool of Gemini CLI that rules can name. */
const tools: Readonly<Record<string, string>> = {
  run_shell_command: 'bash',
  read_file: 'file_reader',
  glob: 'glob',
  grep_search: 'grep_search',
  list_directory: 'ls',
  google_web_search: 'web_search',
  web_fetch: 'web_fetch',
}

/** `run_shell_command(git status)` means commands that begin with these words. */
function translated(written: string): Translated {
  const [, tool = '', words] = /^(\w+)(?:\(([^()]*)\))?$/.exec(written.trim()) ?? []
  const ours = rowOf(tools, tool)
  if (ours === undefined)
    return {
      why: tool === '' ? 'it is not a rule of a known form' : `termaite has no tool that does the same as ${tool}`,
    }
  if (words === undefined) return { rule: ours }
  const rule = ours === 'bash' ? commandRule(words.trim().split(/\s+/)) : undefined
  return rule === undefined ? { why: 'its pattern means something else here' } : { rule }
}

/** `settings.json`: `{"mcpServers": {…}, "tools": {"allowed": […], "exclude": […]}, "hooks": {"BeforeTool": […]}}` */
function settings(value: unknown): FoundSettings {
  if (!isPlainObject(value)) return {}
  const servers = serversIn(value.mcpServers, form)
  const config = isPlainObject(value.hooksConfig) ? value.hooksConfig : {}
  const hooks = hooksIn(config.enabled === false ? undefined : value.hooks, {
    events: ['SessionStart', 'SessionEnd', 'Notification'],
    // Milliseconds.
    seconds: (timeout) => timeout / 1000,
  })
  const named = new Set(textsIn(config.disabled))
  const listed = isPlainObject(value.tools) ? value.tools : {}
  const from = (list: FoundRule['list'], names: unknown) =>
    textsIn(names).map((written) => ({ list, written, read: translated(written) }))
  const rules = [
    ...from('deny', listed.exclude),
    ...from('ask', listed.confirmationRequired),
    ...from('allow', listed.allowed),
  ]
  return joined(
    servers,
    { ...hooks, hooks: hooks.hooks?.filter(({ command }) => !named.has(command)) ?? [] },
    {
      rules: rules.flatMap(({ list, read }) => ('rule' in read ? [{ list, rule: read.rule }] : [])),
      unusable: rules.flatMap(({ list, written, read }) =>
        'why' in read ? [{ what: `rule ${list} ${written}`, why: read.why }] : [],
      ),
    },
  )
}

const decisions: Readonly<Record<string, FoundRule['list']>> = { allow: 'allow', deny: 'deny', ask_user: 'ask' }

/** Fields of a rule that mean the same in termaite, or nothing: any other field narrows the rule in an unknown way. */
const knownFields = new Set(['toolName', 'commandPrefix', 'decision', 'priority', 'denyMessage', 'name', 'description'])

/**
 * `policies/*.toml`: `[[rule]] toolName, commandPrefix, decision, priority`. In Gemini CLI the highest priority wins, in termaite the
 * strictest rule: an allowing rule above a forbidding one would change its meaning, so then no rule of the file is used.
 */
function policies(value: unknown): FoundSettings {
  const found: unknown[] = isPlainObject(value) && Array.isArray(value.rule) ? value.rule : []
  const rules: (FoundRule & { priority: number })[] = []
  const unusable: Unusable[] = []
  for (const one of found) {
    if (!isPlainObject(one)) continue
    const list = rowOf(decisions, one.decision)
    const prefixes = [one.commandPrefix ?? []].flat().filter((prefix) => typeof prefix === 'string')
    const names = [one.toolName ?? (prefixes.length > 0 ? 'run_shell_command' : [])].flat().map(idOf)
    const odd = Object.keys(one).find((field) => !knownFields.has(field))
    const written = prefixes.length > 0 ? prefixes.map((prefix) => `run_shell_command(${prefix})`) : names
    for (const text of written) {
      const read = translated(text)
      const what = list === undefined ? `rule ${text}` : `rule ${list} ${text}`
      if (list === undefined) unusable.push({ what, why: 'it has no decision that termaite knows' })
      else if (odd !== undefined) unusable.push({ what, why: `it depends on ${odd}, which termaite does not know` })
      else if ('why' in read) unusable.push({ what, why: read.why })
      else rules.push({ list, rule: read.rule, priority: Number(one.priority ?? 0) })
    }
  }
  const strictness = { deny: 0, ask: 1, allow: 2 }
  const crossed = rules.find((loose) =>
    rules.some((strict) => strictness[strict.list] < strictness[loose.list] && strict.priority <= loose.priority),
  )
  if (crossed)
    return {
      unusable: [
        ...unusable,
        ...rules.map(({ list, rule }) => ({
          what: `rule ${list} ${rule}`,
          why: `the file lets ${crossed.rule} win over stricter rules by its priority, and here the strictest rule wins`,
        })),
      ],
    }
  return { rules: rules.map(({ list, rule }) => ({ list, rule })), unusable }
}

export const geminiBelongings: Belongings = {
  settings({ home, root, env }) {
    const own = join(env.GEMINI_CLI_HOME || home, '.gemini')
    return [
      { path: join(own, 'settings.json'), owner: 'person', format: 'json', read: settings },
      { path: join(own, 'policies'), ending: '.toml', owner: 'person', format: 'toml', read: policies },
      { path: join(root, '.gemini', 'settings.json'), owner: 'project', format: 'json', read: settings },
    ]
  },
  places({ home, env }) {
    const own = join(env.GEMINI_CLI_HOME || home, '.gemini')
    return [
      { kind: 'commands', path: join(own, 'commands') },
      { kind: 'skills', path: join(own, 'skills') },
      { kind: 'skills', path: join(home, '.agents', 'skills'), name: 'shared' },
      { kind: 'agents', path: join(own, 'agents') },
      { kind: 'instructions', path: join(own, 'GEMINI.md') },
    ]
  },
}
