import type { Shape } from '../../../core/work/shape.ts'
import { list, optional, string } from '../../../core/work/shape.ts'

/** One way to do it, as an advisor proposes it. */
export type Proposal = {
  name: string
  how: string
  needs: readonly string[]
  /** What it counts where the advice has to be counted. */
  weight: number
  /** Why it will not work here, where an advisor says so. */
  against?: string
  /** The script that does it, where one was drafted. */
  code?: string
}

/** More than anybody would name: each is compared with every other one. */
const mostNamed = 16

/** A list of which the first are read; what goes on for ever is no fault, and nobody's business. */
export function few<T>(item: Shape<T>, min: number): Shape<T[]> {
  const all = list(item, min)
  return { ...all, read: (value, at) => all.read(value, at).slice(0, mostNamed) }
}

/** What every advisor and the chair say of an approach. */
export const approachFields = {
  name: string({ min: 1 }),
  how: string(),
  needs: optional(few(string(), 0)),
}

/** How an approach is to be described, so that two who mean the same can be seen to. */
export const approachWords = `An approach has a "name": the tool or technique that does the work, in at most four words ("pandoc", "Express with SQLite"); "how": the steps, concrete enough that another agent could go by them alone; and "needs": what must be there first, one short string each:
- a program by the name one types: "pandoc", "docker", "python>=3.10";
- a package still to be fetched, with where from: "pip:python-docx", "npm:express", "apt:texlive"; not what the project has already;
- "network", "root", "linux", "macos" or "windows", where it cannot go without.`

/** The words of a name without what people write differently. */
const wordsIn = (name: string): readonly string[] => name.toLowerCase().match(/[\p{L}\p{N}+#]+/gu) ?? []

export const keyOf = (name: string) => wordsIn(name).join(' ')

/** Whether two mean the same: "LibreOffice" is what "LibreOffice, headless" is. */
export function isSame(a: string, b: string): boolean {
  const [fewer, more] = [wordsIn(a), wordsIn(b)].sort((x, y) => x.length - y.length)
  return fewer!.length > 0 && fewer!.every((word) => more!.includes(word))
}
