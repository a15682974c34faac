import type { Journalled, ScreenFacts } from '../../core/work/profile.ts'
import type { Failure } from '../../core/talk/outcome.ts'
import type { Screen, Terminal } from '../../core/screen/terminal.ts'
import type { Marks } from '../../core/screen/fence.ts'
import type { Asked } from './since.ts'
import type { ScreenSpec } from './spec.ts'
import { fenceMarks, findFence, isMark, plainMarks } from '../../core/screen/fence.ts'
import { rowsSince, textOf, unfolded } from './since.ts'

/** `whole` is false where its beginning had scrolled out of sight, `by` the sign that the turn was over. */
export type Answered = { text: string; fenced: boolean; whole: boolean; by: string }

/** So many rows of a terminal are read for an answer. */
const longestAnswer = 20_000

/** What the CLI's journal holds is whole, whatever the screen shows; its fence cuts it as the screen's would. */
export function journalAnswer({ answer }: Journalled, nonce: string): Answered | undefined {
  if (answer === undefined || answer.trim() === '') return undefined
  const inside = fencedIn(answer, nonce)
  return { text: inside ?? answer.trim(), fenced: true, whole: true, by: 'journal' }
}

/** The answer as the terminal shows it: inside the fence, else all that stands behind the prompt. */
export async function screenAnswer(
  terminal: Terminal,
  screen: Screen,
  asked: Asked,
  nonce: string,
  { reader }: ScreenFacts,
  by: string,
): Promise<Answered> {
  // A window that was closed by hand has no history any more.
  const history = await terminal.history(longestAnswer).catch(() => screen.rows)
  const { rows, whole } = rowsSince(history, asked, reader)
  const inside = fencedIn(unfolded(rows, screen.cols).join('\n'), nonce)
  if (inside !== undefined) return { text: inside, fenced: true, whole: true, by: 'fence' }
  return { text: saidIn(rows, screen.cols, nonce, { reader }), fenced: false, whole, by }
}

/** What was said in rows of a screen, without the marks around it. */
export function saidIn(
  rows: readonly string[],
  cols: number,
  nonce: string,
  { reader }: Pick<ScreenFacts, 'reader'>,
): string {
  const marks = [fenceMarks(nonce), plainMarks]
  return textOf(
    rows.filter((row) => !marks.some((mark) => isMark(row, mark))),
    cols,
    reader,
  )
}

function fencedIn(text: string, nonce: string): string | undefined {
  const both: Marks[] = [fenceMarks(nonce), plainMarks]
  return both.map((marks) => findFence(text, marks)?.answer).find((answer) => answer !== undefined)
}

/** What a CLI says went wrong, read from one of its own sentences. */
export function faultOf({ name, profile }: ScreenSpec, words: string, now: number): Failure {
  return profile?.failure({ out: '', err: words, now }) ?? { kind: 'crash', message: `${name} failed: ${words}` }
}
