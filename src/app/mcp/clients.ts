import type { Format } from '../../mcp-config/format.ts'
import { join } from 'node:path'
import { jsonFormat } from '../../mcp-config/json.ts'
import { tomlFormat } from '../../mcp-config/toml.ts'

/** Where a program's own settings are, by what the environment says of it. */
export type Whereabouts = { home: string; env: Record<string, string | undefined>; platform: NodeJS.Platform }

/** How our server is started: a program and its words. */
export type Start = { command: string; args: string[] }

/** A program that can call our tools, and how its settings name a server: all that is known of it, as data. */
export type Client = {
  name: string
  title: string
  file(where: Whereabouts): string
  format: Format
  /** The keys under which our entry stands, its own included. */
  path: readonly string[]
  entry(start: Start): unknown
  /** What besides lets it call a server's tools without a question. */
  frees?: Record<string, unknown>
  /** Started from a desktop, where the shell's PATH is not known. */
  desktop?: true
}

const us = 'termaite'

/** What the hub's tools are called in another program. */
export const hubName = 'termaite-hub'

/** The same program, and how its settings name the hub: whoever is to work for it need not be asked before each word to it. */
export const atHub = (client: Client): Client => ({
  ...client,
  path: [...client.path.slice(0, -1), hubName],
  entry: (start) => ({ ...(client.entry(start) as object), ...client.frees }),
})
const plain = (start: Start) => ({ command: start.command, args: start.args })
const stdio = (start: Start) => ({ type: 'stdio', ...plain(start) })

const config = ({ home, env }: Whereabouts) => env.XDG_CONFIG_HOME || join(home, '.config')
const desktopConfig = (where: Whereabouts) =>
  where.platform === 'darwin' ? join(where.home, 'Library', 'Application Support') : config(where)

export const clients: readonly Client[] = [
  {
    name: 'claude',
    title: 'Claude Code',
    file: ({ home, env }) => join(env.CLAUDE_CONFIG_DIR || home, '.claude.json'),
    format: jsonFormat,
    path: ['mcpServers', us],
    entry: stdio,
  },
  {
    name: 'gemini',
    title: 'Gemini CLI',
    file: ({ home }) => join(home, '.gemini', 'settings.json'),
    format: jsonFormat,
    path: ['mcpServers', us],
    entry: plain,
    frees: { trust: true },
  },
  {
    name: 'codex',
    title: 'Codex',
    file: ({ home, env }) => join(env.CODEX_HOME || join(home, '.codex'), 'config.toml'),
    format: tomlFormat,
    path: ['mcp_servers', us],
    // By itself it gives a call one minute, whatever progress it is told of; a wait may be longer.
    entry: (start) => ({ ...plain(start), tool_timeout_sec: 3600 }),
  },
  {
    name: 'qwen',
    title: 'Qwen Code',
    file: ({ home }) => join(home, '.qwen', 'settings.json'),
    format: jsonFormat,
    path: ['mcpServers', us],
    entry: plain,
    frees: { trust: true },
  },
  {
    name: 'copilot',
    title: 'Copilot CLI',
    file: ({ home, env }) => join(env.COPILOT_HOME || join(home, '.copilot'), 'mcp-config.json'),
    format: jsonFormat,
    path: ['mcpServers', us],
    entry: (start) => ({ type: 'local', ...plain(start), tools: ['*'] }),
  },
  {
    name: 'opencode',
    title: 'opencode',
    file: (where) => join(config(where), 'opencode', 'opencode.json'),
    format: jsonFormat,
    path: ['mcp', us],
    entry: ({ command, args }) => ({ type: 'local', command: [command, ...args], enabled: true }),
  },
  {
    name: 'cursor',
    title: 'Cursor',
    file: ({ home }) => join(home, '.cursor', 'mcp.json'),
    format: jsonFormat,
    path: ['mcpServers', us],
    entry: plain,
    desktop: true,
  },
  {
    name: 'windsurf',
    title: 'Windsurf',
    file: ({ home }) => join(home, '.codeium', 'windsurf', 'mcp_config.json'),
    format: jsonFormat,
    path: ['mcpServers', us],
    entry: plain,
    desktop: true,
  },
  {
    name: 'vscode',
    title: 'VS Code',
    file: (where) => join(desktopConfig(where), 'Code', 'User', 'mcp.json'),
    format: jsonFormat,
    path: ['servers', us],
    entry: stdio,
    desktop: true,
  },
  {
    name: 'zed',
    title: 'Zed',
    file: (where) => join(config(where), 'zed', 'settings.json'),
    format: jsonFormat,
    path: ['context_servers', us],
    entry: (start) => ({ ...plain(start), env: {} }),
    desktop: true,
  },
]
