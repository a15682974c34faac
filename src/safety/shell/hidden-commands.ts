import type { Node } from 'web-tree-sitter'

/**
 * Whether a script may run a command that the tree does not show: the parser does not read backticks in heredocs and in
 * `${x:-…}`. So the marks in the text are counted and compared with the nodes that were found.
 */
export function hidesCommand(root: Node): boolean {
  const nodes = root.descendantsOfType([
    'command_substitution',
    'process_substitution',
    'arithmetic_expansion',
    'raw_string',
    'ansi_c_string',
    'comment',
    'heredoc_redirect',
  ])
  let text = root.text
  const found = { ticks: 0, single: 0, double: 0, process: 0 }
  const blank = (node: Node) => {
    const [from, to] = [node.startIndex - root.startIndex, node.endIndex - root.startIndex]
    text = text.slice(0, from) + ' '.repeat(to - from) + text.slice(to)
  }
  for (const node of nodes) {
    if (node === null) continue
    if (node.type === 'process_substitution') found.process++
    else if (node.type === 'arithmetic_expansion') found.double += node.text.startsWith('$((') ? 1 : 0
    else if (node.type === 'command_substitution') {
      if (node.text.startsWith('`')) found.ticks += 2
      else if (node.text.startsWith('$((')) found.double++
      else found.single++
      // An escaped backtick inside backticks opens another command.
      if (node.text.startsWith('`') && node.text.includes('\\')) return true
    } else if (node.type === 'heredoc_redirect') {
      const quoted = /['"\\]/.test(node.namedChildren.find((child) => child?.type === 'heredoc_start')?.text ?? '')
      const body = node.namedChildren.find((child) => child?.type === 'heredoc_body')
      if (quoted && body) blank(body)
    } else if (node.type === 'comment') {
      // Inside a word, also after a quoted blank or line end, `#` does not begin a comment.
      const prior = root.text.slice(0, node.startIndex - root.startIndex)
      if (/\\[^]$/.test(prior) || !/(?:^|[\s;&|()])$/.test(prior)) return true
      blank(node)
    }
    // An array index is evaluated, however it is quoted.
    else if (/\[[^\]]*(?:\$\(|`)/.test(node.text)) return true
    // Inside `"${x:-'…'}"` a single quote is an ordinary character.
    else if (!isInExpansion(node)) blank(node)
  }
  // A quoted blank between two words is a word, which the parser misses.
  for (const { index } of root.text.matchAll(/\\[ \t]/g))
    if (between.test(root.descendantForIndex(root.startIndex + index)?.type ?? '')) return true
  const open = text.replace(/\\[^]/g, '  ')
  return (
    count(open, /`/g) !== found.ticks ||
    count(open, /\$\((?!\()/g) !== found.single ||
    count(open, /\$\(\(/g) !== found.double ||
    count(open, /[<>]\((?!\()/g) > found.process
  )
}

const between =
  /^(?:program|command|list|pipeline|subshell|do_group|.*_statement|.*_command|case_item|function_definition)$/

function isInExpansion(node: Node): boolean {
  for (let above = node.parent; above; above = above.parent) if (above.type === 'expansion') return true
  return false
}

const count = (text: string, mark: RegExp) => text.match(mark)?.length ?? 0

const word =
  /^(?:command_name|word|number|string|raw_string|ansi_c_string|translated_string|concatenation|simple_expansion|expansion|command_substitution|arithmetic_expansion|brace_expression|variable_assignment|variable_name|extglob_pattern|regex)$/

/** Whether two words touch: the parser reads `"r"\m` as two words, and a shell as one. */
export function splitsWord(root: Node): boolean {
  const holders = [
    'command',
    'file_redirect',
    'heredoc_redirect',
    'herestring_redirect',
    'for_statement',
    'declaration_command',
    'unset_command',
    'array',
    'case_statement',
    'variable_assignments',
  ]
  for (const node of root.descendantsOfType(holders)) {
    let end: number | undefined
    for (const child of node?.children ?? []) {
      if (child === null) continue
      const isWord = word.test(child.type)
      // A shell removes a line end after a backslash.
      const gap = end === undefined ? ' ' : root.text.slice(end - root.startIndex, child.startIndex - root.startIndex)
      if (isWord && gap.replaceAll('\\\n', '') === '') return true
      end = isWord ? child.endIndex : undefined
    }
  }
  return false
}
