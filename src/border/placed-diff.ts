import type { Shown } from '../core/talk/question.ts'
import { readFile, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { wholeFile } from '../core/talk/question.ts'
import { isSecretName, isSecretPlace } from '../safety/secret-files.ts'

/** The largest file that is read for the place of a diff. */
const mostBytes = 2 * 1024 * 1024

/** Lines of the file that are shown above and below a change. */
const context = 3

/**
 * Finds the place of a diff in its file, for the numbers of its lines. A diff of a part of the file also gets the lines around that part.
 * A whole text that replaces a file gets the text that it replaces. A diff whose place is not certain, such as one of a text that occurs
 * twice, stays as it is.
 */
export async function placedDiff(shown: Shown, cwd: string, home: string): Promise<Shown> {
  if (shown.type !== 'diff' || shown.starts) return shown
  const { before, after } = shown
  const path = resolve(cwd, shown.path)
  const text = await textOf(path)
  // Lines of the file that the question does not show yet may hold keys.
  const hidden = isSecretName(path) || isSecretPlace(path, home)
  if (before === undefined) {
    if (text === undefined) return { ...shown, starts: wholeFile }
    return hidden ? shown : { ...shown, before: text, starts: wholeFile }
  }
  if (text === undefined || before === '') return shown
  if (text === before) return { ...shown, starts: wholeFile }
  const at = text.indexOf(before)
  if (at < 0 || text.includes(before, at + 1)) return shown
  const from = lineStart(text, at, hidden ? 0 : context)
  if (hidden && from !== at) return shown
  const to = hidden ? at + before.length : lineEnd(text, at + before.length, context)
  const first = text.slice(0, from).split('\n').length
  const [above, below] = [text.slice(from, at), text.slice(at + before.length, to)]
  return { ...shown, before: above + before + below, after: above + after + below, starts: [[first, first]] }
}

/** The beginning of the line that is `lines` above a place. */
function lineStart(text: string, at: number, lines: number): number {
  let start = text.lastIndexOf('\n', at - 1) + 1
  for (let left = lines; left > 0 && start > 0; left--) start = text.lastIndexOf('\n', start - 2) + 1
  return at === 0 ? 0 : start
}

/** The end of the line that is `lines` below a place. */
function lineEnd(text: string, at: number, lines: number): number {
  // A part that ends with its line break ends before the next line.
  let end = text[at - 1] === '\n' ? at : nextLine(text, at)
  for (let left = lines; left > 0 && end < text.length; left--) end = nextLine(text, end)
  return end
}

const nextLine = (text: string, at: number) => text.indexOf('\n', at) + 1 || text.length

async function textOf(path: string): Promise<string | undefined> {
  const stats = await stat(path).catch(() => undefined)
  if (!stats?.isFile() || stats.size > mostBytes) return undefined
  return readFile(path, 'utf8').catch(() => undefined)
}
