import type { Event } from '../../core/talk/entry.ts'
import type { Parser, Shape } from '../../core/data/shape.ts'
import type { Approach, FailedApproach } from '../plan-act-check.ts'
import type { ShapedAnswer, ThinkingTurn } from '../thinking-turn.ts'
import type { TreeTask } from './task-tree.ts'
import { defined } from '../../base/defined.ts'
import { list, optional, string } from '../../core/data/shape.ts'
import { checkField, checkInstructions, parseCheck } from '../goal-check.ts'
import { answerShape, part } from '../../core/data/json-answer.ts'
import { clipped, quoted } from '../prompt-text.ts'
import { assign } from '../resources.ts'
import { drawTree, isLeaf, readiness, taskTitle } from './task-tree.ts'

const deepest = 3
const mostLeaves = 24

const parallelInstructions =
  'Give a leaf "touches", the files and folders it creates or changes, from the working folder (globs are fine), wherever you know all of them. Two leaves of which neither needs the other, and whose "touches" have nothing in common, may be done at the same time, neither seeing what the other does: whatever a leaf builds on must be in its "needs". Leave "touches" out where a leaf may change anything else, such as a lock file.'

/** Asks for the tree; a tree that cannot be walked is sent back once. `parallel`: whether tasks can run at the same time here. */
export async function* planTree(
  request: string,
  thinking: ThinkingTurn,
  parallel = false,
): AsyncGenerator<Event, ShapedAnswer<TreeTask[]>> {
  yield thinking.phase('planning')
  const words = [
    'You plan a piece of work; other agents do it, one task after another, in this working folder. Look at the project first: its files, how it is built and tested. Change nothing.',
    quoted('request', request),
    thinking.resources.machine.description,
    `Break it into a tree of tasks, at most ${deepest} deep and with at most ${mostLeaves} leaves; a handful is usual, and one is enough for what is one thing. Only leaves are done; they are done in the order you list them. A leaf says what to do and in which files, so that an agent that knows the request can do it in one go without asking. "needs" lists the ids of tasks without which it makes no sense: if one of them fails it is not begun, and everything else goes on. Give every leaf a check of its own, and the whole of several leaves one where only together they can show it.`,
    ...(parallel ? [parallelInstructions] : []),
    checkInstructions,
  ].join('\n\n')
  return yield* thinking.askFor(plannerSeat(thinking), words, treeShape)
}

const anotherWayShape = answerShape({ how: string({ min: 1 }), check: optional(checkField) })

/** Asks the planner for another way to do one task, once, when its own way failed. */
export async function* planAnotherWay(
  task: TreeTask,
  tasks: readonly TreeTask[],
  request: string,
  failed: readonly FailedApproach[],
  thinking: ThinkingTurn,
): AsyncGenerator<Event, Approach | undefined> {
  if (failed.length > 1) return undefined
  yield thinking.phase('looking for another way')
  const words = [
    'A piece of work is done as the tree of tasks below. The task marked > was tried twice, and failed. Look at the files and find out why; change nothing. Then give another way to do this one task: not the same again.',
    quoted('request', request),
    thinking.resources.machine.description,
    quoted('tasks', drawTree(tasks)),
    quoted('task', task.task),
    ...failed.map(({ evidence }) => quoted('failed', clipped(evidence, 4_000))),
    `Give "check" only if the one it had is itself wrong. ${checkInstructions}`,
  ].join('\n\n')
  const answer = yield* thinking.askFor(plannerSeat(thinking), words, anotherWayShape)
  // An answer without JSON is still advice.
  const how = answer.ok ? answer.value.how : answer.words
  if (!how?.trim()) return undefined
  const check = answer.ok ? parseCheck(answer.value.check) : undefined
  return defined({ name: `${taskTitle(task)}, another way`, how, check })
}

const plannerSeat = ({ resources }: ThinkingTurn) => assign(['planner'], resources)[0]!

type Proposed = {
  id: string
  task: string
  needs?: string[]
  touches?: string[]
  check?: ReturnType<typeof checkField.read>
  children?: Proposed[]
}

/** Some planners number their tasks, and write ids as numbers. */
const taskId: Shape<string> = {
  ...string({ min: 1 }),
  read: (value, at) => string({ min: 1 }).read(typeof value === 'number' ? String(value) : value, at),
}

/** Nested tasks of any depth: described once, because every request contains the schema. */
const children = optional<Proposed[]>({
  wants: 'a list',
  json: () => ({ type: 'array', items: { $ref: '#/properties/tasks/items' } }),
  read: (value, at) => list(node).read(value, at),
})

const node: Shape<Proposed> = part({
  id: taskId,
  task: string({ min: 1 }),
  needs: optional(list(taskId)),
  touches: optional(list(string())),
  check: optional(checkField),
  children,
})

const proposal = answerShape({ tasks: list(node, 1) })

/** The shape of a planner's answer; a tree that cannot be walked is rejected with the reason, like any unreadable answer. */
export const treeShape: Parser<TreeTask[]> = {
  schema: proposal.schema,
  parse: (input) => walkable(flat(proposal.parse(input).tasks, 1)),
}

function flat(proposed: readonly Proposed[], depth: number, parent?: string): TreeTask[] {
  if (depth > deepest && proposed.length > 0)
    throw new Error(`the tasks below ${parent} are more than ${deepest} deep; put them higher, or into it.`)
  return proposed.flatMap(({ id, task, needs = [], touches = [], check: said, children: below = [] }) => {
    const own: TreeTask = defined({
      id,
      parent,
      task,
      needs,
      touches: touches.length > 0 ? touches : undefined,
      check: parseCheck(said),
      state: 'waiting',
    })
    return [own, ...flat(below, depth + 1, id)]
  })
}

function walkable(tasks: TreeTask[]): TreeTask[] {
  const twice = tasks.find(({ id }, at) => tasks.findIndex((other) => other.id === id) < at)
  if (twice) throw new Error(`two tasks have the id ${twice.id}.`)
  const leaves = tasks.filter((task) => isLeaf(tasks, task)).length
  if (leaves > mostLeaves) throw new Error(`there are ${leaves} leaves, and at most ${mostLeaves} are allowed.`)
  const ready = readiness(tasks)
  for (const task of tasks) {
    const may = ready(task)
    if ('never' in may) throw new Error(`${may.never}.`)
  }
  return tasks
}
