import type { Event } from '../../core/talk/entry.ts'
import type { Doc } from '../../core/talk/store.ts'
import type { Turn } from '../../core/work/agent.ts'
import type { ThinkingTurn } from '../thinking-turn.ts'
import type { TreeTask } from './task-tree.ts'
import { plural } from '../prompt-text.ts'
import { note } from '../thinking-turn.ts'
import { drawTree, retryFailed, taskTitle, treeProgress } from './task-tree.ts'
import { consentOptions } from '../../core/talk/consent.ts'
import { spendNothing } from '../cost-consent.ts'

/**
 * An unfinished tree, identified by the turn in which it was planned. `holder`: the turn that works on it, and that turn's process;
 * `asked`: the turn that ended with a question of the actor.
 */
export type SavedTree = {
  id: string
  prompt: string
  tasks: readonly TreeTask[]
  holder?: { owner: string; turn: string }
  asked?: string
}

/** The stored trees, and whether the process of a holder is alive. */
export type TreeStore = { kept: Doc<SavedTree[]>; owner: string; alive(owner: string): boolean }

/** Older trees are deleted, so that abandoned ones do not accumulate. */
const mostKept = 8

export type UnfinishedTree = { prompt: string; done: number; of: number }

/** The last unfinished tree, for the offer to continue it. */
export async function lastUnfinished(trees: TreeStore): Promise<UnfinishedTree | undefined> {
  const [tree] = await unfinishedTrees(trees)
  return tree && { prompt: tree.prompt, ...treeProgress(tree.tasks) }
}

/** The trees on which no living process works, newest first. */
export async function unfinishedTrees({ kept, alive }: TreeStore): Promise<SavedTree[]> {
  return (await kept.read()).filter((tree) => isFree(tree, alive)).reverse()
}

const isFree = ({ holder }: SavedTree, alive: TreeStore['alive']) => holder === undefined || !alive(holder.owner)

/** Claims a tree for a turn; undefined if another process was faster. */
export async function claimTree(
  { kept, owner, alive }: TreeStore,
  { id }: SavedTree,
  turn: string,
): Promise<SavedTree | undefined> {
  const all = await kept.update((now) =>
    now.map((tree) => (tree.id === id && isFree(tree, alive) ? { ...tree, holder: { owner, turn } } : tree)),
  )
  return all.find((tree) => tree.id === id && tree.holder?.turn === turn)
}

export async function saveTree({ kept }: TreeStore, tree: SavedTree): Promise<void> {
  await kept.update((now) => [...now.filter(({ id }) => id !== tree.id), tree].slice(-mostKept))
}

export async function deleteTree({ kept }: TreeStore, { id }: SavedTree): Promise<void> {
  await kept.update((now) => now.filter((tree) => tree.id !== id))
}

/** Releases a turn's claim, so that a later turn can continue the tree. */
export async function releaseTree({ kept }: TreeStore, { id }: SavedTree, turn: string): Promise<void> {
  await kept.update((now) =>
    now.map((tree) => {
      if (tree.id !== id || tree.holder?.turn !== turn) return tree
      const { holder: _, ...free } = tree
      return free
    }),
  )
}

/** A tree to continue; or, without one, the request to plan; or the reason to do neither. */
type TreeStart = { tree: SavedTree } | { plan: string } | { leave: string }

/** Continues the unfinished tree to which a turn refers. `wanted`: the person named the tree, and is not asked again. */
export async function* startTree(
  wanted: boolean,
  trees: TreeStore,
  { turn }: ThinkingTurn,
): AsyncGenerator<Event, TreeStart> {
  const tree = await unfinishedTreeFor(turn, trees, wanted)
  if (!tree) return wanted ? { leave: 'there is no unfinished task tree' } : { plan: turn.prompt }
  const { done, of } = treeProgress(tree.tasks)
  if (turn.attended && !wanted) {
    const picks = await turn.ask(
      {
        about: 'choice',
        agent: 'termaite',
        text: `A tree of ${plural(of, 'task')} is unfinished: ${done} of ${of} done (${taskTitle({ task: tree.prompt })}). Continue it?`,
        from: [],
        shows: [{ type: 'text', text: drawTree(tree.tasks) }],
        options: consentOptions({
          once: { id: 'go', label: 'Yes, continue it' },
          no: { id: 'anew', label: 'No, plan it again' },
        }),
        ...spendNothing,
      },
      turn.signal,
    )
    if (picks?.includes('anew')) {
      await deleteTree(trees, tree)
      return { plan: saysContinue(turn.prompt) ? tree.prompt : turn.prompt }
    }
    if (!picks?.includes('go')) return { leave: 'the unfinished task tree stays as it is' }
  }
  const claimed = await claimTree(trees, tree, turn.id)
  if (!claimed) return { leave: 'another process works on the unfinished task tree' }
  yield note(`continuing with ${plural(of, 'task')}, ${done} of them done`)
  const { asked: _, ...rest } = claimed
  return { tree: { ...rest, tasks: retryFailed(claimed.tasks) } }
}

/** The tree to which a turn refers: the turn repeats the tree's request, says to continue, or answers its open question. */
export async function unfinishedTreeFor(turn: Turn, trees: TreeStore, wanted = false): Promise<SavedTree | undefined> {
  const unfinished = await unfinishedTrees(trees)
  const [newest] = unfinished
  const isAnswer = newest?.asked !== undefined && newest.asked === turn.history.at(-1)?.turn
  const same = unfinished.find(({ prompt }) => plain(prompt) === plain(turn.prompt))
  return same ?? (wanted || isAnswer || saysContinue(turn.prompt) ? newest : undefined)
}

/** The request of a tree, with the text that the person added when they continued it. */
export function treeRequest({ prompt }: SavedTree, said: string): string {
  return plain(said) === plain(prompt) || saysContinue(said) ? prompt : `${prompt}\n\nLater they said: ${said}`
}

const continueWords = /^(?:please )?(?:go on|go ahead|continue|carry on|keep going|proceed|resume)(?: please)?$/

const saysContinue = (prompt: string) => continueWords.test(plain(prompt))

const plain = (prompt: string) =>
  prompt
    .toLowerCase()
    .replaceAll(/[\s.!,]+/g, ' ')
    .trim()
