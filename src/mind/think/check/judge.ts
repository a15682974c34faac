import type { Event } from '../../../core/talk/entry.ts'
import type { Course } from '../course.ts'
import type { Done, Seen } from './seen.ts'
import { boolean, optional, string } from '../../../core/work/shape.ts'
import { answerShape } from '../answer.ts'
import { clipped, quoted } from '../words.ts'

const verdict = answerShape({ passed: boolean(), quote: string(), file: optional(string()), why: string() })

const longestEvidence = 24_000

/** Another agent judges, and must quote what it saw: a quote that stands nowhere is a failure like any other. */
export async function* judged(question: string, done: Done, course: Course): AsyncGenerator<Event, Seen> {
  const { minds, actor } = course
  const agent = minds.assigned['judge'] ?? minds.readers.find((name) => name !== actor) ?? minds.readers[0]!
  const evidence = [
    quoted('reply', clipped(done.reply, longestEvidence), actor),
    ...(done.patch ? [quoted('changes', clipped(done.patch, longestEvidence))] : []),
  ]
  const asked = [
    'You judge whether a piece of work was done. Look at the evidence, and at the files if that is not enough; change nothing. What the reply claims proves nothing by itself.',
    quoted('task', done.task),
    ...evidence,
    `The question: ${question}`,
    'Give "quote": the exact words, copied from the evidence or from a file (then "file" is its path from the working folder), that show it. Without such words it has not passed.',
  ].join('\n\n')
  const told = yield* course.askFor({ role: 'judge', agent }, asked, verdict)
  if (!told.ok) return { passed: false, evidence: `nobody could judge it: ${told.why}` }
  const { passed, quote, file, why } = told.value
  if (!passed) return { passed, evidence: `${told.by} judged that it is not done: ${why}` }
  const text = file === undefined ? [done.reply, done.patch ?? ''].join('\n') : ((await minds.hands.read(file)) ?? '')
  if (holds(text, quote))
    return { passed, evidence: `${told.by} saw it${file === undefined ? '' : ` in ${file}`}: ${quote}` }
  const where = file === undefined ? 'what was done' : file
  return {
    passed: false,
    evidence: `${told.by} judged that it is done, but its quote stands nowhere in ${where}: ${quote}`,
  }
}

/** Blanks and the marks of a patch may differ; the words may not. */
export function holds(text: string, quote: string): boolean {
  const plain = (words: string) => words.replaceAll(/^[+-]/gm, ' ').replaceAll(/\s+/g, ' ').trim()
  return plain(quote) !== '' && plain(text).includes(plain(quote))
}
