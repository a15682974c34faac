import { realpathSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { foldersDown, isWithin } from '../../base/files/real-path.ts'
import { shellWord } from '../../base/text/shell-word.ts'

/**
 * The most bytes of a project's instructions that are passed to a CLI: one argument of a command line has room for four times as much.
 */
const mostBytes = 32 * 1024

/**
 * The instruction files of a project from its root down to the folder in which a CLI is started; in each folder the first name that
 * exists. A link that leads out of the project is ignored.
 */
function instructionPaths({ root, cwd }: { root: string; cwd: string }, names: readonly string[]): string[] {
  return foldersDown(root, cwd).flatMap((folder) =>
    names.flatMap((name) => fileIn(root, join(folder, name)) ?? []).slice(0, 1),
  )
}

function fileIn(root: string, path: string): string | undefined {
  try {
    const real = realpathSync(path)
    return isWithin(root, real) && statSync(real).isFile() ? real : undefined
  } catch {
    return undefined
  }
}

/** The text of a project's instructions, for a CLI that does not read them itself; undefined if the project has none. */
export function instructionText(place: { root: string; cwd: string }, names: readonly string[]): string | undefined {
  let left = mostBytes
  const texts = instructionPaths(place, names).flatMap((path) => {
    const bytes = readFileSync(path).subarray(0, left)
    left -= bytes.length
    return bytes.length === 0 ? [] : [`# ${path}\n\n${bytes.toString('utf8').trim()}`]
  })
  return texts.length === 0 ? undefined : `These are the instructions of the project.\n\n${texts.join('\n\n')}`
}

/** The content of a file as one argument of a bash command line, which stays short however long the content is. */
export const contentWord = (path: string) => `"$(<${shellWord(path)})"`
