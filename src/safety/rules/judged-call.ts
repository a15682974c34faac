import type { Effect, PathAccess, Tool } from '../../core/work/tool.ts'
import type { ProjectBounds } from '../path-location.ts'
import type { Finding, Part, ShellClass, Touched } from '../shell/shell-judgement.ts'
import { dirname } from 'node:path'
import { defined } from '../../base/defined.ts'
import { gitFolders } from '../../base/files/git.ts'
import { isWithin } from '../../base/files/real-path.ts'
import { locatePath, rootsOf } from '../path-location.ts'
import { worse } from '../shell/shell-judgement.ts'

/** A call with all its likely effects, in parts that are allowed or refused one by one. */
export type JudgedCall = {
  /** The name of this call in rules, and the tool's other names. */
  name: string
  aliases: readonly string[]
  /** Names whose rules can forbid this call or require a question, but not allow it. */
  limits?: readonly string[]
  parts: readonly Part[]
  worst: Finding
  /** The command line or the code that would run. */
  command?: string
  /** Whether the call runs behind the wall, if there is one. */
  walled?: true
  /** Why the agent wants its command outside the wall. */
  outside?: string
  host?: string
  /** The files and folders that a file tool would touch, with their links followed. */
  accesses?: readonly Touched[]
}

export async function judgeCall(
  tool: Tool,
  input: unknown,
  bounds: ProjectBounds & { cwd: string },
): Promise<JudgedCall> {
  const names = defined({ name: tool.name, aliases: tool.aliases?.rules ?? [], limits: tool.aliases?.limits })
  return { ...names, ...(await judgeEffect(effectOf(tool, input, bounds.cwd), tool.name, bounds)) }
}

function effectOf(tool: Tool, input: unknown, cwd: string): Effect | undefined {
  if (tool.effect) return tool.effect(input, cwd)
  return tool.risk === 'read' ? undefined : { does: 'unknown', why: 'termaite does not know what it does' }
}

type JudgedEffect = Omit<JudgedCall, 'name' | 'aliases' | 'limits'>

/** `name` stands for the whole call if it has no parts. A call without an effect only reads. */
async function judgeEffect(
  effect: Effect | undefined,
  name: string,
  bounds: ProjectBounds & { cwd: string },
): Promise<JudgedEffect> {
  switch (effect?.does) {
    case 'command': {
      // The tables of all programs are loaded with the first command, because many turns run no command.
      const { judge } = await import('../shell/judge/shell-judge.ts')
      const { parts, worst } = await judge(effect.command, bounds)
      const { command, outside } = effect
      return defined({ parts: parts.length > 0 ? parts : [worst], worst, command, walled: true as const, outside })
    }
    case 'code': {
      const { code: command, outside } = effect
      if (outside !== undefined) return { ...single(name, 'dynamic', outside), command }
      return {
        ...single(name, 'dynamic', 'termaite cannot tell what this code does before it runs'),
        command,
        walled: true,
      }
    }
    case 'fetch': {
      const host = URL.canParse(effect.url) ? new URL(effect.url).hostname || undefined : undefined
      return { ...single(name, 'network', `it reaches ${host ?? 'the network'}`), host }
    }
    case 'access':
      return judgeAccess(effect.paths, bounds)
    case 'isolated':
      return {
        ...single(name, 'runs', 'it runs code that can reach neither the project nor the network'),
        walled: true,
      }
    case 'unknown':
      return single(name, 'unknown', effect.why)
    case 'nothing':
      return single(name, 'reads', 'it changes nothing')
    case undefined:
      return single(name, 'reads', 'it only reads')
  }
}

async function judgeAccess(paths: readonly PathAccess[], bounds: ProjectBounds): Promise<JudgedEffect> {
  const parts = await Promise.all(paths.map((access) => judgePath(access, bounds)))
  return { parts, worst: parts.reduce(worse), accesses: parts.flatMap((part) => part.paths) }
}

async function judgePath({ access, path }: PathAccess, bounds: ProjectBounds): Promise<Part> {
  const spot = await locatePath(path, bounds)
  const paths: Touched[] = [{ path, real: spot.real, how: access }]
  const part = (kind: ShellClass, why: string): Part => ({ text: path, class: kind, why, paths })
  const writes = access !== 'read'
  if (spot.secret) return part('secrets', `${path} may hold secrets`)
  if (!spot.inside && (writes || !spot.readable)) return part('outside', `${path} is outside the project`)
  if (!writes) return part('reads', 'it only reads')
  if (spot.guarded || (await isNamedByGit(spot.real, bounds)))
    return part('settings', `a change of ${path} could make programs run`)
  if (access === 'remove') return part('removes', `it deletes ${path}`)
  return part('edits', 'it changes a file of the project')
}

/** Whether the settings of a repository around a file name it, or its folder, as a hook, a program or further settings. */
async function isNamedByGit(file: string, bounds: ProjectBounds): Promise<boolean> {
  const project = rootsOf(bounds).find((root) => isWithin(root, file))
  if (project === undefined) return false
  const { gitPrograms } = await import('../wall/git-programs.ts')
  for (let root = file; root !== project;) {
    root = dirname(root)
    const folders = gitFolders(root)
    if (!folders) continue
    const asked = { root, own: folders.own, project, folders: [folders.own, folders.common] }
    const env = { HOME: bounds.home, PATH: bounds.path }
    // If git cannot read its settings, it does not run the programs in them.
    const { kept, missing } = await gitPrograms({ ...asked, env }).catch(() => ({ kept: [], missing: [] }))
    if ([...kept, ...missing].some((named) => isWithin(named, file))) return true
  }
  return false
}

function single(text: string, kind: ShellClass, why: string): JudgedEffect {
  const part: Part = { text, class: kind, why, paths: [] }
  return { parts: [part], worst: part }
}
