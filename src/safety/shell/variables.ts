import type { Node } from 'web-tree-sitter'

/** Commands that set variables in ways that are not followed. */
const setters =
  /^(?:read|mapfile|readarray|printf|getopts|unset|declare|typeset|local|export|readonly|let|eval|source|\.)$/

export type Sources = ReadonlyMap<string, { nodes: readonly Node[]; holds(at: Node): boolean }>

/**
 * The variables whose every value can be read off the script: assigned once, and surely before they are used.
 * Anything less plain is unknown, and what is unknown is asked about.
 */
export function variablesOf(root: Node): Sources {
  const found = new Map<string, { nodes: Node[]; holds(at: Node): boolean } | undefined>()
  const note = (name: string | undefined, nodes: Node[], holds: (at: Node) => boolean) => {
    if (name !== undefined) found.set(name, found.has(name) ? undefined : { nodes, holds })
  }
  for (const node of root.descendantsOfType(['variable_assignment', 'for_statement', 'command', 'expansion'])) {
    if (node === null) continue
    const name = node.childForFieldName(node.type === 'for_statement' ? 'variable' : 'name')?.text
    if (node.type === 'for_statement')
      note(
        name,
        node.childrenForFieldName('value').filter((one) => one !== null),
        within(node),
      )
    else if (node.type === 'variable_assignment') {
      const value = node.childForFieldName('value')
      // `+=` and an array are more than one value.
      const plain = value && value.type !== 'array' && node.text.startsWith(`${name}=`)
      note(name, plain ? [value] : [], plain && isFirst(node) ? (at) => at.startIndex > node.endIndex : () => false)
    } else if (node.type === 'expansion') {
      if (/^\$\{\w+:?=/.test(node.text)) found.set(/\w+/.exec(node.text)![0], undefined)
    } else if (setters.test(node.childForFieldName('name')?.text ?? '')) {
      for (const word of node.text.match(/\w+/g) ?? []) found.set(word, undefined)
    }
  }
  const sources = new Map<string, { nodes: Node[]; holds(at: Node): boolean }>()
  if (found.has('IFS')) return sources
  for (const [name, source] of found) if (source && source.nodes.length > 0) sources.set(name, source)
  return sources
}

function within(loop: Node): (at: Node) => boolean {
  const body = loop.childForFieldName('body')
  return (at) => body !== null && at.startIndex >= body.startIndex && at.endIndex <= body.endIndex
}

/** Whether it is carried out whatever happens: at the top, or the first of a list there, and for no single command. */
function isFirst(node: Node): boolean {
  let one = node
  let above = node.parent
  while (above?.type === 'list' && above.firstChild?.id === one.id) [one, above] = [above, above.parent]
  return above?.type === 'program'
}
