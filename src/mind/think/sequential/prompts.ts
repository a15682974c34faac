import type { Course } from '../course.ts'
import type { Finding } from './finding.ts'
import type { Hypothesis } from './hypothesis.ts'
import type { Observation } from './observation.ts'
import { checkWords } from '../check/kinds.ts'
import { clipped, quoted } from '../words.ts'
import { findingWords } from './finding.ts'
import { observationWords } from './observation.ts'

const onlyLooks =
  'A diagnostic is one shell command that looks and changes nothing (no edit, no installation, no restart), needs nobody, and ends by itself within two minutes. Its output must differ between this cause being true and not: the cheapest one that tells them apart.'

export function namingWords({ turn, minds }: Course): string {
  return [
    'You are a diagnostician. Something does not work and nobody knows why. Read what you need in the project; change nothing and mend nothing.',
    quoted('task', turn.prompt),
    minds.machine.words,
    'Name what may be the cause: at most five, each a different mechanism, the likeliest first. "cause": the mechanism in one sentence, precise enough to be wrong. "why": what you saw that speaks for it. "diagnostic": the command that tests it. "expects": what it prints if this is the cause, and what if it is not.',
    onlyLooks,
    '"wants": "fix" when the person wants it to work again; "answer" when they only ask why, or what is the matter, and nothing is to be changed.',
  ].join('\n\n')
}

export function decidingWords(
  { cause, why, expects }: Hypothesis,
  observation: Observation,
  before: readonly Finding[],
  { turn, minds }: Course,
): string {
  return [
    'You decide what one observation says about one hypothesis. Read files where that helps; change nothing.',
    quoted('task', turn.prompt),
    minds.machine.words,
    ...(before.length > 0 ? ['Found out before:', ...before.map(findingWords)] : []),
    quoted('hypothesis', `${cause}\nwhy: ${why}\nexpected: ${expects}`),
    observationWords(observation),
    '"verdict": "confirmed" only when what was seen shows that this is the cause and would not look so otherwise; "rejected" when it shows that it is not; "unclear" when it shows neither. What was not run shows nothing.',
    '"quote": for "confirmed" and "rejected" the exact words that decide it, copied from the output, or from a file (then "file" is its path from the working folder). Words that stand nowhere count as "unclear".',
    `"check": for "confirmed", what shows that it is mended. ${checkWords}`,
    `"more": causes that only this observation brings up, or another way to test this one, with the fields of a hypothesis: cause, why, diagnostic, expects. ${onlyLooks}`,
  ].join('\n\n')
}

/** For whoever answers: the cause is known, and nothing is to be mended. */
export function answeringWords(findings: readonly Finding[], { turn, minds }: Course): string {
  return [
    turn.prompt,
    minds.machine.words,
    'Other agents looked for the cause; this is what they found, each with what was seen:',
    ...findings.map(findingWords),
    'Answer what was asked on that evidence, and name it. Where only an answer was asked for, change nothing, and say how it could be mended.',
  ].join('\n\n')
}

/** For whoever acts where nobody could name a cause that can be tested. */
export function unaidedWords(words: string | undefined, { turn, minds }: Course): string {
  return [
    turn.prompt,
    minds.machine.words,
    ...(words === undefined
      ? []
      : ['Another agent thought about it first:', quoted('diagnosis', clipped(words, 8_000))]),
  ].join('\n\n')
}
