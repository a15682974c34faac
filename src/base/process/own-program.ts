import { realpathSync } from 'node:fs'
import { basename, dirname } from 'node:path'

/** The words at the beginning of a command line that starts this program: Node and the program's file, or only the single-file build. */
export type Program = readonly [string, ...string[]]

/** Whether this process is the single-file build, which contains Node and the whole program: see scripts/binary.ts. */
const isSingleFile = (): boolean => process.getBuiltinModule('node:sea').isSea()

export const thisProgram = (): Program => (isSingleFile() ? [process.execPath] : [process.execPath, process.argv[1]!])

/** The first argument that makes the single-file build act as Node instead of termaite; bin/single-file.cjs reads it. */
const asNode = '--as-node'

/**
 * The words at the beginning of a command line that runs JavaScript: Node accepts a file or `-e <code>` after them. The executable alone
 * is not enough, because the single-file build starts termaite.
 */
export const nodeProgram = (): Program => (isSingleFile() ? [process.execPath, asNode] : [process.execPath])

/**
 * The folders or files that must be readable, in addition to the folders of the PATH, so that this program can be started: the single
 * file, or Node's own folder, the folder of the link by which we were started, and those of the package and of the packages that were
 * installed with it.
 */
export function ownPlaces(): string[] {
  if (isSingleFile()) return [process.execPath]
  const [node, started] = [process.execPath, process.argv[1]!].map((file) => dirname(file)) as [string, string]
  const packageFolder = dirname(dirname(realpathSync(process.argv[1]!)))
  const above = dirname(packageFolder)
  return [node, started, basename(above) === 'node_modules' ? above : packageFolder]
}
