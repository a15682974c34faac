import type { Finding, Review } from '../../core/talk/entry.ts'
import type { ChangedFile } from './changed-files.ts'
import { isAbsolute, normalize, relative } from 'node:path'
import { list, about, integer, oneOf, string } from '../../core/data/shape.ts'
import { severities } from '../../core/talk/entry.ts'
import { UsageError } from '../../core/io.ts'
import { answerShape, part } from '../../core/data/json-answer.ts'

/** The form of a reviewer's answer. */
export const findingsShape = answerShape({
  findings: about(
    'The findings, the worst first. An empty list when there is nothing to fix.',
    list(
      part({
        file: about('The path of the changed file, as the heading of its changes has it.', string({ min: 1 })),
        line: about('The number of the line, as it is shown before the line.', integer(0)),
        severity: about(
          'high: wrong results, lost data, a crash or a security hole. medium: goes wrong in some cases. low: small.',
          oneOf(...severities),
        ),
        problem: about('What is wrong, in one sentence.', string({ min: 1 })),
        why: about('Why it is wrong: the input or the state that shows it, and what happens then.', string()),
        fix: about('How to fix it, in one or two sentences.', string()),
      }),
    ),
  ),
})

type CheckedFindings = { findings: Finding[]; dropped: number }

/** Longer texts of a finding are cut, so that one finding cannot fill a screen. */
const mostText = 2_000

/**
 * Checks the findings against the changes. A finding in an unchanged file is dropped and counted; one at an unchanged line is marked,
 * since a change may break a line elsewhere in its file.
 */
export function checkedFindings(
  said: readonly Omit<Finding, 'unchanged'>[],
  files: readonly ChangedFile[],
  root: string,
): CheckedFindings {
  const known = new Map<string, ChangedFile>()
  for (const file of files) if (file.from !== undefined) known.set(file.from, file)
  for (const file of files) known.set(file.path, file)
  const findings = new Map<string, Finding>()
  let dropped = 0
  for (const one of said) {
    const file = fileOf(one.file, known, root)
    if (!file) {
      dropped++
      continue
    }
    const { severity, line } = one
    const [problem, why, fix] = [one.problem, one.why, one.fix].map((text) => text.trim().slice(0, mostText))
    const finding: Finding = { file: file.path, line, severity, problem: problem!, why: why!, fix: fix! }
    if (!isChangedLine(file, line)) finding.unchanged = true
    findings.set(`${file.path}:${line}:${problem}`, finding)
  }
  const rank = ({ severity }: Finding) => severities.indexOf(severity)
  return { findings: [...findings.values()].sort((a, b) => rank(a) - rank(b)), dropped }
}

function fileOf(named: string, known: ReadonlyMap<string, ChangedFile>, root: string): ChangedFile | undefined {
  const path = normalize(isAbsolute(named) ? relative(root, named) : named)
  return known.get(path) ?? known.get(path.replace(/^[ab]\//, ''))
}

/** Whether a line counts as changed; if the lines of a file were not read, any line does. */
function isChangedLine({ hunks, unread }: ChangedFile, line: number): boolean {
  return unread !== undefined || hunks.some(({ from, to }) => line >= from && line <= to)
}

/** The review in the form for a person and for the agents of later turns; `plain` leaves out Markdown signs. */
export function reviewText({ of, findings, dropped, reviewer }: Omit<Review, 'type'>, plain = false): string {
  const other =
    dropped === 0
      ? []
      : [
          `${dropped} ${dropped === 1 ? 'finding was' : 'findings were'} left out, because the files that ${dropped === 1 ? 'it names' : 'they name'} were not changed.`,
        ]
  if (findings.length === 0) return [`${reviewer} found nothing to fix in ${of}.`, ...other].join('\n\n')
  const count = findings.length === 1 ? 'One finding' : `${findings.length} findings`
  return [
    `${count} in ${of}, by ${reviewer}:`,
    ...findings.map((finding, at) => findingText(finding, at + 1, plain)),
    ...other,
  ].join('\n\n')
}

function findingText(finding: Finding, number: number, plain = false): string {
  const { file, line, severity, problem, why, fix, unchanged } = finding
  const [bold, code] = plain ? ['', ''] : ['**', '`']
  const place = `${code}${file}:${line}${code}${unchanged ? ' (a line that was not changed)' : ''}`
  const indent = ' '.repeat(`${number}. `.length)
  const parts = [`${bold}${severity}${bold} ${place} ${problem}`, why && `Why: ${why}`, fix && `Fix: ${fix}`]
  const lines = parts.filter((text) => text !== '').map((text) => text.replaceAll(/\s*\n\s*/g, ' '))
  return `${number}. ${lines.join(`\n${indent}`)}`
}

/** The numbers of the findings that a person typed: `1 3`, `1,3`, `2-4`, or `all`. */
export function pickedFindings(typed: string, { findings }: Review): number[] {
  const words = typed.split(/[\s,]+/).filter((word) => word !== '')
  if (words.length === 0 || (words.length === 1 && words[0] === 'all')) return findings.map((_, at) => at + 1)
  const numbers = words.flatMap((word) => {
    const [, from, to] = /^(\d+)(?:-(\d+))?$/.exec(word) ?? []
    if (from === undefined) throw new UsageError(`"${word}" is not the number of a finding. ${allowed(findings)}`)
    const [first, last] = [Number(from), Number(to ?? from)]
    if (first < 1 || last > findings.length || last < first)
      throw new UsageError(`there is no finding ${word}. ${allowed(findings)}`)
    return Array.from({ length: last - first + 1 }, (_, at) => first + at)
  })
  return [...new Set(numbers)].sort((a, b) => a - b)
}

const allowed = ({ length }: readonly Finding[]) =>
  `The last review has ${length === 1 ? 'one finding, number 1' : `the findings 1 to ${length}`}.`

/** The prompt that asks an agent to fix findings. It must be complete in itself, because another agent or a new thread may get it. */
export function fixPrompt({ of, findings }: Review, numbers: readonly number[]): string {
  const [what, each] = numbers.length === 1 ? ['this finding', 'it is'] : ['these findings', 'each of them is']
  return [
    `Fix ${what} of the review of ${of}. Check first that ${each} real; leave out what is not, and say why.`,
    ...numbers.map((number) => findingText(findings[number - 1]!, number)),
  ].join('\n\n')
}
