import type { Question, Shown } from '../../core/talk/question.ts'
import { readFile, stat } from 'node:fs/promises'
import { resolve } from 'node:path'

/** A longer file is nothing to look at before a yes. */
const longestBefore = 256 * 1024

/** A CLI that means to write a file whole does not say what is in it now: a yes is given to the difference. */
export async function shownWhole(question: Question, cwd: string): Promise<Question> {
  if (!question.shows) return question
  return { ...question, shows: await Promise.all(question.shows.map((shown) => whole(shown, cwd))) }
}

async function whole(shown: Shown, cwd: string): Promise<Shown> {
  if (shown.type !== 'diff' || shown.before !== undefined) return shown
  const path = resolve(cwd, shown.path)
  try {
    const found = await stat(path)
    if (!found.isFile()) return shown
    if (found.size > longestBefore) return { ...shown, before: `[… ${found.size} bytes …]\n` }
    return { ...shown, before: await readFile(path, 'utf8') }
  } catch {
    return shown
  }
}
