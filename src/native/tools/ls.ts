import type { Dirent } from 'node:fs'
import type { Tool } from '../../core/work/tool.ts'
import type { ToolParts } from './shared/tool-parts.ts'
import { readlink, realpath } from 'node:fs/promises'
import { resolve, sep } from 'node:path'
import { errorCode } from '../../base/files/files.ts'
import { HeldFolder } from '../../base/files/held-folder.ts'
import { sizeText } from '../../base/picture.ts'
import { mustBeJudged, openTrouble } from './files/file-access.ts'
import { defineTool } from './shared/tool-definition.ts'
import { optional, parser, string } from '../../core/data/shape.ts'

const mostNames = 500

/** From this size on, the size of a file is shown, because reading the file would fill much of the window. */
const large = 256 * 1024

const input = parser({ path: optional(string()) })

export function ls({ root }: Pick<ToolParts, 'root'>): Tool {
  return defineTool({
    name: 'ls',
    risk: 'read',
    onDemand: 'with a shell',
    input,
    aliases: { rules: ['Read', 'LS'], hooks: ['LS'] },
    effect: ({ path }, cwd) => ({ does: 'access', paths: [{ access: 'read', path: resolve(cwd, path || '.') }] }),
    async run({ path }, call) {
      const at = resolve(call.cwd, path || '.')
      const trouble = async (error: unknown) => {
        if (errorCode(error) === 'ENOTDIR') return new Error(`${path} is not a folder. Read it with file_reader.`)
        return new Error(await openTrouble(error, at, path || '.', call))
      }
      try {
        const real = await realpath(at)
        mustBeJudged(at, real, call)
        const folder = HeldFolder.open(real)
        return await listFolder(folder, root).finally(() => folder.close())
      } catch (error) {
        throw await trouble(error)
      }
    },
  })
}

async function listFolder(folder: HeldFolder, root: string): Promise<string> {
  const entries = await folder.entries()
  if (entries.length === 0) return '[the folder is empty]'
  const rank = (entry: Dirent) => (entry.isDirectory() ? 0 : 1)
  entries.sort((a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : 1))
  const lines = await Promise.all(entries.slice(0, mostNames).map((entry) => line(entry, folder, root)))
  const more = entries.length - mostNames
  return more > 0 ? `${lines.join('\n')}\n[and ${more} more: use glob to find what you need]` : lines.join('\n')
}

async function line(entry: Dirent, folder: HeldFolder, root: string): Promise<string> {
  const { name } = entry
  if (entry.isDirectory()) return `${name}/`
  if (entry.isSymbolicLink()) return `${name} -> ${await linkTarget(folder.at(name), root)}`
  if (!entry.isFile()) return `${name} (a pipe, a socket or a device)`
  const size = folder.stats(name)?.size ?? 0
  return size >= large ? `${name} (${sizeText(size)})` : name
}

/** The target of a link, and whether the link leads out of the project. */
async function linkTarget(path: Buffer, root: string): Promise<string> {
  const target = await readlink(path, 'utf8').catch(() => '?')
  const real = await realpath(path).catch(() => undefined)
  if (real === undefined) return `${target} (its target does not exist)`
  return real === root || real.startsWith(root + sep) ? target : `${target} (outside the project)`
}
