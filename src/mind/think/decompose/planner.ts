import type { Event } from '../../../core/talk/entry.ts'
import type { Course, Told } from '../course.ts'
import type { Approach, Failed } from '../pac.ts'
import type { TreeTask } from './tree.ts'
import { optional, string } from '../../../core/work/shape.ts'
import { answerShape } from '../answer.ts'
import { checkField, checkIn, checkWords } from '../check/kinds.ts'
import { assign } from '../minds.ts'
import { clipped, quoted } from '../words.ts'
import { deepest, mostLeaves, treeShape } from './proposal.ts'
import { drawn, titleOf } from './shown.ts'

const sideWords =
  'Give a leaf "touches", the files and folders it creates or changes, from the working folder (globs are fine), wherever you know all of them. Two leaves of which neither needs the other, and whose "touches" have nothing in common, may be done at the same time, neither seeing what the other does: whatever a leaf builds on must be in its "needs". Leave "touches" out where a leaf may change anything else, such as a lock file.'

/** Asks for the tree; an answer that cannot be gone through is sent back once. `sides`: whether tasks can be done side by side here. */
export async function* planned(
  request: string,
  course: Course,
  sides = false,
): AsyncGenerator<Event, Told<TreeTask[]>> {
  yield course.phase('planning')
  const words = [
    'You plan a piece of work; other agents do it, one task after another, in this working folder. Look at the project first: its files, how it is built and tested. Change nothing.',
    quoted('request', request),
    course.minds.machine.words,
    `Break it into a tree of tasks, at most ${deepest} deep and with at most ${mostLeaves} leaves; a handful is usual, and one is enough for what is one thing. Only leaves are done; they are done in the order you list them. A leaf says what to do and in which files, so that somebody who knows the request can do it in one go without asking. "needs" lists the ids of tasks without which it makes no sense: if one of them fails it is not begun, and everything else goes on. Give every leaf a check of its own, and the whole of several leaves one where only together they can show it.`,
    ...(sides ? [sideWords] : []),
    checkWords,
  ].join('\n\n')
  return yield* course.askFor(plannerOf(course), words, treeShape)
}

const another = answerShape({ how: string({ min: 1 }), check: optional(checkField) })

/** Another way to one task, from whoever planned it; asked once, when its own way failed. */
export async function* anotherWay(
  task: TreeTask,
  tasks: readonly TreeTask[],
  request: string,
  failed: readonly Failed[],
  course: Course,
): AsyncGenerator<Event, Approach | undefined> {
  if (failed.length > 1) return undefined
  yield course.phase('looking for another way')
  const words = [
    'A piece of work is done as the tree of tasks below. The task marked > was tried twice, and failed. Look at the files and find out why; change nothing. Then give another way to do this one task: not the same again.',
    quoted('request', request),
    course.minds.machine.words,
    quoted('tasks', drawn(tasks)),
    quoted('task', task.task),
    ...failed.map(({ evidence }) => quoted('failed', clipped(evidence, 4_000))),
    `Give "check" only where the one it had is itself wrong. ${checkWords}`,
  ].join('\n\n')
  const told = yield* course.askFor(plannerOf(course), words, another)
  // Advice that is no JSON is advice all the same.
  const how = told.ok ? told.value.how : told.words
  if (!how?.trim()) return undefined
  const check = told.ok ? checkIn(told.value.check) : undefined
  return { name: `${titleOf(task)}, another way`, how, ...(check ? { check } : {}) }
}

const plannerOf = ({ minds }: Course) => assign(['planner'], minds)[0]!
