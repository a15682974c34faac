import { join } from 'node:path'
import type { Entry } from '../../core/talk/entry.ts'
import type { Session } from './sessions.ts'
import { isEntry } from '../../core/talk/entry.ts'
import { linesOn } from '../files/lines.ts'
import { parseLine } from '../files/parse.ts'
import { Source } from '../files/source.ts'

/** A session's entries, read from its stretch of the log, because the index keeps only what is searched. */
export async function entriesOf(home: string, session: Session | undefined): Promise<Entry[]> {
  const source = session && (await Source.open(join(home, 'projects', session.project, 'history.jsonl')))
  if (!source) return []
  const found: Entry[] = []
  try {
    for await (const line of linesOn(source.read, session.begins, session.ends))
      for (const { item } of parseLine(line)) if (isEntry(item) && item.session === session.id) found.push(item)
  } finally {
    await source.close()
  }
  return found
}
