import type { Event } from '../../../core/talk/entry.ts'
import type { Outcome } from '../../../core/talk/outcome.ts'
import type { Course } from '../course.ts'
import type { Way } from '../thinker.ts'
import type { Trial } from './trial.ts'
import { note } from '../course.ts'
import { assign } from '../minds.ts'
import { thinker } from '../thinker.ts'
import { firstLine } from '../words.ts'
import { answeringWords, unaidedWords } from './prompts.ts'
import { proposed } from './proposal.ts'
import { faultIn, tried } from './trial.ts'

const roles = ['coder']

/** So often in a row a script may fail. */
const mostFailures = 2

/** What is easier computed than thought: somebody writes a throw-away script, we run it, and its result is answered by. */
export const script: Way = {
  asks: (minds) => assign(roles, minds),
  rounds: 1,
  agent: (minds) => thinker('script', minds, scripted),
}

async function* scripted(course: Course): AsyncGenerator<Event, Outcome> {
  const failed: Trial[] = []
  let [coder] = assign(roles, course.minds)
  while (failed.length < mostFailures) {
    yield course.phase(failed.length === 0 ? 'writing a script' : 'mending the script')
    const written = yield* proposed(coder!, failed, course)
    if (course.over) return course.over
    if ('none' in written) return yield* directly(`no script (${sentence(written.none)})`, failed, course)
    // Whoever wrote it mends it.
    coder = { ...coder!, agent: written.by }
    yield course.phase('running the script')
    const trial = yield* tried(written, course)
    if (course.over) return course.over
    if (trial.ended === 'not allowed' || trial.ended === 'not run')
      return yield* directly(`the script was ${trial.ended} (${sentence(trial.printed)})`, [...failed, trial], course)
    course.passed = trial.ended === 'well'
    if (course.passed) {
      yield course.phase('answering by its result')
      return yield* course.act(answeringWords(trial, course))
    }
    failed.push(trial)
    if (failed.length < mostFailures) yield note(`the script failed (${faultIn(trial)}); ${written.by} mends it`)
  }
  return yield* directly(`the script failed ${mostFailures} times (${faultIn(failed.at(-1)!)})`, failed, course)
}

/** Without a script, by whoever acts, who is told what was tried. */
async function* directly(why: string, failed: readonly Trial[], course: Course): AsyncGenerator<Event, Outcome> {
  yield note(`${why}; taken directly`)
  return yield* course.act(unaidedWords(failed, course))
}

/** Enough for a quiet line: the rest stands with the call, or is told to whoever acts. */
const sentence = (text: string) => firstLine(text).split(/[.!](?:\s|$)/)[0]!
