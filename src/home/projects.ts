import type { Io } from '../core/io.ts'
import type { ProjectDoc } from './project.ts'
import type { Clock } from '../base/time/clock.ts'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join, sep } from 'node:path'
import { UsageError } from '../core/io.ts'
import { isMissing } from '../base/files/files.ts'
import { storeError } from '../store/store-error.ts'
import { shellWord } from '../base/text/shell-word.ts'
import { homeOf, placeOf } from './place.ts'
import { folderIdentity } from './project.ts'

type KnownProject = { slug: string } & ProjectDoc

/** Lists the projects that have a conversation, the most recently used first. */
export function knownProjects(home: string): KnownProject[] {
  let slugs: string[]
  try {
    slugs = readdirSync(join(home, 'projects'))
  } catch (error) {
    if (isMissing(error)) return []
    // Failing to read the projects is not the same as having no projects.
    throw storeError('read', join(home, 'projects'), error)
  }
  return slugs
    .flatMap((slug) => {
      try {
        const folder = join(home, 'projects', slug)
        const doc = JSON.parse(readFileSync(join(folder, 'project.json'), 'utf8')) as ProjectDoc
        return [{ slug, ...doc, lastUsed: Math.max(doc.lastUsed, lastWritten(join(folder, 'history.jsonl'))) }]
      } catch {
        return []
      }
    })
    .filter(({ path }) => typeof path === 'string')
    .sort((a, b) => b.lastUsed - a.lastUsed)
}

/** When the log of a project was last written: each turn writes to it, so that no turn needs to write the project's document. */
function lastWritten(log: string): number {
  return statSync(log, { throwIfNoEntry: false })?.mtimeMs ?? 0
}

/** The folder of the project that was used last: its known path, or the working directory if the folder was moved there. */
export function latestProject(io: Io): string {
  const home = homeOf(io.env)
  // An agent's worktree is not a project to continue: it is removed with the agent.
  const [latest] = knownProjects(home).filter(({ path }) => !path.startsWith(join(home, 'worktrees') + sep))
  if (!latest)
    throw new UsageError('--continue: no project was used yet. Start one: termaite -p "what is this project?"')
  if (existsSync(latest.path)) return latest.path
  const { root } = placeOf(io)
  if (latest.folder !== undefined && latest.folder === folderIdentity(root)) return root
  throw new UsageError(
    `--continue: ${latest.path}, the project used last, is gone. If it was moved, run the same command in its new folder. To erase its conversation: termaite forget ${shellWord(latest.path)}`,
  )
}

/** Removes a project from the index. Its log must be deleted before, or the index would take it in again. */
export async function forgetInIndex(home: string, slug: string, clock: Clock): Promise<void> {
  if (!existsSync(join(home, 'termaite.db'))) return
  const { openIndex } = await import('../store/index/conversation-index.ts')
  const index = openIndex(home, { clock })
  try {
    await index.forget(slug)
  } finally {
    await index.close()
  }
}
