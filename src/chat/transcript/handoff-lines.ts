/** The fields of a handoff between agents by the contract's names; other fields of the same JSON are named by their keys. */
const titles: Readonly<Record<string, string>> = {
  what_was_done: 'Done',
  evidence: 'Evidence',
  unresolved_risks: 'Risks',
  exact_next_step: 'Next',
  status: 'Status',
  changed_paths: 'Changed files',
}

/** JSON as deep as this is shown field by field. */
const deepest = 6

/**
 * A handoff between agents as text for people, if the whole text is JSON with one in it, alone or in a fence; undefined otherwise. Lists
 * and fields are Markdown lists.
 */
export function handoffLines(text: string): string | undefined {
  const trimmed = text.trim()
  const inside = /^```(?:json)?[ \t]*\n([^]*?)\n```$/.exec(trimmed)?.[1] ?? trimmed
  if (!/^[{[]/.test(inside) || !inside.includes('"what_was_done"')) return undefined
  try {
    return fieldLines(JSON.parse(inside), '', 0).join('\n')
  } catch {
    return undefined
  }
}

function fieldLines(value: unknown, indent: string, depth: number): string[] {
  if (typeof value !== 'object' || value === null || depth > deepest) return [`${indent}- ${wordsOf(value)}`]
  if (Array.isArray(value)) return value.flatMap((each) => fieldLines(each, indent, depth + 1))
  return Object.entries(value).flatMap(([name, field]) => {
    if (field === null || field === '' || (Array.isArray(field) && field.length === 0)) return []
    const title = `${indent}- ${titles[name] ?? name.replaceAll('_', ' ')}:`
    const isDeep = typeof field === 'object'
    return isDeep ? [title, ...fieldLines(field, `${indent}  `, depth + 1)] : [`${title} ${wordsOf(field)}`]
  })
}

const wordsOf = (value: unknown) =>
  (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).replaceAll(/\s*\n\s*/g, ' ')
