import type { Turn } from '../../src/core/work/agent.ts'
import type { SavedTree } from '../../src/think/decompose/saved-trees.ts'
import type { DecomposeParts } from '../../src/think/decompose/decompose.ts'
import type { Rigged } from './rig.ts'
import { decompose } from '../../src/think/decompose/decompose.ts'
import { memoryStore } from '../../src/store/memory-store.ts'
import { thinkingRig } from './rig.ts'

/** Scripted agents, and the unfinished trees of earlier turns, one of which a later turn may continue. */
export function treeRig(o: Rigged, parts: Partial<DecomposeParts> = {}) {
  const rig = thinkingRig(o)
  const kept = memoryStore().doc<SavedTree[]>('trees', [])
  const all = {
    kept,
    owner: 'me',
    alive: (owner: string) => owner === 'me',
    agreed: true,
    freeCalls: 2,
    agree: async () => {},
    ...parts,
  }
  const agent = (more: Partial<DecomposeParts> = {}) => decompose({ ...all, ...more }).agent(rig.resources)
  return {
    ...rig,
    kept,
    agent,
    /** A turn that is thought through as a tree. */
    go: (over: Partial<Turn> = {}, more: Partial<DecomposeParts> = {}) => rig.run(agent(more), over),
    /** How each task of each tree that was left stands. */
    async left() {
      const trees = await kept.read()
      return trees.map(({ tasks, holder }) => [
        ...tasks.map(({ id, state }) => `${id} ${state}`),
        ...(holder ? ['held'] : []),
      ])
    },
  }
}

/** A task that a command shows to be done. */
export const task = (id: string, more: Record<string, unknown> = {}) => ({
  id,
  task: `do ${id}`,
  check: { kind: 'command', command: `test ${id}` },
  ...more,
})
