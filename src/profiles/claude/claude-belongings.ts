import type { Belongings, FoundSettings } from '../../core/profile/belongings.ts'
import { join } from 'node:path'
import { isPlainObject } from '../../base/plain-object.ts'
import { claudeEvents, hooksIn } from '../shared/found-hooks.ts'
import { claudeRule, ruleLists } from '../shared/found-rules.ts'
import { bracedVariables, joined, serversIn } from '../shared/found-servers.ts'

/**
 * Our name for each tool of Claude Code that rules can name. Read and Edit cover all tools that read or change files, in both programs.
 */
const tools = {
  Bash: 'bash',
  Read: 'Read',
  Edit: 'Edit',
  WebFetch: 'web_fetch',
  WebSearch: 'web_search',
  Task: 'subagent',
  Agent: 'subagent',
  Skill: 'load_skill',
  Glob: 'Glob',
  Grep: 'Grep',
}

const form = { text: bracedVariables }

/** `settings.json`: `{"permissions": {"deny": ["Read(~/.ssh/**)"]}, "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": […]}]}}` */
const settings =
  (rootedAt: 'settings' | 'project') =>
  (value: unknown): FoundSettings => {
    if (!isPlainObject(value)) return {}
    return joined(
      hooksIn(value.disableAllHooks === true ? undefined : value.hooks, { events: claudeEvents }),
      ruleLists(value.permissions, claudeRule(tools, rootedAt)),
    )
  }

const servers = (value: unknown): FoundSettings => (isPlainObject(value) ? serversIn(value.mcpServers, form) : {})

/** The servers that the person added for one project alone: `projects["/the/folder"].mcpServers`. */
const local =
  (root: string) =>
  (value: unknown): FoundSettings => {
    const projects = isPlainObject(value) ? value.projects : undefined
    const found = isPlainObject(projects) && Object.hasOwn(projects, root) ? servers(projects[root]) : {}
    const why =
      'you set it up for this project alone, but in termaite the settings of a project are shared with everybody who has it'
    return { unusable: (found.servers ?? []).map(({ name }) => ({ what: `MCP server ${name}`, why })) }
  }

export const claudeBelongings: Belongings = {
  settings({ home, root, env }) {
    const own = env.CLAUDE_CONFIG_DIR || join(home, '.claude')
    const state = join(env.CLAUDE_CONFIG_DIR || home, '.claude.json')
    const inProject = { owner: 'project', format: 'json' } as const
    return [
      { path: state, owner: 'person', format: 'json', read: servers },
      { path: join(own, 'settings.json'), owner: 'person', format: 'json', read: settings('settings') },
      { path: state, owner: 'person', format: 'json', read: local(root) },
      { ...inProject, path: join(root, '.mcp.json'), inPlace: ['servers'], read: servers },
      ...['settings.json', 'settings.local.json'].map((name) => ({
        ...inProject,
        path: join(root, '.claude', name),
        inPlace: ['hooks'] as const,
        read: settings('project'),
      })),
    ]
  },
  places({ home, env }) {
    const own = env.CLAUDE_CONFIG_DIR || join(home, '.claude')
    return [
      { kind: 'commands', path: join(own, 'commands') },
      { kind: 'skills', path: join(own, 'skills') },
      { kind: 'agents', path: join(own, 'agents') },
      { kind: 'instructions', path: join(own, 'CLAUDE.md') },
    ]
  },
}
