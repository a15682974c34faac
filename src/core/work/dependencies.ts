/** What is known of one piece of work that others may wait for. */
export type WorkItem = {
  id: string
  state: 'waiting' | 'running' | 'done' | 'dead'
  why?: string
  needs: readonly string[]
}

/** All the work there is, by its id. */
export type WorkItems = Pick<ReadonlyMap<string, WorkItem>, 'get'>

export type Readiness = { ready: true } | { ready: false; waitsFor: string[] } | { ready: false; never: string }

/** Whether a piece of work may go: all it needs is done; a dead, missing or circular need says so for good. */
export function readinessOf(id: string, all: WorkItems): Readiness {
  const work = all.get(id)
  if (!work) return { ready: false, never: `${id} is not known` }
  const circle = findCircle(id, all)
  if (circle) return { ready: false, never: `${circle.join(' needs ')}: a circle` }
  for (const need of work.needs) {
    const other = all.get(need)
    if (!other) return { ready: false, never: `${id} needs ${need}, which does not exist` }
    if (other.state === 'dead')
      return { ready: false, never: `${id} needs ${need}, which failed${other.why ? `: ${other.why}` : ''}` }
  }
  const waitsFor = work.needs.filter((need) => all.get(need)!.state !== 'done')
  return waitsFor.length === 0 ? { ready: true } : { ready: false, waitsFor }
}

const placeholder = /\{\{\s*slot_(\w+)\.output\s*\}\}/g

/** The pieces whose outputs a text wants filled in. */
export function placeholders(text: string): string[] {
  return [...new Set([...text.matchAll(placeholder)].map((match) => match[1]!))]
}

/**
 * Fills `{{slot_N.output}}`, marked as another agent's words so that nobody takes them for the person's; what has no
 * output stays as it is.
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
