import { inSlices } from './slices.ts'

/** A path, and what it is searched by. */
export type Item = { path: string; lower: string; depth: number }

/** All paths that can be found: files, and the folders above them. */
export class Stock {
  #known = new Map<string, Item>()
  items: readonly Item[] = []

  /** Takes the place of what was there, once it is whole: until then the old list is the one to search. */
  async replace(paths: readonly string[], signal: AbortSignal): Promise<void> {
    const known = new Map<string, Item>()
    const items: Item[] = []
    const add = (path: string): void => {
      if (known.has(path)) return
      const item = this.#known.get(path) ?? { path, lower: path.toLowerCase(), depth: depthOf(path) }
      known.set(path, item)
      items.push(item)
      const above = path.lastIndexOf('/', path.length - 2)
      if (above >= 0) add(path.slice(0, above + 1))
    }
    if (!(await inSlices(paths, signal, add))) return
    this.#known = known
    this.items = items
  }
}

function depthOf(path: string): number {
  let depth = 0
  for (let at = path.indexOf('/'); at >= 0 && at < path.length - 1; at = path.indexOf('/', at + 1)) depth++
  return depth
}
