import { defined } from '../base/defined.ts'
import type { Entry } from '../core/talk/entry.ts'
import type { Agent } from '../core/work/agent.ts'
import type { Tool } from '../core/work/tool.ts'
import { maskWithin } from '../safety/redaction.ts'

type VendorBorderParts = {
  /** The vendor of each agent of the settings; an agent with an unknown vendor counts as its own vendor. */
  vendors: ReadonlyMap<string, string>
  /** Agents whose vendor changes with their model: their frames name the vendor at that time. */
  changing: ReadonlySet<string>
  mask(text: string): string
}

/**
 * Shows an agent the texts of its own vendor's agents unchanged, and everything else with the secrets masked. The same entries always
 * give the same bytes, so that the beginning of a conversation stays in the provider's cache.
 */
export function behindVendorBorder(agent: Agent, parts: VendorBorderParts): Agent {
  const vendor = agent.traits.vendor ?? agent.name
  return { ...agent, turn: (turn) => agent.turn({ ...turn, history: historyFor(vendor, turn.history, parts) }) }
}

/** The history as a vendor may see it. In turns that an agent of this vendor took part in, the prompt is shown unchanged. */
function historyFor(vendor: string, history: readonly Entry[], parts: VendorBorderParts): Entry[] {
  const { vendors, changing, mask } = parts
  const framed = new Map<string, string>()
  const knows = history.map((entry) => {
    if (entry.type === 'frame') framed.set(entry.by, entry.vendor ?? vendors.get(entry.by) ?? entry.by)
    return (changing.has(entry.by) ? framed.get(entry.by) : (vendors.get(entry.by) ?? entry.by)) === vendor
  })
  const turns = new Set(history.flatMap(({ turn }, at) => (knows[at] ? [turn] : [])))
  return history.map((entry, at) =>
    knows[at] || (entry.by === 'user' && turns.has(entry.turn)) ? entry : maskedEntry(entry, mask),
  )
}

/** A tool by which agents speak to agents of other vendors: secrets are masked in messages in both directions. */
export function messageTool(tool: Tool, mask: (text: string) => string): Tool {
  return {
    ...tool,
    parse: (input) => tool.parse(maskWithin(input, mask)),
    async run(input, call) {
      const said = await tool.run(input, call)
      return typeof said === 'string' ? mask(said) : (maskWithin(said, mask) as typeof said)
    },
  }
}

/** An entry with the secrets masked in every part that an agent reads. */
export function maskedEntry(entry: Entry, mask: (text: string) => string): Entry {
  switch (entry.type) {
    case 'notification':
      return defined({
        ...entry,
        text: mask(entry.text),
        final: entry.final === undefined ? undefined : mask(entry.final),
      })
    case 'result':
      return { ...entry, text: mask(entry.text), data: maskWithin(entry.data, mask) }
    case 'call':
      // The input is masked as one text, because a value is recognised as a secret by the name before it.
      return { ...entry, input: maskedJson(entry.input, mask) }
    case 'attempt':
      return { ...entry, ...(maskWithin({ failure: entry.failure, did: entry.did }, mask) as object) }
    case 'end':
      return { ...entry, outcome: maskWithin(entry.outcome, mask) as typeof entry.outcome }
    case 'question':
      return { ...entry, question: maskWithin(entry.question, mask) as typeof entry.question }
    default:
      return 'text' in entry ? { ...entry, text: mask(entry.text) } : entry
  }
}

/** A value with its secrets masked; if the masked text is no longer JSON, the text itself. */
function maskedJson(value: unknown, mask: (text: string) => string): unknown {
  const text = mask(JSON.stringify(value) ?? '')
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}
