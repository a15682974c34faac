import type { Parsed } from '../args.ts'
import type { Io } from '../io.ts'
import { existsSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileStore } from '../../store/files/store.ts'
import { openIndex } from '../../store/index/index.ts'
import { confirm } from '../confirm.ts'
import { print, say, UsageError } from '../io.ts'
import { placeOf } from '../place.ts'
import { knownProjects } from '../projects.ts'
import { runningTurns } from '../running.ts'

/** Erases a project from logs, snapshots and index; the project's own files are not touched. */
export async function run(io: Io, { values, words }: Parsed): Promise<number> {
  const { home, root } = placeOf(io)
  const wanted = words[0] === undefined ? root : resolve(io.cwd, words[0])
  const project = knownProjects(home).find(({ path, slug }) => path === wanted || slug === words[0])
  if (!project)
    throw new UsageError(`forget: nothing is kept of ${wanted}. \`termaite sessions --all\` lists the projects.`, 1)
  const running = (await runningTurns(home, fileStore(home, { clock: io.clock }))).filter(
    (turn) => turn.project === project.path,
  )
  if (running.length > 0)
    throw new UsageError(
      `forget: a turn is at work in ${project.path}; stop it first: termaite stop ${running[0]!.turn}`,
      1,
    )
  const question = `Erase the conversations and snapshots of ${project.path} for good? Its own files stay.`
  if (!(await confirm(io, question, values.yes === true))) {
    say(io, 'Nothing was erased.')
    return 1
  }
  rmSync(join(home, 'projects', project.slug), { recursive: true, force: true })
  if (existsSync(join(home, 'termaite.db'))) {
    const index = openIndex(home, { clock: io.clock })
    await index.forget(project.slug)
    await index.close()
  }
  print(io, `Nothing of ${project.path} is kept any more.`)
  return 0
}
