import type { HookEvent, HookSettings } from '../safety/hooks/hook-config.ts'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { readUntrustedFile } from '../safety/untrusted-file.ts'
import { parseHooks } from '../safety/hooks/hook-config.ts'
import { UsageError } from '../core/io.ts'
import { projectFile } from './settings-schema.ts'

/** Claude Code's settings files in a project: they contain hooks of the same shape. */
const claudeFiles = ['.claude/settings.json', '.claude/settings.local.json']

const longest = 1024 * 1024

/** Parses hooks. A hook that cannot be parsed is an error, because it may be the one that prevents an agent from doing harm. */
export function hooksOf(said: unknown, where = 'settings'): HookSettings {
  const { hooks, faults } = parseHooks(said)
  if (faults.length > 0) throw new UsageError(`${where}: ${faults.join('; ')}.`)
  return hooks
}

/** Reads a project's hooks, by their file. Entries of Claude Code's files that only Claude Code understands are warnings. */
export function projectHooks(root: string, own: unknown): { by: Record<string, HookSettings>; warnings: string[] } {
  const warnings: string[] = []
  const by: Record<string, HookSettings> = { [projectFile]: hooksOf(own, projectFile) }
  for (const file of claudeFiles) {
    const found = hooksIn(join(root, file), root)
    if (typeof found === 'string') warnings.push(`${file} is not used: ${found}.`)
    else if (found) {
      if (found.faults.length > 0) warnings.push(`Not all hooks of ${file} are run: ${found.faults.join('; ')}.`)
      by[file] = found.hooks
    }
  }
  return { by: Object.fromEntries(Object.entries(by).map(([file, hooks]) => [file, ofProject(hooks)])), warnings }
}

/** Marks hooks that came with the project. They always run in the sandbox: their own `wall` setting is dropped. */
function ofProject(hooks: HookSettings): HookSettings {
  const marked: HookSettings = {}
  for (const event of Object.keys(hooks) as HookEvent[])
    marked[event] = hooks[event]!.map((group) => ({
      ...group,
      hooks: group.hooks.map(({ wall: _, ...hook }) => ({ ...hook, project: true as const })),
    }))
  return marked
}

function hooksIn(file: string, root: string): ReturnType<typeof parseHooks> | string | undefined {
  const body = readUntrustedFile(file, longest, root)
  if (body === undefined || typeof body === 'string') return body
  try {
    return parseHooks((JSON.parse(body.text) as { hooks?: unknown } | null)?.hooks)
  } catch {
    return 'it is not JSON'
  }
}

/** Joins two sets of hooks, without the duplicates. */
export function joinedHooks(first: HookSettings, more: HookSettings): HookSettings {
  const joined: HookSettings = { ...first }
  for (const event of Object.keys(more) as HookEvent[]) {
    const there = joined[event] ?? []
    const added = more[event]!.filter((group) => !there.some((one) => isDeepStrictEqual(one, group)))
    joined[event] = [...there, ...added]
  }
  return joined
}
