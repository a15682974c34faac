import type { McpFacts, Profile, ServerStart } from '../../core/profile/profile.ts'
import { join } from 'node:path'
import { allProfiles } from '../../profiles/all.ts'
import type { ConfigFormat } from '../mcp-config/config-format.ts'
import { jsonFormat } from '../mcp-config/json-format.ts'
import { tomlFormat } from '../mcp-config/toml-format.ts'

/** The facts that determine where a program stores its settings. */
export type Whereabouts = { home: string; env: Record<string, string | undefined>; platform: NodeJS.Platform }

/** A program that can call our tools, and how its settings name a server. */
export type Client = {
  name: string
  title: string
  file(where: Whereabouts): string
  format: ConfigFormat
  /** The keys that lead to our entry, including the entry's own name. */
  path: readonly string[]
  entry(start: ServerStart): object
  /** Fields of an entry that let the program call the server's tools without asking. */
  trusted?: Readonly<Record<string, unknown>>
  /** Whether the client is started from a desktop, which does not know the PATH of the person's shell. */
  desktop?: true
}

const ourName = 'termaite'

/** The name of the hub's server in another program's settings. */
export const hubName = 'termaite-hub'

/** The client with the hub as its server: an agent that works for the hub is not asked before each call to it. */
export const atHub = (client: Client): Client => ({
  ...client,
  path: [...client.path.slice(0, -1), hubName],
  entry: (start) => ({ ...client.entry(start), ...client.trusted }),
})

type ClientFacts = Pick<Client, 'name' | 'title' | 'desktop'> &
  Omit<McpFacts, 'file'> & { file(where: Whereabouts): string }

const formats: Record<McpFacts['format'], ConfigFormat> = { json: jsonFormat, toml: tomlFormat }

const clientFrom = ({ format, path, ...facts }: ClientFacts): Client => ({
  ...facts,
  format: formats[format],
  path: [...path, ourName],
})

/** A CLI as a client; undefined if its profile does not say how its settings name a server. */
export function clientOf({ name, title, mcp }: Profile): Client | undefined {
  return mcp && clientFrom({ name, title, ...mcp })
}

const configFolder = ({ home, env }: Whereabouts) => env.XDG_CONFIG_HOME || join(home, '.config')
const desktopFolder = (where: Whereabouts) => {
  if (where.platform === 'darwin') return join(where.home, 'Library', 'Application Support')
  if (where.platform === 'win32') return where.env.APPDATA || join(where.home, 'AppData', 'Roaming')
  return configFolder(where)
}

/** Programs that call our tools and are not CLIs that we run: Claude Desktop, and editors. */
const desktopPrograms: readonly ClientFacts[] = [
  {
    name: 'claude-desktop',
    title: 'Claude Desktop',
    file: (where) => join(desktopFolder(where), 'Claude', 'claude_desktop_config.json'),
    format: 'json',
    path: ['mcpServers'],
    entry: ({ command, args }) => ({ command, args }),
    desktop: true,
  },
  {
    name: 'cursor',
    title: 'Cursor',
    file: ({ home }) => join(home, '.cursor', 'mcp.json'),
    format: 'json',
    path: ['mcpServers'],
    entry: ({ command, args }) => ({ command, args }),
    desktop: true,
  },
  {
    name: 'windsurf',
    title: 'Windsurf',
    file: ({ home }) => join(home, '.codeium', 'windsurf', 'mcp_config.json'),
    format: 'json',
    path: ['mcpServers'],
    entry: ({ command, args }) => ({ command, args }),
    desktop: true,
  },
  {
    name: 'vscode',
    title: 'VS Code',
    file: (where) => join(desktopFolder(where), 'Code', 'User', 'mcp.json'),
    format: 'json',
    path: ['servers'],
    entry: ({ command, args }) => ({ type: 'stdio', command, args }),
    desktop: true,
  },
  {
    name: 'zed',
    title: 'Zed',
    file: (where) => join(configFolder(where), 'zed', 'settings.json'),
    format: 'json',
    path: ['context_servers'],
    entry: ({ command, args }) => ({ command, args, env: {} }),
    desktop: true,
  },
]

/** Every program that can be given our tools: the CLIs whose profile says how, then the desktop programs. */
export const clients: readonly Client[] = [
  ...allProfiles().flatMap((profile) => clientOf(profile) ?? []),
  ...desktopPrograms.map(clientFrom),
]
