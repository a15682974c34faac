import type { Io } from '../core/io.ts'
import type { Store } from '../core/talk/store.ts'
import type { Project } from '../home/project.ts'
import { existsSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { isEntry } from '../core/talk/entry.ts'
import { openProject } from '../home/project.ts'
import { knownProjects } from '../home/projects.ts'

/**
 * Ends the turns whose process was killed, in all projects, so that the text they had shown becomes part of the history. Only turns that
 * left a side log are searched for.
 */
export async function endKilledTurns(io: Io, store: Store, home: string): Promise<void> {
  for (const { slug, path } of knownProjects(home)) {
    const turns = turnsWithWords(join(home, 'projects', slug, 'shown'))
    if (turns.size === 0) continue
    const project = openProject(store, path)
    if (project.slug !== slug) continue
    // The code is loaded only here, because most commands find no killed turn.
    const { conversationOf } = await import('./app.ts')
    const blobs = store.blobs(`projects/${project.slug}/output`)
    for (const id of await sessionsOf(project, turns)) await conversationOf(io, project, blobs, { id }).settle()
  }
}

function turnsWithWords(folder: string): Set<string> {
  const files = existsSync(folder) ? readdirSync(folder) : []
  return new Set(files.filter((name) => name.endsWith('.jsonl')).map((name) => basename(name, '.jsonl')))
}

/** The sessions that turns belong to, by their prompts in the log. */
async function sessionsOf({ log }: Project, turns: ReadonlySet<string>): Promise<Set<string>> {
  const sessions = new Map<string, string>()
  for await (const { item } of log.back()) {
    if (isEntry(item) && item.type === 'prompt' && turns.has(item.turn)) sessions.set(item.turn, item.session)
    if (sessions.size === turns.size) break
  }
  return new Set(sessions.values())
}
