import type { WrittenAgent } from '../../settings/agent-settings.ts'
import type { Node } from 'jsonc-parser'
import { applyEdits, findNodeAtLocation, modify, parseTree } from 'jsonc-parser'
import { isDeepStrictEqual } from 'node:util'
import { editBehindMark, jsonFormat } from '../../native/mcp-config/json-format.ts'
import { withItem, withoutItem } from '../../native/mcp-config/json-lists.ts'

/** A settings file with its list of agents. Every edit returns the text of the changed file; comments stay. */
type AgentFile = { text: string; agents: readonly WrittenAgent[] }

const path = ['agents']

export function withEnabled({ text, agents }: AgentFile, name: string, enabled: boolean): string {
  const at = placeOf(agents, name)
  const { enabled: _, ...agent } = agents[at]!
  const wanted = agents.with(at, enabled ? agent : { ...agent, enabled })
  const edited = editBehindMark(text, (body) => {
    const { offset, length } = findNodeAtLocation(parseTree(body, [], { allowTrailingComma: true })!, [...path, at])!
    // An agent in one line stays in one line.
    const isFlat = !body.slice(offset, offset + length).includes('\n')
    const formattingOptions = { insertSpaces: !body.includes('\n\t'), tabSize: 2 }
    const edits = modify(
      body,
      [...path, at, 'enabled'],
      enabled ? undefined : false,
      isFlat ? {} : { formattingOptions },
    )
    const spaced = (content: string) => content.replace(/^,\s*"/, ', "').replace(/:(?=false)/, ': ')
    return applyEdits(body, isFlat ? edits.map((edit) => ({ ...edit, content: spaced(edit.content) })) : edits)
  })
  return checked(edited, wanted, text)
}

/** Exchanges an agent with its neighbour above (-1) or below (1), each with the comments above and beside it. */
export function withMoved({ text, agents }: AgentFile, name: string, by: -1 | 1): string {
  const at = placeOf(agents, name)
  const first = Math.min(at, at + by)
  if (first < 0 || first + 1 >= agents.length) return text
  const wanted = agents.with(first, agents[first + 1]!).with(first + 1, agents[first]!)
  return checked(
    editBehindMark(text, (body) => exchanged(body, first)),
    wanted,
    text,
  )
}

export const withAdded = ({ text }: AgentFile, agent: WrittenAgent): string => withItem(text, path, agent)

export function withoutAgent({ text, agents }: AgentFile, name: string): string {
  return withoutItem(text, path, agents[placeOf(agents, name)])
}

function placeOf(agents: readonly WrittenAgent[], name: string): number {
  const at = agents.findIndex((agent) => agent.name === name)
  if (at < 0) throw new Error(`${name} is not in the settings any more. Close the list and open it again.`)
  return at
}

/** A comment on the same line, perhaps behind the comma. */
const beside = /^([ \t]*,)?([ \t]*(?:\/\/[^\r\n]*|\/\*[^\n]*?\*\/[ \t]*(?=\r?\n)))?/

/** Exchanges two neighbours of the list. */
function exchanged(body: string, first: number): string {
  const list = findNodeAtLocation(parseTree(body, [], { allowTrailingComma: true })!, path)!
  const [a, b] = [list.children![first]!, list.children![first + 1]!]
  const before = list.children![first - 1]
  const from = before ? tailOf(body, before).end : list.offset + 1
  const [tailA, tailB] = [tailOf(body, a), tailOf(body, b)]
  const partA = body.slice(from, a.offset + a.length)
  const partB = body.slice(tailA.end, b.offset + b.length)
  return (
    body.slice(0, from) +
    partB +
    tailA.comma +
    tailB.comment +
    partA +
    tailB.comma +
    tailA.comment +
    body.slice(tailB.end)
  )
}

function tailOf(body: string, { offset, length }: Node): { comma: string; comment: string; end: number } {
  const end = offset + length
  const [whole, comma = '', comment = ''] = beside.exec(body.slice(end))!
  return { comma, comment, end: end + whole.length }
}

/** The edited text if it holds these agents; otherwise the whole list is written again, which loses the comments in it. */
function checked(edited: string, wanted: readonly WrittenAgent[], before: string): string {
  try {
    if (isDeepStrictEqual(jsonFormat.find(edited, path), wanted)) return edited
  } catch {
    // A comment is at an unusual place, and the edit broke the JSON.
  }
  return jsonFormat.put(before, path, wanted)
}
