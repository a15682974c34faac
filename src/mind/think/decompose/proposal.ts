import type { Parser, Shape } from '../../../core/work/shape.ts'
import type { TreeTask } from './tree.ts'
import { list, optional, string } from '../../../core/work/shape.ts'
import { answerShape, part } from '../answer.ts'
import { checkField, checkIn } from '../check/kinds.ts'
import { isLeaf, readiness } from './tree.ts'

export const deepest = 3
export const mostLeaves = 24

type Proposed = {
  id: string
  task: string
  needs?: string[]
  touches?: string[]
  check?: ReturnType<typeof checkField.read>
  children?: Proposed[]
}

/** Some number their tasks, and write the number. */
const name: Shape<string> = {
  ...string({ min: 1 }),
  read: (value, at) => string({ min: 1 }).read(typeof value === 'number' ? String(value) : value, at),
}

/** The same again, as deep as it goes: said once, because a schema is read in every request. */
const children = optional<Proposed[]>({
  wants: 'a list',
  json: () => ({ type: 'array', items: { $ref: '#/properties/tasks/items' } }),
  read: (value, at) => list(node).read(value, at),
})

const node: Shape<Proposed> = part({
  id: name,
  task: string({ min: 1 }),
  needs: optional(list(name)),
  touches: optional(list(string())),
  check: optional(checkField),
  children,
})

const proposal = answerShape({ tasks: list(node, 1) })

/** What a planner answers with; a tree that cannot be gone through is sent back with why, like any answer that cannot be read. */
export const treeShape: Parser<TreeTask[]> = {
  schema: proposal.schema,
  parse: (input) => sound(flat(proposal.parse(input).tasks, 1)),
}

function flat(proposed: readonly Proposed[], depth: number, parent?: string): TreeTask[] {
  if (depth > deepest && proposed.length > 0)
    throw new Error(`the tasks below ${parent} are more than ${deepest} deep; put them higher, or into it.`)
  return proposed.flatMap(({ id, task, needs = [], touches = [], check: said, children: below = [] }) => {
    const check = checkIn(said)
    const own: TreeTask = {
      id,
      ...(parent === undefined ? {} : { parent }),
      task,
      needs,
      ...(touches.length > 0 ? { touches } : {}),
      ...(check ? { check } : {}),
      state: 'waiting',
    }
    return [own, ...flat(below, depth + 1, id)]
  })
}

function sound(tasks: TreeTask[]): TreeTask[] {
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
