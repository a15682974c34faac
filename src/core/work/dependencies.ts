import { defined } from '../../base/defined.ts'

/** One piece of work for which others may wait: a crew's slot, a hub's task, a leaf of a decomposed task. */
export type WorkItem = {
  id: string
  state: 'waiting' | 'running' | 'done' | 'dead'
  why?: string
  /** Set if dead work did not fail: somebody cancelled it. */
  cancelled?: true
  needs: readonly string[]
}

/** All pieces of work by their ids. */
type WorkItems = Pick<ReadonlyMap<string, WorkItem>, 'get'>

/** `cancelled`: the work never starts because one of its needs was cancelled, and not because something failed. */
export type Readiness =
  | { ready: true }
  | { ready: false; waitsFor: string[] }
  | { ready: false; never: string; cancelled?: true }

/** Says whether a piece of work may start: everything it needs is done. A need that failed, is missing or is circular never will be. */
export function readinessOf(id: string, all: WorkItems): Readiness {
  const work = all.get(id)
  if (!work) return { ready: false, never: `${id} is not known` }
  const circle = findCircle(id, all)
  if (circle) return { ready: false, never: `${circle.join(' needs ')}, which is a circle` }
  for (const need of work.needs) {
    const other = all.get(need)
    if (!other) return { ready: false, never: `${id} needs ${need}, which does not exist` }
    if (other.state === 'dead')
      return defined({
        ready: false as const,
        never: `${id} needs ${need}, which ${other.cancelled ? 'was cancelled' : 'failed'}${other.why ? `: ${other.why}` : ''}`,
        cancelled: other.cancelled,
      })
  }
  const waitsFor = work.needs.filter((need) => all.get(need)!.state !== 'done')
  return waitsFor.length === 0 ? { ready: true } : { ready: false, waitsFor }
}

const placeholder = /\{\{\s*slot_(\w+)\.output\s*\}\}/g

/** Returns the ids whose outputs a text has placeholders for. */
export function placeholders(text: string): string[] {
  return [...new Set([...text.matchAll(placeholder)].map((match) => match[1]!))]
}

/**
 * Fills each `{{slot_N.output}}`. The output is tagged as another agent's text, so that no agent takes it for the person's. A placeholder
 * without an output stays unchanged.
 */
export function fillPlaceholders(text: string, output: (id: string) => string | undefined): string {
  return text.replace(placeholder, (all: string, id: string) => {
    const words = output(id)
    return words === undefined ? all : `<output slot="${id}">\n${words.replaceAll('</output', '<\\/output')}\n</output>`
  })
}

function findCircle(start: string, all: WorkItems): string[] | undefined {
  const path: string[] = []
  const clear = new Set<string>()
  const visit = (id: string): string[] | undefined => {
    const at = path.indexOf(id)
    if (at >= 0) return [...path.slice(at), id]
    if (clear.has(id)) return undefined
    path.push(id)
    for (const need of all.get(id)?.needs ?? []) {
      const circle = visit(need)
      if (circle) return circle
    }
    path.pop()
    clear.add(id)
    return undefined
  }
  return visit(start)
}
