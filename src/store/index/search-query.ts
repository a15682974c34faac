import type { DatabaseSync } from 'node:sqlite'

export type Hit = {
  project: string
  session: string
  name?: string
  turn: string
  id: string
  at: number
  by: string
  type: string
  snippet: string
}

const mostWords = 32
const columns = 'e.project, e.session, s.name, e.turn, e.id, e.at, e.by, e.type'
const ofProject = '(:project IS NULL OR e.project = :project)'

const byWords = `
  SELECT ${columns}, snippet(words, 0, '', '', '…', 24) AS snippet
  FROM words JOIN entries e ON e.seq = words.rowid JOIN sessions s ON s.id = e.session
  WHERE words MATCH :text AND ${ofProject}
  ORDER BY rank, e.at DESC, e.seq DESC LIMIT :limit
`

const byPlace = `
  SELECT ${columns}, trim(substr(e.text, max(1, instr(lower(e.text), lower(:text)) - 60), 160)) AS snippet
  FROM entries e JOIN sessions s ON s.id = e.session
  WHERE instr(lower(e.text), lower(:text)) > 0 AND ${ofProject}
  ORDER BY e.at DESC, e.seq DESC LIMIT :limit
`

/**
 * Finds entries that contain every word or its beginning, best first. If no entry does (symbols, scripts without spaces), searches for
 * the text itself.
 */
export function search(db: DatabaseSync, text: string, project: string | undefined, limit: number): Hit[] {
  // SQLite would end the text at a NUL, before the closing quote.
  const wanted = text.replaceAll('\0', ' ').trim()
  if (wanted === '') return []
  const where = { project: project ?? null, limit }
  const found = db.prepare(byWords).all({ text: quoteWords(wanted), ...where })
  const rows = found.length > 0 ? found : db.prepare(byPlace).all({ text: wanted, ...where })
  return rows.map(({ name, ...row }) => ({ ...row, ...(name === null ? {} : { name }) }) as Hit)
}

/** Quotes each word, so that no typed text acts as an operator. */
function quoteWords(text: string): string {
  const words = text.split(/\s+/).slice(0, mostWords)
  return words.map((word) => `"${word.replaceAll('"', '""')}"*`).join(' ')
}
