import type { Mark, Question, Shown } from '../../../core/talk/question.ts'
import type { Part, ShellClass } from '../shell-judgement.ts'
import type { ShellWorld } from './shell-judge.ts'
import { defined } from '../../../base/defined.ts'

/** The classes of ordinary work on a project: a part of such a class needs no mark of danger. */
const usual: readonly ShellClass[] = ['reads', 'edits', 'runs']

export const dangerousParts = (parts: readonly Part[]): Part[] => parts.filter((part) => !usual.includes(part.class))

/**
 * The places of parts in their command, in order. A place inside another one is left out, as is one that covers a whole command of
 * several lines, because a mark on everything shows nothing.
 */
export function marksOf(command: string, parts: readonly Part[]): Mark[] | undefined {
  const all: Mark[] = parts.flatMap(({ span, why }) => (span ? [{ ...span, why }] : []))
  const isWhole = ({ from, to }: Mark) =>
    command.slice(from, to).trim() === command.trim() && command.trim().includes('\n')
  const within = (a: Mark, b: Mark) => a.from >= b.from && a.to <= b.to
  const marks: Mark[] = []
  for (const mark of all.toSorted((a, b) => a.from - b.from || b.to - a.to))
    if (!isWhole(mark) && !marks.some((outer) => within(mark, outer) || mark.from < outer.to)) marks.push(mark)
  return marks.length > 0 ? marks : undefined
}

/** Marks the dangerous parts of commands that an agent with its own rules wants to run. */
export async function withDangerMarked(question: Question, world: ShellWorld): Promise<Question> {
  if (!question.shows?.some((shown) => shown.type === 'command' && !shown.marks)) return question
  const { judge } = await import('./shell-judge.ts')
  const marked = async (shown: Shown): Promise<Shown> => {
    if (shown.type !== 'command' || shown.marks) return shown
    const { parts } = await judge(shown.command, { ...world, cwd: shown.cwd ?? world.cwd })
    return defined<Shown>({ ...shown, marks: marksOf(shown.command, dangerousParts(parts)) })
  }
  return { ...question, shows: await Promise.all(question.shows.map(marked)) }
}
