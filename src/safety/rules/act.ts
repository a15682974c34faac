import type { Tool } from '../../core/work/tool.ts'
import type { Ground } from '../places.ts'
import { spotOf } from '../places.ts'
import type { Finding, Part, ShellClass, Touched } from '../shell/judgement.ts'
import { judge } from '../shell/judge.ts'
import { worse } from '../shell/judgement.ts'

/** What a call would do, in parts that are each allowed or not. */
export type Act = { name: string; parts: readonly Part[]; worst: Finding; command?: string; host?: string }

/** A place that a tool says it would touch. */
export type Access = { access: 'read' | 'write'; named: string }

export type ActWorld = Ground & {
  cwd: string
  pathsOf(tool: string, input: unknown, cwd: string): Promise<readonly Access[]>
  /** The name that rules know a call by, where it is another than the tool's. */
  nameOf?(tool: string, input: unknown): string | undefined
}

/** Calls that change nothing outside the conversation, whatever their risk says. */
const tame = new Set([
  'todo_write',
  'todo_read',
  'todo_update',
  'ask_question',
  'load_skill',
  'subagent',
  'web_search',
  'mcp_tools',
])

export async function actOf(tool: Tool, input: unknown, world: ActWorld): Promise<Act> {
  const name = world.nameOf?.(tool.name, input) ?? tool.name
  const fields = (typeof input === 'object' && input !== null ? input : {}) as Record<string, unknown>
  if (tool.name === 'bash' && typeof fields.command === 'string') {
    const { parts, worst } = await judge(fields.command, world)
    return { name, parts: parts.length > 0 ? parts : [worst], worst, command: fields.command }
  }
  if (tool.name === 'repl' && typeof fields.code === 'string')
    return { ...one(name, 'dynamic', 'what this code does shows only when it runs'), command: fields.code }
  if (tool.name === 'web_fetch') {
    const host = hostOf(fields.url)
    return one(name, 'network', host ? `it reaches ${host}` : 'it reaches the network', host ? { host } : {})
  }
  if (tame.has(tool.name)) return one(name, 'reads', 'it changes nothing')
  const places = await world.pathsOf(tool.name, input, world.cwd)
  if (places.length > 0) return touch(name, places, world)
  if (tool.name === 'sandbox') return one(name, 'runs', 'it runs code away from the project')
  if (tool.risk === 'read' && !name.startsWith('mcp__')) return one(name, 'reads', 'it only looks')
  return one(
    name,
    'unknown',
    name.startsWith('mcp__') ? 'what a tool of an MCP server does is not known here' : 'what it does is not known here',
  )
}

async function touch(name: string, places: readonly Access[], ground: Ground): Promise<Act> {
  const parts: Part[] = []
  for (const { access, named } of places) {
    const spot = await spotOf(named, ground)
    const paths: Touched[] = [{ path: named, real: spot.real, how: access }]
    const writes = access === 'write'
    const [kind, why]: [ShellClass, string] = spot.secret
      ? ['secrets', `${named} may hold secrets`]
      : !spot.inside && (writes || !spot.readable)
        ? ['outside', `${named} is outside the project`]
        : writes && spot.guarded
          ? ['system', `a change of ${named} could make programs run`]
          : writes
            ? ['edits', 'it changes a file of the project']
            : ['reads', 'it only looks']
    parts.push({ text: named, class: kind, why, paths })
  }
  return { name, parts, worst: parts.reduce(worse) }
}

function one(name: string, kind: ShellClass, why: string, more: { host?: string } = {}): Act {
  const part: Part = { text: name, class: kind, why, paths: [] }
  return { name, parts: [part], worst: part, ...more }
}

function hostOf(url: unknown): string | undefined {
  return typeof url === 'string' && URL.canParse(url) ? new URL(url).hostname : undefined
}
