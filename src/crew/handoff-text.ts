import { parseAnswer } from '../core/data/json-answer.ts'
import { looseObject } from '../core/data/loose-json.ts'

/** The fields of a handoff, under the names that workers use for them: the first name is the contract's. */
export const fieldNames = {
  done: ['what_was_done', 'summary', 'result', 'work_done', 'done', 'report', 'answer'],
  evidence: ['evidence', 'findings', 'proof', 'details', 'facts'],
  risks: ['unresolved_risks', 'risks', 'open_risks', 'issues', 'concerns', 'caveats'],
  next: ['exact_next_step', 'next_step', 'next_steps', 'recommendation', 'follow_up'],
  status: ['status', 'state', 'outcome'],
  paths: ['changed_paths', 'changed_files', 'files_changed', 'modified_files'],
} as const

type Fields = Record<string, unknown>

/** A handoff that was found in a text. `cut`: the text ends in the middle of the handoff. */
export type FoundHandoff = { fields: Fields; cut?: boolean }

/**
 * Finds the last handoff in the answer of a worker: as JSON, as JSON with mistakes, or as sections titled with the names of the fields.
 */
export function findHandoff(text: string): FoundHandoff | undefined {
  const strict = parseAnswer(text, { parse: handoffFields })
  if (strict.ok) return { fields: strict.value }
  const loose = looseObject(text, (value) => fieldsIn(value) !== undefined)
  if (loose) return { fields: fieldsIn(loose.value)!, cut: loose.cut }
  const fields = sectionsIn(text)
  return fields && { fields }
}

function handoffFields(value: unknown): Fields {
  const fields = fieldsIn(value)
  if (!fields) throw new Error('it has no field of a handoff')
  return fields
}

const telling: readonly string[] = [...fieldNames.done, ...fieldNames.evidence, ...fieldNames.risks]

/**
 * Accepts an object as a handoff if at least one of its fields says what was done or found, or if it contains nothing but such an object.
 */
function fieldsIn(value: unknown): Fields | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  const fields = Object.fromEntries(Object.entries(value).map(([name, field]) => [plainName(name), field]))
  const inner = Object.values(fields)
  const around = inner.length === 1 ? fieldsIn(inner[0]) : undefined
  return around ?? (telling.some((name) => name in fields) ? fields : undefined)
}

/** The plain form of a field's name, which has several spellings: `whatWasDone`, `What was done`. */
export const plainName = (name: string): string =>
  name
    .trim()
    .replaceAll(/([a-z])([A-Z])/g, '$1_$2')
    .replaceAll(/[\s-]+/g, '_')
    .toLowerCase()

const known: readonly string[] = Object.values(fieldNames).flat()

/** A line that is the name of a field alone: `## Evidence`, `**Evidence:**`. */
const heading = /^\s*(?:#{1,6}\s+|\*\*)\**([A-Za-z][A-Za-z_ ]{2,24}?):?\**:?\s*$/

/** A line that begins with the name of a field: `**Status:** completed`, `what_was_done: I looked.` */
const label = /^\s*(?:[-*]\s+)?[*_`]{0,3}([A-Za-z][A-Za-z_ ]{2,24}?)[*_`]{0,3}:[*_`]{0,3}\s*(.*)$/

/** Parses a handoff that was written as sections titled with the names of its fields. */
function sectionsIn(text: string): Fields | undefined {
  const sections = new Map<string, string[]>()
  let open: string[] | undefined
  for (const line of text.split('\n')) {
    const [, written = '', rest = ''] = heading.exec(line) ?? label.exec(line) ?? []
    const name = plainName(written)
    if (known.includes(name)) {
      open = rest === '' ? [] : [rest]
      sections.set(name, open)
    } else if (line.trim() !== '') open?.push(line.trim())
  }
  const fields = Object.fromEntries([...sections].map(([name, lines]) => [name, sectionValue(lines)]))
  const told = Object.keys(fields).filter((name) => telling.includes(name))
  // A single label is prose, such as "Summary: …".
  return told.length > 0 && sections.size >= 3 ? fields : undefined
}

const bullet = /^(?:[-*•]|\d{1,2}[.)])\s+/

/** The content of a section: a list if each line begins like a list item, otherwise the text. */
function sectionValue(lines: readonly string[]): unknown {
  if (lines.length > 0 && lines.every((line) => bullet.test(line)))
    return lines.map((line) => line.replace(bullet, '')).filter((item) => !/^(?:none|nothing)\.?$/i.test(item))
  const said = lines.join('\n')
  return /^(?:none|nothing)\.?$/i.test(said) ? [] : said
}
