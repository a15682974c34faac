import type { Event } from '../../core/talk/entry.ts'
import type { Outcome } from '../../core/talk/outcome.ts'
import type { Agreement } from '../cost-consent.ts'
import type { FrameworkDefinition } from '../framework-agent.ts'
import type { ThinkingTurn } from '../thinking-turn.ts'
import type { TaskCopies } from './parallel-tasks.ts'
import type { SavedTree, TreeStore } from './saved-trees.ts'
import type { TreeTask } from './task-tree.ts'
import { askAgreement, costWords } from '../cost-consent.ts'
import { failed } from '../../core/talk/outcome.ts'
import { frameworkAgent, giveUp } from '../framework-agent.ts'
import { checkName } from '../goal-check.ts'
import { clipped, plural, quoted } from '../prompt-text.ts'
import { assign } from '../resources.ts'
import { note } from '../thinking-turn.ts'
import { mayRunParallel } from './parallel-tasks.ts'
import { deleteTree, releaseTree, saveTree, startTree, treeRequest } from './saved-trees.ts'
import { drawTree, taskTitle, treeProgress, workTasks } from './task-tree.ts'
import { planTree } from './tree-planner.ts'
import { walkTree } from './tree-walk.ts'

/**
 * `resume`: the person asked for the last unfinished tree; `copies`: makes the copies of the project in which tasks can run in parallel.
 */
export type DecomposeParts = TreeStore & Agreement & { resume?: boolean; copies?: TaskCopies }

/** A tree of tasks, each with a check, processed depth first; a later turn continues with the unfinished tasks. */
export const decompose = (parts: DecomposeParts): FrameworkDefinition => ({
  asks: (resources) => assign(['planner', 'judge'], resources),
  rounds: 2,
  agent: (resources) => frameworkAgent('decompose', resources, (thinking) => doAsTree(parts, thinking)),
  advice: { asks: (resources) => assign(['planner'], resources), advise: adviseTree },
})

/** Returns the tree as advice: the caller does the tasks. */
async function* adviseTree(thinking: ThinkingTurn): AsyncGenerator<Event, Outcome> {
  const planned = yield* planTree(thinking.turn.prompt, thinking)
  if (thinking.over) return thinking.over
  if (!planned.ok) return planned.words ? { ok: true, text: planned.words } : failed('unmet', planned.why)
  const checks = workTasks(planned.value).flatMap(({ id, check }) => (check ? [`- ${id}: ${checkName(check)}`] : []))
  const text = [
    'Do these tasks in this order; a task is done when its check passes.',
    drawTree(planned.value),
    ...workTasks(planned.value).map((task) => `${task.id}. ${task.task}`),
    ...(checks.length > 0 ? ['Checks:', ...checks] : []),
  ]
  return { ok: true, text: text.join('\n') }
}

async function* doAsTree(parts: DecomposeParts, thinking: ThinkingTurn): AsyncGenerator<Event, Outcome> {
  const { turn } = thinking
  const start = yield* startTree(parts.resume ?? false, parts, thinking)
  if (thinking.over) return thinking.over
  if ('tree' in start) return yield* workOn(start.tree, treeRequest(start.tree, turn.prompt), parts, thinking)
  if ('leave' in start) return yield* actDirectly(start.leave, turn.prompt, thinking)
  const planned = yield* planTree(start.plan, thinking, parts.copies !== undefined && mayRunParallel(turn))
  if (thinking.over) return thinking.over
  if (!planned.ok) return yield* actDirectly(`no task tree could be made (${planned.why})`, start.plan, thinking)
  const go = yield* agreedTo(planned.value, parts, thinking)
  if (thinking.over) return thinking.over
  if (!go) return yield* actDirectly('you declined the task tree', start.plan, thinking)
  const holder = { owner: parts.owner, turn: turn.id }
  return yield* workOn({ id: turn.id, prompt: start.plan, tasks: planned.value, holder }, start.plan, parts, thinking)
}

/** One agent does the whole request, without a tree. */
async function* actDirectly(why: string, request: string, thinking: ThinkingTurn): AsyncGenerator<Event, Outcome> {
  yield note(`${why}; answering directly`)
  return yield* thinking.act(request)
}

/** Shows the cost of a tree, which is only known after planning; an expensive one waits for the person's yes. */
async function* agreedTo(
  tasks: readonly TreeTask[],
  agreement: Agreement,
  thinking: ThinkingTurn,
): AsyncGenerator<Event, boolean> {
  const { turn, resources } = thinking
  const all = workTasks(tasks)
  const judged = all.filter(({ check }) => check === undefined || check.kind === 'judge').length
  const judging = Array.from({ length: judged }, () => ({ role: 'judge', agent: resources.readers[0]! }))
  const cost = `${plural(judged, 'extra call')} to judge, about ${costWords(judging, judged, resources, turn)} besides the work`
  const words = `${plural(all.length, 'task')}${judged === 0 ? ', each with a check of its own' : `; ${cost}`}`
  const expensive = all.length + judged > agreement.freeCalls
  if (!expensive || !turn.attended || agreement.agreed) {
    yield note(words)
    return true
  }
  const shows = [{ type: 'text' as const, text: drawTree(tasks) }]
  const go = yield* askAgreement({ text: `decompose: ${words}.`, shows }, agreement, turn)
  if (go) thinking.allowMoreCalls()
  return go
}

/** Walks the tree, and afterwards releases it for a later turn, however this one ends. */
async function* workOn(
  from: SavedTree,
  request: string,
  parts: DecomposeParts,
  thinking: ThinkingTurn,
): AsyncGenerator<Event, Outcome> {
  const { turn } = thinking
  try {
    const { tree, end, acted } = yield* walkTree(from, request, parts, thinking)
    const { done, of } = treeProgress(tree.tasks)
    if (!end && done === of) {
      await deleteTree(parts, tree)
      thinking.passed = workTasks(tree.tasks).some(({ unseen }) => unseen) ? undefined : true
      return yield* summarise(tree.tasks, acted, thinking)
    }
    if (end?.ok && end.asks !== undefined) await saveTree(parts, { ...tree, asked: turn.id })
    yield note(`${done} of ${of} tasks are done; send the same request again to continue`)
    thinking.passed = end ? undefined : false
    return end ?? (yield* reportFailures(tree))
  } finally {
    await releaseTree(parts, from, turn.id)
  }
}

/** One answer for the person after all tasks are done: from the actor, otherwise a plain list. */
async function* summarise(
  tasks: readonly TreeTask[],
  acted: Outcome | undefined,
  thinking: ThinkingTurn,
): AsyncGenerator<Event, Outcome> {
  const all = workTasks(tasks)
  // If there is only one task, the actor's reply is the answer.
  if (all.length === 1 && acted) return acted
  yield thinking.phase('summing up')
  const outcome = yield* thinking.act(
    [
      'Every task of the tree is done and was checked. Tell the person in a few lines what was done, and what they should know or try; change nothing more.',
      quoted('tasks', drawTree(tasks)),
    ].join('\n\n'),
  )
  if (thinking.over) return thinking.over
  if (outcome.ok) return outcome
  const text = ['Done:', ...all.map((task) => `- ${taskTitle(task)}`)].join('\n')
  yield { type: 'reply', text, by: 'termaite' }
  return { ok: true, text }
}

/** Reports the tasks that failed, those that were not begun because of them, and those that are done nevertheless. */
function reportFailures({ tasks, prompt }: SavedTree): AsyncGenerator<Event, Outcome> {
  const all = workTasks(tasks)
  const tried = all.flatMap((task) =>
    task.state === 'dead' && task.failed !== undefined
      ? [{ what: taskTitle(task), seen: clipped(task.failed, 1_000) }]
      : [],
  )
  const known = all.flatMap((task) => {
    if (task.state === 'done') return [`done: ${taskTitle(task)}`]
    return task.failed === undefined ? [`not begun: ${taskTitle(task)} (${task.why ?? 'it waits'})`] : []
  })
  return giveUp(taskTitle({ task: prompt }), tried, known)
}
