import { stripAnsi } from '../base/text/ansi.ts'

/** How a check failed before the work began; without `exit` it did not exit by itself. */
export type FailedBefore = { exit?: number; text: string }

/** Whether a check that failed before fails in more ways now. */
export function isWorse(before: FailedBefore, now: FailedBefore): boolean {
  if (now.exit === undefined) return before.exit !== undefined
  const [then, after] = [failuresIn(before.text), failuresIn(now.text)]
  if (after.count > then.count) return true
  // Neither output names its failures, so only the exits can be compared.
  if (then.lines.size === 0 && then.count === 0) return after.lines.size > 0 || before.exit !== now.exit
  // The output names none of the earlier failures any more, but the check still fails: it broke earlier.
  if (after.lines.size === 0 && after.count === 0) return true
  return [...after.lines].some(([line, times]) => times > (then.lines.get(line) ?? 0))
}

/** The line with which a test runner or a compiler names one failure. */
const failureLine =
  /^(?:not ok\b|[✖✗✘×●]|--- FAIL:|FAIL(?:ED)?:?\s|\d+\) )|(?:^|\s)(?:FAILED|FAIL)$|:\s(?:fatal )?error\b|^error(?:\[|:)/i

/** Parts of a line that differ between two runs with the same failures: durations, positions in a file, and the number of a test. */
const passing = /\(?\b\d+(?:\.\d+)? ?m?s\b\)?|:\d+(?::\d+)?|\(\d+,\d+\)|^(?:not ok )?\d+\)?/g

const counted =
  /\b(\d+) (?:tests? )?(?:failing|failed|failures?|errors?)\b|\b(?:fail(?:ed|ing|ures?)?|errors?)[:= ]+(\d+)\b/gi

/** The failures that an output names, with their counts, and the highest number of failures that it reports. */
function failuresIn(output: string): { lines: Map<string, number>; count: number } {
  const text = stripAnsi(output)
  const lines = new Map<string, number>()
  for (const line of text.split('\n').map((one) => one.trim())) {
    if (!failureLine.test(line)) continue
    const name = line.replaceAll(passing, '').trim()
    lines.set(name, (lines.get(name) ?? 0) + 1)
  }
  const counts = [...text.matchAll(counted)].map(([, first, second]) => Number(first ?? second))
  return { lines, count: Math.max(0, ...counts) }
}
