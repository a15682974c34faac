import type { Event } from '../../../core/talk/entry.ts'
import type { Check } from '../check/kinds.ts'
import type { Seen } from '../check/seen.ts'
import type { Course } from '../course.ts'
import type { Flaw } from './flaw.ts'
import type { Work } from './work.ts'
import { checked } from '../check/check.ts'
import { judged } from '../check/judge.ts'
import { note } from '../course.ts'
import { projectChecks } from '../project-checks/project-checks.ts'
import { firstLine } from '../words.ts'
import { flawWords } from './flaw.ts'

/** The project's own build and tests decide; somebody judges where there are none, or nobody lets them run. */
export class Proof {
  #flaws: readonly Flaw[]
  #course: Course
  #checks: Check[] | undefined
  #refused = false

  constructor(flaws: readonly Flaw[], course: Course) {
    this.#flaws = flaws
    this.#course = course
  }

  async *look(work: Work): AsyncGenerator<Event, Seen> {
    const passed: string[] = []
    // Where no file changed, they would say nothing about the work.
    for (const check of work.files?.length === 0 ? [] : yield* this.#own()) {
      const seen = yield* checked(check, work, this.#course)
      if (this.#course.over || (!seen.passed && !seen.refused)) return seen
      if (seen.passed) passed.push(firstLine(seen.evidence))
      else yield* this.#drop(check, seen)
    }
    if (passed.length > 0 && !this.#refused) return { passed: true, evidence: passed.join('\n') }
    yield this.#course.phase('judging it')
    return yield* judged(this.#question(), work, this.#course)
  }

  async *#own(): AsyncGenerator<Event, Check[]> {
    if (this.#checks) return this.#checks
    const { checks, missing } = await projectChecks(this.#course.minds)
    if (missing.length > 0) yield note(`not checked by ${missing.join(', ')}: not installed`)
    return (this.#checks = checks)
  }

  /** What was not allowed once is not asked for again in this turn. */
  async *#drop(check: Check, { evidence }: Seen): AsyncGenerator<Event, void> {
    this.#refused = true
    this.#checks = this.#checks!.filter((one) => one !== check)
    yield note(`not checked: ${firstLine(evidence)}`)
  }

  #question(): string {
    const left = ['Is none of this left in it, unless it is shown to be wrong?', ...this.#flaws.map(flawWords)]
    return ['Does it do all that the task asks?', ...(this.#flaws.length > 0 ? left : [])].join('\n')
  }
}
