import type { Io } from '../core/io.ts'
import type { Ask, Question } from '../core/talk/question.ts'
import { defined } from '../base/defined.ts'
import { newId } from '../base/id.ts'

/**
 * Completes the content of a question: the dangerous parts of a command are marked, as the rules of the project at `root` judge them, and
 * a diff of a part of a file gets the numbers of its lines and the lines around it.
 */
export async function completeCard(
  { env }: Pick<Io, 'env'>,
  root: string,
  cwd: string,
  question: Question,
): Promise<Question> {
  // The judge of shell commands is loaded only for a question: most turns ask nothing.
  const { withDangerMarked } = await import('../safety/shell/judge/danger-marks.ts')
  const home = env.HOME ?? ''
  const marked = await withDangerMarked(question, defined({ root, cwd, home, path: env.PATH }))
  if (!marked.shows?.some((shown) => shown.type === 'diff')) return marked
  const { placedDiff } = await import('./placed-diff.ts')
  return { ...marked, shows: await Promise.all(marked.shows.map((shown) => placedDiff(shown, cwd, home))) }
}

/** Cancels the turn if the person leaves a question that requires this. */
export function cancelWhenLeft(ask: Ask, cancel: () => void): Ask {
  return async (question, withdrawn, id) => {
    const picks = await ask(question, withdrawn, id)
    if (!picks && question.cancels && !withdrawn.aborted) cancel()
    return picks
  }
}

/** The questions that wait for the person's answer, by their ids. */
export class Cards {
  #open = new Map<string, (picks: string[] | undefined) => void>()

  /** Resolves with the picks, or with undefined, which means no, if the question is withdrawn. */
  readonly ask: Ask = (_question, withdrawn, ask = newId(0)) =>
    new Promise((resolve) => {
      const done = (picks: string[] | undefined) => {
        this.#open.delete(ask)
        withdrawn.removeEventListener('abort', gone)
        resolve(picks)
      }
      const gone = () => done(undefined)
      this.#open.set(ask, done)
      withdrawn.addEventListener('abort', gone, { once: true })
      if (withdrawn.aborted) gone()
    })

  /** Answers a question; returns whether it was open here. */
  answer(ask: string, picks?: string[]): boolean {
    const settle = this.#open.get(ask)
    settle?.(picks)
    return settle !== undefined
  }
}
