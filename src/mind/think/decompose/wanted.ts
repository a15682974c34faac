import type { Event } from '../../../core/talk/entry.ts'
import type { Agreement } from '../consent.ts'
import type { Course } from '../course.ts'
import type { TreeTask } from './tree.ts'
import { agreedTo, costOf, mostUnasked } from '../consent.ts'
import { note } from '../course.ts'
import { count } from '../words.ts'
import { drawn } from './shown.ts'
import { pieces } from './tree.ts'

/** What a tree costs is known only once there is one: who watches sees it then, and says yes where it is dear. */
export async function* wanted(
  tasks: readonly TreeTask[],
  agreement: Agreement,
  course: Course,
): AsyncGenerator<Event, boolean> {
  const { turn, minds } = course
  const all = pieces(tasks)
  const judged = all.filter(({ check }) => check === undefined || check.kind === 'judge').length
  const judging = Array.from({ length: judged }, () => ({ role: 'judge', agent: minds.readers[0]! }))
  const cost = `${count(judged, 'extra call')} to judge, about ${costOf(judging, judged, minds, turn)} besides the work`
  const words = `${count(all.length, 'task')}${judged === 0 ? ', each with a check of its own' : `; ${cost}`}`
  const dear = all.length + judged > mostUnasked
  if (dear && turn.attended && !agreement.agreed) {
    const shows = [{ type: 'text' as const, text: drawn(tasks) }]
    const go = yield* agreedTo({ text: `decompose: ${words}.`, shows }, agreement, turn)
    if (go) course.agree()
    return go
  }
  yield note(words)
  return true
}
