import type { Belongings, FoundSettings } from '../../core/profile/belongings.ts'
import { join } from 'node:path'
import { isPlainObject } from '../../base/plain-object.ts'
import { claudeEvents, hooksIn } from '../shared/found-hooks.ts'
import { claudeRule, ruleLists } from '../shared/found-rules.ts'
import { dollarVariables, joined, serversIn } from '../shared/found-servers.ts'

const form = {
  text: dollarVariables,
  address: ({ httpUrl }: Readonly<Record<string, unknown>>) => (typeof httpUrl === 'string' ? 'http' : 'sse'),
} as const

/** Our name for each tool of Qwen Code that rules can name. In its rules a domain includes subdomains, so WebFetch is left out. */
const tools = {
  ...{ Bash: 'bash', Shell: 'bash', run_shell_command: 'bash' },
  ...{ Read: 'Read', Edit: 'Edit', ReadFile: 'file_reader', read_file: 'file_reader' },
  ...{ Grep: 'grep_search', grep_search: 'grep_search', Glob: 'glob', glob: 'glob' },
  ...{ ListFiles: 'ls', list_directory: 'ls', WebFetch: 'web_fetch', web_fetch: 'web_fetch' },
  ...{ Agent: 'subagent', Skill: 'load_skill' },
}

/** `settings.json`: servers as in Gemini CLI, hooks and rules as in Claude Code. */
function settings(value: unknown): FoundSettings {
  if (!isPlainObject(value)) return {}
  const hooks = hooksIn(value.disableAllHooks === true ? undefined : value.hooks, {
    events: claudeEvents,
    refused: (event) =>
      event.endsWith('ToolUse') ? 'it is given Qwen Code’s names of tools there, and termaite’s here' : undefined,
    // "for command hooks a value of 1000 or more is still read as milliseconds"
    seconds: (timeout) => (timeout >= 1000 ? timeout / 1000 : timeout),
  })
  return joined(serversIn(value.mcpServers, form), hooks, ruleLists(value.permissions, claudeRule(tools, 'project')))
}

export const qwenBelongings: Belongings = {
  settings({ home, root, env }) {
    const own = env.QWEN_HOME || join(home, '.qwen')
    return [
      { path: join(own, 'settings.json'), owner: 'person', format: 'json', read: settings },
      { path: join(root, '.qwen', 'settings.json'), owner: 'project', format: 'json', read: settings },
    ]
  },
  places({ home, env }) {
    const own = env.QWEN_HOME || join(home, '.qwen')
    return [
      { kind: 'commands', path: join(own, 'commands') },
      { kind: 'skills', path: join(own, 'skills') },
      { kind: 'skills', path: join(home, '.agents', 'skills'), name: 'shared' },
      { kind: 'agents', path: join(own, 'agents') },
      { kind: 'instructions', path: join(own, 'QWEN.md') },
    ]
  },
}
