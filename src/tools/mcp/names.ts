import { shortHash } from '../../base/hash.ts'

/** Longer ones are refused by some providers. */
const longestName = 64

/** The name under which a model calls a server's tool, and a rule allows it. */
export function toolName(server: string, tool: string): string {
  const name = `${prefixOf(server)}${clean(tool)}`
  return name.length <= longestName ? name : marked(name, `${server}\0${tool}`)
}

/** What the names of a server's tools begin with. */
export const prefixOf = (server: string) => `mcp__${clean(server)}__`

/** One name for each; where two clean names meet, the later one carries a mark of what it really is. */
export function toolNames(server: string, tools: readonly string[], taken: Set<string>): Map<string, string> {
  return new Map(
    tools.map((tool) => {
      const plain = toolName(server, tool)
      const name = taken.has(plain) ? marked(plain, `${server}\0${tool}`) : plain
      taken.add(name)
      return [tool, name]
    }),
  )
}

/** A tool's own name, of the long one that models copy from elsewhere. */
export const shortName = (name: string) => name.replace(/^mcp__.*?__/, '')

const clean = (text: string) => text.replace(/[^A-Za-z0-9_-]+/g, '_') || '_'

function marked(name: string, whole: string): string {
  const mark = `_${shortHash(whole).slice(-6)}`
  return name.slice(0, longestName - mark.length) + mark
}
