import { dirname } from 'node:path'

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
 * The folder or file that must be readable beside the folders of the PATH so that this program can be started: Node's own folder, or the
 * single file.
 */
export const ownPlace = (): string => (isSingleFile() ? process.execPath : dirname(process.execPath))
