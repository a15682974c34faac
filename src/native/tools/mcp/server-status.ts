import type { McpServer } from './remote-server.ts'
import type { Catalog, ListedPrompt } from './server-catalog.ts'
import { stripAnsi } from '../../../base/text/ansi.ts'
import { seconds } from './server-lifecycle.ts'
import { defined } from '../../../base/defined.ts'

/** A server's status for a person, without values of variables, headers or keys. */
export type ServerStatus = {
  name: string
  from: string
  /** The command or address before variables are filled in. */
  at: string
  state: 'starting' | 'ready' | 'waiting' | 'login' | 'failed' | 'closed'
  why?: string
  /** When the server is restarted automatically. */
  next?: number
  /** The protocol's version, and the server's own name and version. */
  protocol?: string
  speaker?: string
  tools: { name: string; tool: string; description: string }[]
  /** How many resources and prompts the server lists; undefined if it has none, or before its list was read. */
  resources?: number
  prompts?: number
  /** Whether the server's tools are in every request. */
  direct: boolean
  /** The last part of the server's output. */
  output: string
}

/** All servers, and the errors in their configuration. */
export type McpStatus = { servers: ServerStatus[]; warnings: readonly string[] }

/** The lists of a connected server. */
export type ServerLists = Catalog & { name: string }

/** A server's prompt as a slash command: characters that cannot be part of one typed word are replaced. */
export const promptCommand = (server: string, prompt: string) =>
  `${server.replaceAll(/[\s/:]+/g, '_')}:${prompt.replaceAll(/[\s/]+/g, '_')}`

/** The arguments of a prompt in the form for help: `<city> [state]`. */
export const argumentWords = ({ arguments: given }: ListedPrompt) =>
  given.map(({ name, required }) => (required ? `<${name}>` : `[${name}]`)).join(' ')

/** `names` are the names of the tools for models. Control sequences in a server's own texts are removed. */
export function statusOf(server: McpServer, names: readonly string[], direct: boolean): ServerStatus {
  const { config, state, output } = server
  const client = state.is === 'ready' ? state.connection.client : undefined
  const protocol = client?.getNegotiatedProtocolVersion()
  const speaker = client?.getServerVersion()
  return defined({
    name: config.name,
    from: config.from,
    at: config.shown,
    state: state.is,
    why: 'why' in state ? state.why : undefined,
    next: 'next' in state ? state.next : undefined,
    protocol,
    speaker: speaker && stripAnsi(`${speaker.name} ${speaker.version}`),
    tools: server.tools.map((tool, i) => ({
      name: names[i]!,
      tool: stripAnsi(tool.name),
      description: stripAnsi(tool.description ?? tool.title ?? '')
        .trim()
        .split('\n')[0]!,
    })),
    resources: countOf(server.known('resources'), server.known('templates')),
    prompts: countOf(server.known('prompts')),
    direct,
    output,
  })
}

function countOf(...lists: (readonly unknown[] | undefined)[]): number | undefined {
  const count = lists.reduce((sum, list) => sum + (list?.length ?? 0), 0)
  return count === 0 ? undefined : count
}

const marks = { ready: '●', starting: '○', waiting: '◌', login: '◌', failed: '✗', closed: '✗' } as const

/** `/mcp`: the configured servers, their states and their errors. */
export function mcpText({ servers, warnings }: McpStatus, now: number): string {
  const lines = servers.flatMap((server) => [
    `${marks[server.state]} ${server.name}  ${stateText(server, now)}`,
    `    ${server.at}  (${server.from})`,
    ...lastSaid(server).map((line) => `    | ${line}`),
  ])
  const none = 'No MCP server is configured. Add one to .mcp.json, termaite.mcp.yaml or mcpServers in the settings.'
  return [...(servers.length === 0 ? [none] : lines), ...warnings.map((words) => `! ${words}`)].join('\n')
}

/** `/mcp tools`: the tools of each server. */
export function mcpToolsText({ servers }: McpStatus, now: number): string {
  const blocks = servers.map((server) => {
    const tools = server.tools.map(
      ({ name, description }) => `  ${name}${description ? `  ${brief(description)}` : ''}`,
    )
    const how = server.state === 'ready' && !server.direct ? '; described on demand' : ''
    return [`${server.name}  ${stateText(server, now)}${how}`, ...tools].join('\n')
  })
  return blocks.join('\n\n') || 'No MCP server is configured.'
}

/** `/mcp resources`: the resources of each server, as they are written after an `@`. */
export function mcpResourcesText(lists: readonly ServerLists[]): string {
  const blocks = lists.map(({ name, resources, templates }) => {
    const rows = [
      ...resources.map(({ uri, name: title, description }) => ({ label: `@${name}:${uri}`, title, description })),
      ...templates.map(({ template, name: title, description }) => ({
        label: `@${name}:${template}`,
        title,
        description,
      })),
    ]
    const lines = rows
      .slice(0, mostRows)
      .map(({ label, title, description }) => `  ${label}  ${brief([title, description].filter(Boolean).join(': '))}`)
    return [`${name}  ${plural(rows.length, 'resource')}`, ...lines, ...moreRows(rows.length)].join('\n')
  })
  return blocks.join('\n\n') || 'No connected MCP server has resources.'
}

/** `/mcp prompts`: the prompts of each server, as they are typed. */
export function mcpPromptsText(lists: readonly ServerLists[]): string {
  const blocks = lists.map(({ name, prompts }) => {
    const lines = prompts.slice(0, mostRows).map((prompt) => {
      const usage = [`/${promptCommand(name, prompt.name)}`, argumentWords(prompt)].filter(Boolean).join(' ')
      return `  ${usage}  ${brief(prompt.description ?? '')}`.trimEnd()
    })
    return [`${name}  ${plural(prompts.length, 'prompt')}`, ...lines, ...moreRows(prompts.length)].join('\n')
  })
  return blocks.join('\n\n') || 'No connected MCP server has prompts.'
}

/** A longer list is cut; completion after `@` and `/` finds the rest. */
const mostRows = 50

const moreRows = (count: number) =>
  count > mostRows ? [`  … ${count - mostRows} more: type a part of the name after @ or / to find them.`] : []

function stateText(server: ServerStatus, now: number): string {
  const { state, why, next, tools, resources, prompts, protocol, speaker } = server
  switch (state) {
    case 'ready': {
      const counts = [
        plural(tools.length, 'tool'),
        resources && plural(resources, 'resource'),
        prompts && plural(prompts, 'prompt'),
      ]
      return [`connected, ${counts.filter(Boolean).join(', ')}`, speaker, protocol && `MCP ${protocol}`]
        .filter(Boolean)
        .join(', ')
    }
    case 'waiting':
      return `not running: ${why}; restarted in ${seconds((next ?? now) - now)} s`
    case 'login':
      return `requires a login: /mcp login ${server.name}`
    case 'failed':
      return `failed: ${why}`
    default:
      return state
  }
}

/** The last output lines of a server that failed; a working server's output is of no use. */
function lastSaid({ state, output }: ServerStatus): string[] {
  if (state === 'ready' || state === 'starting' || output === '') return []
  return output.split('\n').slice(-5)
}

const plural = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`

const brief = (text: string) => (text.length <= 100 ? text : `${text.slice(0, 99)}…`)
