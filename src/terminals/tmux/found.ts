import { execFile } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'
import { promisify } from 'node:util'
import { wordsOf } from '../../base/words.ts'

/** The first version whose panes can be left alone by a command, and given options of their own. */
const oldest = [3, 2] as const

/** tmux by its path, when it is here and works; else why not. */
export async function findTmux(
  env: Readonly<Record<string, string | undefined>>,
): Promise<{ program: string } | { why: string }> {
  const program = (env.PATH ?? '')
    .split(delimiter)
    .filter(isAbsolute)
    .map((folder) => join(folder, 'tmux'))
    .find(canRun)
  if (program === undefined) return { why: 'tmux is not installed' }
  try {
    const { stdout } = await promisify(execFile)(program, ['-V'], { env: { PATH: env.PATH }, timeout: 5_000 })
    // As in `tmux 3.3a` and `tmux next-3.6`.
    const [, major, minor] = /(\d+)\.(\d+)/.exec(stdout) ?? []
    const version = [Number(major), Number(minor)] as const
    if (version[0] > oldest[0] || (version[0] === oldest[0] && version[1] >= oldest[1])) return { program }
    return { why: `${stdout.trim()} is older than ${oldest.join('.')}` }
  } catch (error) {
    return { why: `tmux does not run: ${wordsOf(error).split('\n')[0]}` }
  }
}

function canRun(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
