import type { Question, Shown } from '../../core/talk/question.ts'
import { readFile, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { shortPath } from '../../base/short-path.ts'

/** A longer file is nothing to look at before a yes. */
const longestBefore = 256 * 1024

/** A CLI that means to write a file whole does not say what is in it now: a yes is given to the difference. Files of the project have short names. */
export async function shownWhole(question: Question, cwd: string): Promise<Question> {
  if (!question.shows) return question
  return { ...question, shows: await Promise.all(question.shows.map((shown) => whole(shown, cwd))) }
}

async function whole(told: Shown, cwd: string): Promise<Shown> {
  if (told.type !== 'diff') return told
  const path = resolve(cwd, told.path)
  const shown = { ...told, path: shortPath(path, cwd) }
  if (shown.before !== undefined) return shown
  try {
    const found = await stat(path)
    if (!found.isFile()) return shown
    if (found.size > longestBefore) return { ...shown, before: `[… ${found.size} bytes …]\n` }
    return { ...shown, before: await readFile(path, 'utf8') }
  } catch {
    return shown
  }
}
