import { lstatSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { inside } from './body.ts'

/** Where a session works. `trusted`: whether what comes with the project may steer an agent. */
export type Ground = { cwd: string; root: string; home: string; trusted: boolean }

/** From the project's root down to where the agent works. */
export function folders({ cwd, root }: Pick<Ground, 'cwd' | 'root'>): string[] {
  if (!inside(cwd, root)) return [cwd]
  const list: string[] = []
  for (let at = cwd; ; at = dirname(at)) {
    list.unshift(at)
    if (at === root) return list
  }
}

/** Of each list the first that a folder has counts: the shared file or what stands in for it, and then our own. */
const names = [
  ['AGENTS.override.md', 'AGENTS.md', 'CLAUDE.md', 'GEMINI.md'],
  ['termaite.md', 'terminus.md'],
]

/** The instruction files that come with a project, the nearest last; nothing is opened, and no link is followed. */
export function instructionPaths(ground: Pick<Ground, 'cwd' | 'root'>): string[] {
  return folders(ground).flatMap((folder) =>
    names.flatMap((list) => {
      const found = list.map((name) => join(folder, name)).find(isThere)
      return found === undefined ? [] : [found]
    }),
  )
}

function isThere(path: string): boolean {
  try {
    lstatSync(path)
    return true
  } catch {
    return false
  }
}
