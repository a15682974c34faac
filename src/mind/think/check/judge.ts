import type { Event } from '../../../core/talk/entry.ts'
import type { Course } from '../course.ts'
import type { Done, Seen } from './seen.ts'
import { boolean, optional, string } from '../../../core/work/shape.ts'
import { answerShape } from '../answer.ts'
import { clipped, firstLine, quoted } from '../words.ts'

const verdict = answerShape({
  passed: boolean(),
  quote: optional(string()),
  file: optional(string()),
  why: optional(string()),
})

const longestEvidence = 24_000

const unsaid = 'Nobody said what was done: look at the files themselves.'

/** So much of a judgement is told to whoever mends. */
const longestWords = 2_000

/** Another agent judges, and must quote what it saw: a quote that stands nowhere is a failure like any other. */
export async function* judged(question: string, done: Done, course: Course): AsyncGenerator<Event, Seen> {
  const { minds, actor } = course
  const agent = minds.assigned['judge'] ?? minds.readers.find((name) => name !== actor) ?? minds.readers[0]!
  const evidence = [
    // What we say ourselves must not be quoted as what was seen.
    done.reply === '' ? unsaid : quoted('reply', clipped(done.reply, longestEvidence), actor),
    ...(done.patch ? [quoted('changes', clipped(done.patch, longestEvidence))] : []),
  ]
  const asked = [
    'You judge whether a piece of work was done. Look at the evidence, and at the files if that is not enough; change nothing. What the reply claims proves nothing by itself.',
    quoted('task', done.task),
    minds.machine.words,
    ...evidence,
    quoted('question', question),
    'Give "quote": the exact words, copied from the evidence or from a file (then "file" is its path from the working folder), that show it. Without such words it has not passed.',
  ].join('\n\n')
  const told = yield* course.askFor({ role: 'judge', agent }, asked, verdict)
  if (!told.ok) return { passed: false, evidence: `nobody could judge it: ${told.why}` }
  const { passed, quote = '', file = '', why = 'it did not say why' } = told.value
  const words = clipped(quote, longestWords)
  if (!passed) return { passed, evidence: `${told.by} judged that it is not done: ${clipped(why, longestWords)}` }
  if (!says(quote)) return { passed: false, evidence: `${told.by} judged that it is done, and quoted nothing` }
  if (holds(done.reply, quote) || holds(done.patch ?? '', quote))
    return { passed, evidence: `${told.by} saw it: ${words}` }
  const body = file === '' ? undefined : await minds.hands.read(file).catch(() => undefined)
  if (holds(body ?? '', quote)) return { passed, evidence: `${told.by} saw it in ${file}: ${words}` }
  const where = file === '' ? 'what was done' : firstLine(file)
  return {
    passed: false,
    evidence: `${told.by} judged that it is done, but its quote stands nowhere in ${where}: ${words}`,
  }
}

/** A dot or a bracket stands everywhere, and shows nothing. */
const says = (quote: string) => /[\p{L}\p{N}]/u.test(quote)

/** A letter stands everywhere as well, unless it is a line of its own. */
const fewest = 3

/** Blanks and the marks of a patch may differ; the words may not. */
export function holds(text: string, quote: string): boolean {
  const words = plain(quote)
  if (!says(words)) return false
  if (words.replaceAll(' ', '').length >= fewest) return plain(text).includes(words)
  return text.split('\n').some((line) => plain(line) === words)
}

const plain = (words: string) => words.replaceAll(/^[+-]/gm, ' ').replaceAll(/\s+/g, ' ').trim()
