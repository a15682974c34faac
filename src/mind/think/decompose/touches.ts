import type { TreeTask } from './tree.ts'
import { isLeaf, readiness } from './tree.ts'

/** The next task and another that may be done beside it: both fresh, both ready, and what they change has nothing in common. */
export function besideOf(
  tasks: readonly TreeTask[],
  next: TreeTask,
  alone: ReadonlySet<string>,
): [TreeTask, TreeTask] | undefined {
  const ready = readiness(tasks)
  const fresh = (task: TreeTask) =>
    task.state === 'waiting' && task.failed === undefined && !alone.has(task.id) && isLeaf(tasks, task)
  if (!fresh(next)) return undefined
  const other = tasks.find((task) => task !== next && fresh(task) && ready(task).ready && areApart(next, task))
  return other && [next, other]
}

/** Whether nothing that one of them may change may be changed by the other; who does not say what it changes may change anything. */
function areApart({ touches: one = [] }: TreeTask, { touches: other = [] }: TreeTask): boolean {
  if (one.length === 0 || other.length === 0) return false
  return one.every((path) => other.every((another) => differ(waysOf(path), waysOf(another))))
}

/** A path by its names; one that does not begin in the working folder may lead anywhere. A disk may not tell letters by their case. */
function waysOf(path: string): string[] {
  const plain = path.trim().toLowerCase().replaceAll('\\', '/')
  if (/^(\/|~|[a-z]:)/.test(plain)) return ['**']
  return plain.split('/').filter((name) => name !== '' && name !== '.')
}

/** What may stand for several names. */
const leadsAnywhere = (name: string) => name === '..' || /\*\*|[{}()]/.test(name)

const isPattern = (name: string) => /[*?[\]!]/.test(name)

/** At some depth their names differ for sure; a pattern may be any name, and a folder is all that lies in it. */
function differ(one: readonly string[], other: readonly string[]): boolean {
  for (let depth = 0; depth < Math.min(one.length, other.length); depth++) {
    const names = [one[depth]!, other[depth]!] as const
    if (names.some(leadsAnywhere)) return false
    if (!names.some(isPattern) && names[0] !== names[1]) return true
  }
  return false
}
