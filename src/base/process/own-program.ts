import { realpathSync } from 'node:fs'
import { basename, dirname } from 'node:path'

/** The words that begin a command line which starts this program: Node and the program's file, or the single-file build alone. */
export type Program = readonly [string, ...string[]]

/** Whether this process is the single-file build, which holds Node and the whole program: see scripts/binary.ts. */
const isSingleFile = (): boolean => process.getBuiltinModule('node:sea').isSea()

export const thisProgram = (): Program => (isSingleFile() ? [process.execPath] : [process.execPath, process.argv[1]!])

/** The first argument by which the single-file build is Node instead of termaite; bin/single-file.cjs reads it. */
const asNode = '--as-node'

/**
 * The words that begin a command line which runs JavaScript: Node understands a file or `-e <code>` behind them. The executable
 * alone would not do, because that of the single-file build starts termaite.
 */
export const nodeProgram = (): Program => (isSingleFile() ? [process.execPath, asNode] : [process.execPath])

/**
 * The folders or files that must be readable beside the folders of the PATH so that this program can be started: the single file, or
 * Node's own folder, that of the link by which we were started, and that of the package and the packages that were installed with it.
 */
export function ownPlaces(): string[] {
  if (isSingleFile()) return [process.execPath]
  const [node, started] = [process.execPath, process.argv[1]!].map((file) => dirname(file)) as [string, string]
  const packageFolder = dirname(dirname(realpathSync(process.argv[1]!)))
  const above = dirname(packageFolder)
  return [node, started, basename(above) === 'node_modules' ? above : packageFolder]
}
