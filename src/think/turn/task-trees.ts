import type { Doc, Store } from '../../core/talk/store.ts'
import type { SavedTree, TreeStore } from '../decompose/saved-trees.ts'
import type { App } from '../../turn/app.ts'
import { isAlive, ownerMark } from '../../base/process/owner.ts'
import { memoryStore } from '../../store/memory-store.ts'

/** The task trees that turns of this project left unfinished; an ephemeral turn stores none. */
export function treesOf({ store, project, ephemeral }: Pick<App, 'store' | 'project' | 'ephemeral'>): TreeStore {
  return { kept: treesDoc(ephemeral ? memoryStore() : store, project.slug), owner: ownerMark(), alive: isAlive }
}

/** The document with the trees. Damaged trees are dropped, because a tree can be planned again. */
export const treesDoc = (store: Store, slug: string): Doc<SavedTree[]> =>
  store.doc<SavedTree[]>(`projects/${slug}/trees`, [], (found) => (Array.isArray(found) ? found.filter(isTree) : []))

const states = new Set(['waiting', 'running', 'done', 'dead'])

function isTree(found: unknown): found is SavedTree {
  const { id, prompt, tasks } = (found ?? {}) as Partial<SavedTree>
  return typeof id === 'string' && typeof prompt === 'string' && Array.isArray(tasks) && tasks.every(isTask)
}

function isTask(found: unknown): boolean {
  const { id, task, needs, state } = (found ?? {}) as Partial<SavedTree['tasks'][number]>
  return typeof id === 'string' && typeof task === 'string' && Array.isArray(needs) && states.has(state!)
}
