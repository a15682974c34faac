import type { Parsed } from '../arguments/cli-command.ts'
import type { Io } from '../../core/io.ts'
import { existsSync, realpathSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { projectRoot } from '../../base/files/git.ts'
import { confirm } from '../../questions/terminal-questions.ts'
import { forgetInIndex, knownProjects } from '../../home/projects.ts'
import { print, say, UsageError, voiceOf } from '../../core/io.ts'
import { isWithin } from '../../base/files/real-path.ts'
import { forgetCliSessions } from '../../home/cli-sessions.ts'
import { homeOf } from '../../home/place.ts'
import { slugOf } from '../../home/project.ts'
import { eraseAllWorkers } from '../../home/worker-crews.ts'
import { TrustBook } from '../../safety/trust/folder-trust.ts'
import { emptyQuarantine } from '../../safety/wall/quarantine.ts'
import { fileStore } from '../../store/files/file-store.ts'
import { refuseIfRunning } from '../../turn/unfinished-turns.ts'

/** Erases a project from logs, snapshots, index, crew, quarantine and trust; the project's own files are not touched. */
export async function run(io: Io, { values, words }: Parsed): Promise<number> {
  const home = homeOf(io.env)
  const project = projectNamed(io, home, words[0])
  await refuseIfRunning(io, 'forget', project.path)
  const question = `Erase the conversations and snapshots of ${project.path} for good? The project’s own files are not touched.`
  if (!(await confirm(io, question, values.yes === true))) {
    say(io, 'Nothing was erased.')
    return 1
  }
  for (const part of ['projects', 'crew']) rmSync(join(home, part, project.slug), { recursive: true, force: true })
  eraseAllWorkers(home, project)
  emptyQuarantine(home, project.path)
  await new TrustBook(fileStore(home, voiceOf(io)), { clock: io.clock, own: home }).forget(project.path)
  forgetCliSessions(home, (cwd) => isWithin(project.path, cwd) || isWithin(join(home, 'worktrees', project.slug), cwd))
  await forgetInIndex(home, project.slug, io.clock)
  print(io, `Erased everything that termaite kept about ${project.path}.`)
  return 0
}

/** Finds a project by its slug, or by a folder: as typed, with links resolved, or its git root. */
function projectNamed(io: Io, home: string, typed: string | undefined): { path: string; slug: string } {
  const folder = resolve(io.cwd, typed ?? '.')
  const paths = existsSync(folder) ? [folder, realpathSync(folder), projectRoot(folder)] : [folder]
  const found =
    knownProjects(home).find(({ path, slug }) => slug === typed || paths.includes(path)) ??
    paths
      .map((path) => ({ path, slug: slugOf(path) }))
      .find(({ slug }) => ['projects', 'crew'].some((part) => existsSync(join(home, part, slug))))
  if (found) return found
  throw new UsageError(
    `forget: termaite keeps nothing about ${paths.at(-1)}. \`termaite sessions --all\` lists the projects.`,
    1,
  )
}
