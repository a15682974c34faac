import type { Io } from '../core/io.ts'
import type { ProjectDoc } from '../home/project.ts'
import { existsSync, mkdirSync, renameSync } from 'node:fs'
import { basename, join } from 'node:path'
import { say, UsageError, voiceOf } from '../core/io.ts'
import { shellWord } from '../base/text/shell-word.ts'
import { fileStore } from '../store/files/file-store.ts'
import { folderIdentity, openProject, slugOf } from '../home/project.ts'

type ProjectPlace = { home: string; root: string }

/**
 * If a folder was renamed or moved, brings its conversation to the new place, and returns the text that says so. If a folder merely has
 * the name of a missing project, the text tells the person how to connect the two. For a known project this costs one look at the disk.
 */
export async function takeMovedProject(io: Io, { home, root }: ProjectPlace): Promise<string | undefined> {
  if (existsSync(join(home, 'projects', slugOf(root), 'project.json'))) return undefined
  const identity = folderIdentity(root)
  const gone = await goneProjects(home)
  const same = gone.find(({ folder }) => folder !== undefined && folder === identity)
  if (same) return moveProject(io, same.path, { home, root })
  const alike = gone.find(({ path }) => basename(path) === basename(root))
  if (!alike) return undefined
  return `Is this the project that was in ${alike.path}? To bring its conversation here: termaite sessions move ${shellWord(alike.path)}`
}

/** Brings the conversation of a moved folder to its new place, or tells the person of a command for it. */
export async function followMove(io: Io, place: ProjectPlace): Promise<void> {
  const words = await takeMovedProject(io, place)
  if (words !== undefined) say(io, `termaite: ${words}`)
}

/** Lists the projects whose folder is gone. If the home cannot be read, the next step that needs it reports the error. */
async function goneProjects(home: string) {
  const { knownProjects } = await import('../home/projects.ts')
  try {
    return knownProjects(home).filter(({ path }) => !existsSync(path))
  } catch {
    return []
  }
}

/**
 * Moves everything that is stored about a project from one folder's name to another's, and reports the move. The new folder does not
 * become trusted by this.
 */
export async function moveProject(io: Io, from: string, { home, root }: ProjectPlace): Promise<string> {
  const [old, slug] = [slugOf(from), slugOf(root)]
  const [{ refuseIfRunning }, { forgetInIndex }] = await Promise.all([
    import('./unfinished-turns.ts'),
    import('../home/projects.ts'),
  ])
  await refuseIfRunning(io, 'sessions move', from)
  for (const part of ['projects', 'crew']) {
    if (!existsSync(join(home, part, old))) continue
    mkdirSync(join(home, part), { recursive: true })
    renameSync(join(home, part, old), join(home, part, slug))
  }
  const { doc } = openProject(fileStore(home, voiceOf(io)), root)
  const identity = folderIdentity(root)
  await doc.update((now) => {
    const isSameFolder = identity !== undefined && now.folder === identity
    return { ...(isSameFolder ? now : withoutConsent(now)), path: root, ...(identity && { folder: identity }) }
  })
  await forgetInIndex(home, old, io.clock)
  return `This project was in ${from}. Its conversation is here now.`
}

/** Throws if a project cannot be moved to this folder. */
export function refuseMove(from: string, { home, root }: ProjectPlace): void {
  if (!existsSync(join(home, 'projects', slugOf(from), 'project.json')))
    throw new UsageError(
      `sessions move: termaite knows no conversation of ${from}. \`termaite sessions --all\` lists the projects.`,
      1,
    )
  if (existsSync(join(home, 'projects', slugOf(root), 'project.json')))
    throw new UsageError(
      `sessions move: ${root} has a conversation of its own, and two cannot be joined. To erase that one first: termaite forget ${shellWord(root)}`,
      1,
    )
}

/** Drops the permissions from a project's record: they were given for the old folder, and must be asked for again in the new one. */
function withoutConsent({
  rules: _rules,
  outside: _outside,
  shown: _shown,
  keys: _keys,
  folders: _folders,
  allAgreed: _allAgreed,
  ...rest
}: ProjectDoc): ProjectDoc {
  return rest
}
