/** The parts of a needed task that a prompt may contain. */
export const handedFields = ['result', 'diff', 'branch', 'agent'] as const

export type HandedField = (typeof handedFields)[number]

/**
 * A prompt after its templates were parsed: texts, and references to fields of needs. It is stored in this form and never as text, so
 * that no `{{` in a value of the matrix or in a result is ever read as a template.
 */
export type PromptPart<Need> = string | { needs: Need[]; field: HandedField }

/** A piece of a text with templates: a text, or the unparsed words between `{{` and `}}`. */
export type TemplatePiece = string | { reference: string }

/** Parses the templates in a text; `\{{` means two literal braces. `unclosed` is the beginning of a template without an end. */
export function templatePieces(text: string): { pieces: TemplatePiece[]; unclosed?: string } {
  const pieces: TemplatePiece[] = []
  let words = ''
  for (let at = 0; at < text.length;) {
    if (text.startsWith('\\{{', at)) {
      words += '{{'
      at += 3
    } else if (text.startsWith('{{', at)) {
      const end = text.indexOf('}}', at)
      if (end < 0) return { pieces, unclosed: text.slice(at, at + 40).split('\n')[0]! }
      if (words !== '') pieces.push(words)
      words = ''
      pieces.push({ reference: text.slice(at + 2, end).trim() })
      at = end + 2
    } else words += text[at++]
  }
  if (words !== '') pieces.push(words)
  return { pieces }
}

/** The prompt as its author wrote it, for screens before the needs are done. */
export function templateText(parts: readonly PromptPart<{ name: string }>[]): string {
  return parts
    .map((part) => {
      if (typeof part === 'string') return part
      const groups = [...new Set(part.needs.map(({ name }) => groupOf(name)))]
      return groups.map((group) => `{{${group}.${part.field}}}`).join(', ')
    })
    .join('')
}

/** The name that a task of a matrix has in the plan: `test` for `test (linux, 24)`. */
export const groupOf = (name: string) => name.split(' (', 1)[0]!
