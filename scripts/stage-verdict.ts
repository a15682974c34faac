import type { Report, TestResult } from './run-tests.ts'

/** Tests that may be skipped in every stage, by the kind of their reason: as each of them gives it. */
export type AllowedSkips = Readonly<Record<string, { why: string; tests: readonly string[] }>>

const named = (test: TestResult) => `${test.file} › ${test.name}`

/**
 * Whether a stage failed: where one of its broken files stays broken when it is repeated, where it failed without saying which one,
 * and where it told of no test, whatever its exit code is.
 */
export function stageFailed(
  status: number,
  { tests }: Report,
  broken: readonly string[],
  unsteady: readonly string[],
): boolean {
  if (tests.length === 0) return true
  if (status !== 0 && broken.length === 0) return true
  return broken.length > unsteady.length
}

/** The tests that passed nowhere and that the checked-in list does not name with the reason that they gave. */
export function unknownSkips(all: readonly TestResult[], allowed: AllowedSkips): string[] {
  const passed = new Set(all.filter(({ outcome }) => outcome === 'passed').map(named))
  const skipped = all.filter((test) => test.outcome === 'skipped' && !passed.has(named(test)))
  const known = new Set(Object.values(allowed).flatMap(({ why, tests }) => tests.map((test) => `${test}: ${why}`)))
  return [...Map.groupBy(skipped, named)]
    .map(([name, times]) => [...new Set(times.map(({ why }) => `${name}: ${why}`))])
    .filter((reasons) => !reasons.some((one) => known.has(one)))
    .flat()
    .sort()
}

/** The tests that the checked-in list names and that no stage has met: they were renamed or removed. */
export function unmetSkips(all: readonly TestResult[], allowed: AllowedSkips): string[] {
  const met = new Set(all.map(named))
  return Object.values(allowed)
    .flatMap(({ tests }) => tests)
    .filter((test) => !met.has(test))
    .sort()
}

/** The parts of golden files that no test has compared, except those of tests that may be skipped in every stage. */
export function unseenParts(parts: readonly string[], seen: readonly string[], allowed: AllowedSkips): string[] {
  const [compared, skipped] = [new Set(seen), Object.values(allowed).flatMap(({ tests }) => tests)]
  // A part is "cli/help.txt: name (2)", and its test "test/cli/help.test.ts › name".
  const testOf = (part: string) => `test/${part.replace('.txt: ', '.test.ts › ').replace(/ \(\d+\)$/, '')}`
  return parts.filter((part) => !compared.has(part) && !skipped.includes(testOf(part))).sort()
}
