import { readFile, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** The text of a script in the nearest package.json, with the scripts that run before and after it. */
export async function npmScript(name: string, cwd: string, root: string): Promise<string[] | undefined> {
  for (let folder = cwd; ; folder = dirname(folder)) {
    const text = await readFile(join(folder, 'package.json'), 'utf8').catch(() => undefined)
    if (text !== undefined) return scriptsIn(text, name)
    if (folder === root || folder === dirname(folder)) return undefined
  }
}

function scriptsIn(text: string, name: string): string[] | undefined {
  try {
    const { scripts } = JSON.parse(text) as { scripts?: Record<string, unknown> }
    const own = scripts?.[name]
    if (typeof own !== 'string') return undefined
    return [scripts?.[`pre${name}`], own, scripts?.[`post${name}`]].filter((one) => typeof one === 'string')
  } catch {
    return undefined
  }
}

/** Whether a program is installed in the project. */
export async function hasBin(name: string, cwd: string, root: string): Promise<boolean> {
  if (!/^[\w.@-]+$/.test(name)) return false
  for (let folder = cwd; ; folder = dirname(folder)) {
    const there = await stat(join(folder, 'node_modules', '.bin', name)).then(
      () => true,
      () => false,
    )
    if (there || folder === root || folder === dirname(folder)) return there
  }
}
