import type { Envelope } from '../worker.ts'
import { isAbsolute, relative } from 'node:path'
import { defined } from '../../base/defined.ts'
import { isWithin } from '../../base/files/real-path.ts'
import { firstPaths } from './merge-card.ts'

/* Adds facts that termaite has seen itself to the envelope of a worker, next to the worker's own words. */

/** The result of one check of the project: its tests or its build. */
export type CheckSeen = { command: string; passed: boolean; evidence: string; refused?: true }

/** Gives an envelope the paths that were really changed; a claim that is not true becomes a risk. */
export function withPaths(envelope: Envelope, paths: readonly string[], roots: readonly string[]): Envelope {
  const { changed_paths: claimed = [], ...rest } = envelope
  const plain = (path: string) => {
    const root = isAbsolute(path) ? roots.find((one) => isWithin(one, path)) : undefined
    return (root === undefined ? path : relative(root, path)).replace(/^\.\//, '')
  }
  const untrue = claimed.filter(
    (path) => !paths.some((real) => real === plain(path) || real.startsWith(`${plain(path)}/`)),
  )
  const risks =
    untrue.length > 0
      ? [`The worker says that it changed these files, but they are as they were: ${firstPaths(untrue)}`]
      : []
  return defined({
    ...rest,
    changed_paths: paths.length > 0 ? [...paths] : undefined,
    unresolved_risks: [...rest.unresolved_risks, ...risks],
  })
}

/** Adds the results of the project's checks, which ran after the changes were joined into the project. */
export function withChecks(envelope: Envelope, checks: readonly CheckSeen[] | undefined): Envelope {
  if (!checks) return envelope
  const none = 'No test or build command was found in this project, so nothing was run on the merged changes.'
  const words = (some: readonly CheckSeen[]) => some.map(checkWords)
  const ran = checks.filter(({ refused }) => !refused)
  const [good, bad] = [ran.filter(({ passed }) => passed), ran.filter(({ passed }) => !passed)]
  const told = defined({
    ...envelope,
    evidence: [...envelope.evidence, ...(checks.length === 0 ? [none] : words(good))],
    unresolved_risks: [...envelope.unresolved_risks, ...words(checks.filter(({ refused }) => refused))],
    checks: ran.length > 0 ? ran.map(({ command, passed }) => ({ command, passed })) : undefined,
  })
  return bad.length === 0 ? told : partial(told, words(bad))
}

const longestEvidence = 800

export function checkWords({ passed, refused, evidence }: CheckSeen): string {
  const cut = evidence.length > longestEvidence ? `${evidence.slice(0, longestEvidence)}…` : evidence
  if (passed) return `After the changes were brought into the project, ${evidence.split('\n')[0]!.replace(/:$/, '')}.`
  return refused
    ? `A check of the project did not run: ${cut}`
    : `A check of the project fails after the changes were brought in: ${cut}`
}

/** Adds risks to an envelope. Incomplete work then counts as partial. */
export function partial(envelope: Envelope, risks: readonly string[], next?: string): Envelope {
  const { status, unresolved_risks, exact_next_step } = envelope
  return {
    ...envelope,
    unresolved_risks: [...unresolved_risks, ...risks],
    exact_next_step: next ?? exact_next_step,
    status: status === 'completed' ? 'partial' : status,
  }
}
