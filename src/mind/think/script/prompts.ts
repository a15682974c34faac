import type { Course } from '../course.ts'
import type { Language } from './code.ts'
import type { Trial } from './trial.ts'
import { clipped, quoted } from '../words.ts'

const longestResult = 24_000
const longestError = 8_000

const howWritten: Record<Language, string> = {
  python: 'Python, best for data: nothing beside what is installed here can be imported',
  node: 'JavaScript for Node: require, not import; await at the top works',
}

export function codingWords(
  languages: readonly Language[],
  failed: readonly Trial[],
  { turn, minds }: Pick<Course, 'turn' | 'minds'>,
): string {
  return [
    'You write a throw-away script whose output answers a request; it is run as you give it, and somebody else answers the person by what it prints. Look at the files first, so that it fits them as they are; change nothing.',
    quoted('task', turn.prompt),
    minds.machine.words,
    `"language": ${languages.map((language) => `"${language}" (${howWritten[language]})`).join(' or ')}.`,
    '"code": the whole script. It starts in the working folder, is given no input and ends by itself within two minutes. It reads the data and does not guess it; it prints what was asked for, short enough to be read, with what shows that it is right, such as how many records it saw. It changes no file unless the request says so. It may run behind walls, without a network and with no processes in sight but its own: where it needs more than it finds, it must fail with an error and not print what is wrong.',
    '"why": in one sentence. Where a script is no help, because nothing has to be computed or a look at a file is enough, leave out "code" and say why.',
    ...failed.flatMap(({ script, printed }) => [
      'This script was run, and failed. Find out why, and write it anew as a whole; what it had defined by then may still be there, and nothing may rely on it:',
      ...trialWords({ script, printed }, longestError),
    ]),
  ].join('\n\n')
}

/** For whoever answers: what is to be known is known. */
export function answeringWords(trial: Trial, { turn, minds }: Course): string {
  return [
    turn.prompt,
    minds.machine.words,
    'This script was written for it by another agent, and was run just now:',
    ...trialWords(trial, longestResult),
    'Answer the person by its result: do not run it again, and do not compute again what it shows. Where it does not show what was asked, say so; what was asked for beyond it is yours to do.',
  ].join('\n\n')
}

/** For whoever acts without one. */
export function unaidedWords(failed: readonly Trial[], { turn, minds }: Course): string {
  return [
    turn.prompt,
    minds.machine.words,
    ...failed.flatMap((trial) => [
      trial.ended === 'not allowed'
        ? 'This script for it was not allowed to run. Do not run it in another way:'
        : trial.ended === 'not run'
          ? 'This script for it could not be run here:'
          : 'This script for it was run, and failed. Go another way:',
      ...trialWords(trial, longestError),
    ]),
  ].join('\n\n')
}

const trialWords = ({ script, printed }: Pick<Trial, 'script' | 'printed'>, most: number) => [
  quoted('script', `${script.language}\n${clipped(script.code, longestResult)}`, script.by),
  quoted('result', clipped(printed, most)),
]
