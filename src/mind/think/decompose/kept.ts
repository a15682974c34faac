import type { Doc } from '../../../core/talk/store.ts'
import type { TreeTask } from './tree.ts'
import { progressOf } from './shown.ts'

/**
 * A tree that is not done, by the turn it was planned in. `holder`: the turn that is at work on it, and its process;
 * `asked`: the turn that ended with a question of whoever acted.
 */
export type KeptTree = {
  id: string
  prompt: string
  tasks: readonly TreeTask[]
  holder?: { owner: string; turn: string }
  asked?: string
}

/** Where trees are kept, and whether the process of a holder lives. */
export type Trees = { kept: Doc<KeptTree[]>; owner: string; alive(owner: string): boolean }

/** What was given up long ago does not pile up. */
const mostKept = 8

/** What is known of a tree that was left. */
export type Left = { prompt: string; done: number; of: number }

/** The tree that was left last, for whoever offers to go on with it. */
export async function lastLeft(trees: Trees): Promise<Left | undefined> {
  const [tree] = await treesLeft(trees)
  return tree && { prompt: tree.prompt, ...progressOf(tree.tasks) }
}

/** Those that nobody is at work on, the newest first. */
export async function treesLeft({ kept, alive }: Trees): Promise<KeptTree[]> {
  return (await kept.read()).filter((tree) => isFree(tree, alive)).reverse()
}

/** Takes a tree up, unless somebody else was quicker. */
export async function hold(
  { kept, owner, alive }: Trees,
  { id }: KeptTree,
  turn: string,
): Promise<KeptTree | undefined> {
  const all = await kept.update((now) =>
    now.map((tree) => (tree.id === id && isFree(tree, alive) ? { ...tree, holder: { owner, turn } } : tree)),
  )
  return all.find((tree) => tree.id === id && tree.holder?.turn === turn)
}

export async function keep({ kept }: Trees, tree: KeptTree): Promise<void> {
  await kept.update((now) => [...now.filter(({ id }) => id !== tree.id), tree].slice(-mostKept))
}

export async function drop({ kept }: Trees, { id }: KeptTree): Promise<void> {
  await kept.update((now) => now.filter((tree) => tree.id !== id))
}

/** Whoever comes next may take it up. */
export async function letGo({ kept }: Trees, { id }: KeptTree, turn: string): Promise<void> {
  await kept.update((now) =>
    now.map((tree) => {
      if (tree.id !== id || tree.holder?.turn !== turn) return tree
      const { holder: _, ...free } = tree
      return free
    }),
  )
}

const isFree = ({ holder }: KeptTree, alive: Trees['alive']) => holder === undefined || !alive(holder.owner)
