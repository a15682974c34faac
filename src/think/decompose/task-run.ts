import type { Event } from '../../core/talk/entry.ts'
import type { Outcome } from '../../core/talk/outcome.ts'
import type { CheckResult } from '../goal-check.ts'
import type { ThinkingTurn } from '../thinking-turn.ts'
import type { TreeTask } from './task-tree.ts'
import { runCheck } from '../goal-check.ts'
import { SteppingBack } from '../consensus/council.ts'
import { pursue } from '../plan-act-check.ts'
import { clipped, quoted } from '../prompt-text.ts'
import { drawTree, isLeaf, taskTitle } from './task-tree.ts'
import { planAnotherWay } from './tree-planner.ts'

/** The result of one task: its last check and the actor's outcome, or the outcome that ended the whole turn. */
type TaskResult = { seen: CheckResult; acted?: Outcome } | { end: Outcome }

/** Earlier work on a task: its reply, and a hint for the agent that continues it. */
export type EarlierWork = { reply: string; hint: string }

export const interruptedWork: EarlierWork = {
  reply: '',
  hint: 'It was begun before and interrupted. Look first: it may be half done.',
}

/** Work that was done in a copy of the project, which may lack files of the project. */
export const copiedWork = (reply: string): EarlierWork => ({
  reply,
  hint: 'It was done in a copy of the project and brought here, and its check fails. Find out why, and fix it:',
})

/** Does one task after all its parts are done. */
export async function* runTask(
  task: TreeTask,
  earlier: EarlierWork | undefined,
  request: string,
  tasks: readonly TreeTask[],
  thinking: ThinkingTurn,
): AsyncGenerator<Event, TaskResult> {
  const whole = !isLeaf(tasks, task)
  const check = task.check ?? {
    kind: 'judge' as const,
    question: `Is this one task done, whatever is left of the others: ${task.task}`,
  }
  const done = { task: task.task, reply: earlier?.reply ?? '' }
  // A whole may be done once its parts are, and earlier work may be enough: the check comes before the work.
  const now = whole || earlier ? yield* runCheck(check, done, thinking) : undefined
  if (thinking.over) return { end: thinking.over }
  // If the check of a whole is undecided, the whole counts as done, like its parts.
  if (now?.passed || (whole && now?.undecided)) return { seen: now }
  const title = taskTitle(task)
  const hints = [
    ...(task.task === title ? [] : [task.task]),
    ...(whole ? ['All its parts are done, and its check still fails. Find out why, and fix it:'] : []),
    ...(earlier && !whole ? [earlier.hint] : []),
    ...(task.failed === undefined ? [] : ['It was tried in an earlier turn, and failed:', clipped(task.failed, 2_000)]),
    ...(now && !now.undecided ? [clipped(now.evidence, 2_000)] : []),
  ]
  const back = new SteppingBack(thinking, treeTaskPrompt(request, tasks))
  const pursuit = yield* pursue(
    {
      task: treeTaskPrompt(request, tasks),
      check,
      approaches: [{ name: title, how: hints.join('\n') }],
      async *another(failed) {
        return (yield* planAnotherWay(task, tasks, request, failed, thinking)) ?? (yield* back.next(failed))
      },
    },
    thinking,
  )
  if (thinking.over) return { end: thinking.over }
  if (pursuit.seen) return { seen: pursuit.seen, acted: pursuit.outcome }
  if (pursuit.by) return { end: pursuit.outcome }
  return { seen: { passed: false, evidence: pursuit.failed.at(-1)?.evidence ?? 'nothing was tried' } }
}

export function treeTaskPrompt(request: string, tasks: readonly TreeTask[]): string {
  return [
    request,
    'This is done as a tree of tasks. You do only the task marked >, which is described below; leave the others alone.',
    quoted('tasks', drawTree(tasks)),
  ].join('\n\n')
}
