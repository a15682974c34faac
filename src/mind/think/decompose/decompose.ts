import type { Event } from '../../../core/talk/entry.ts'
import type { Outcome } from '../../../core/talk/outcome.ts'
import type { Agreement } from '../consent.ts'
import type { Course } from '../course.ts'
import type { Way } from '../thinker.ts'
import type { Apart } from './apart.ts'
import type { KeptTree, Trees } from './kept.ts'
import { note } from '../course.ts'
import { assign } from '../minds.ts'
import { thinker } from '../thinker.ts'
import { mayGoApart } from './apart.ts'
import { closed, notReached } from './close.ts'
import { drop, keep, letGo } from './kept.ts'
import { begun, requestOf } from './left.ts'
import { planned } from './planner.ts'
import { progressOf } from './shown.ts'
import { pieces } from './tree.ts'
import { walked } from './walk.ts'
import { wanted } from './wanted.ts'

/** `resume`: the person asked for the tree that was left last; `apart`: where tasks can be done side by side. */
export type DecomposeParts = Trees & Agreement & { resume?: boolean; apart?: Apart }

/** A tree of tasks, each with a check, gone through depth first; what a turn leaves undone a later one goes on with. */
export const decompose = (parts: DecomposeParts): Way => ({
  asks: (minds) => assign(['planner', 'judge'], minds),
  rounds: 2,
  agent: (minds) => thinker('decompose', minds, (course) => decomposed(parts, course)),
})

async function* decomposed(parts: DecomposeParts, course: Course): AsyncGenerator<Event, Outcome> {
  const { turn } = course
  const found = yield* begun(parts.resume ?? false, parts, course)
  if (course.over) return course.over
  if ('tree' in found) return yield* undertaken(found.tree, requestOf(found.tree, turn.prompt), parts, course)
  if ('leave' in found) return yield* directly(found.leave, turn.prompt, course)
  const told = yield* planned(found.plan, course, parts.apart !== undefined && mayGoApart(turn))
  if (course.over) return course.over
  if (!told.ok) return yield* directly(`no tree of tasks could be made (${told.why})`, found.plan, course)
  const go = yield* wanted(told.value, parts, course)
  if (course.over) return course.over
  if (!go) return yield* directly('the tree of tasks was not wanted', found.plan, course)
  const tree = { id: turn.id, prompt: found.plan, tasks: told.value, holder: { owner: parts.owner, turn: turn.id } }
  return yield* undertaken(tree, found.plan, parts, course)
}

/** One agent, one piece, as if nobody had thought of a tree. */
async function* directly(why: string, request: string, course: Course): AsyncGenerator<Event, Outcome> {
  yield note(`${why}: taken directly`)
  return yield* course.act(request)
}

/** Goes through it, and lets go of what it leaves undone however the turn ends. */
async function* undertaken(
  from: KeptTree,
  request: string,
  parts: DecomposeParts,
  course: Course,
): AsyncGenerator<Event, Outcome> {
  const { turn } = course
  try {
    const { tree, end, acted } = yield* walked(from, request, parts, course)
    const { done, of } = progressOf(tree.tasks)
    if (!end && done === of) {
      await drop(parts, tree)
      course.passed = pieces(tree.tasks).some(({ unseen }) => unseen) ? undefined : true
      return yield* closed(tree, acted, course)
    }
    if (end?.ok && end.asks !== undefined) await keep(parts, { ...tree, asked: turn.id })
    yield note(`${done} of ${of} tasks are done; the same request again goes on from there`)
    course.passed = end ? undefined : false
    if (end) return end
    return yield* notReached(tree)
  } finally {
    await letGo(parts, from, turn.id)
  }
}
