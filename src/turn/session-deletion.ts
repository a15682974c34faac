import type { Io } from '../core/io.ts'
import type { Entry } from '../core/talk/entry.ts'
import type { Blobs, Line, Log, Store } from '../core/talk/store.ts'
import type { Deletion, Project } from '../home/project.ts'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { runningProcesses } from '../border/running-processes.ts'
import { voiceOf } from '../core/io.ts'
import { isEntry } from '../core/talk/entry.ts'
import { importedBodies, importedDoc } from '../home/imported-sessions.ts'
import { openProject } from '../home/project.ts'
import { knownProjects } from '../home/projects.ts'
import { eraseWorkers } from '../home/worker-crews.ts'
import { openIndex } from '../store/index/conversation-index.ts'
import { openSnapshots } from './project-snapshots.ts'
import { unendedPrompts } from './unfinished-turns.ts'

type DeletionParts = { io: Io; store: Store; home: string; project: Project }

/** A session to delete; an imported session includes the name of its copy. */
type Doomed = { id: string; log?: string }

/** Says why a session cannot be deleted now, and what to do about it; undefined if nothing is in the way. */
export async function deletionHindrance(
  { io, home, project }: DeletionParts,
  { id }: Doomed,
): Promise<string | undefined> {
  const now = io.clock.now()
  const holder = runningProcesses(home, now).find((one) => one.pid !== process.pid && one.sessions?.includes(id))
  if (holder) {
    const where = holder.pid === undefined ? 'on another machine' : `as process ${holder.pid}`
    return `it is open in ${holder.process === 'chat' ? 'a chat' : 'an editor'} that runs ${where}. Close it there first, then delete it again.`
  }
  const running = (await unendedPrompts(project, now)).find(({ session }) => session === id)
  if (running) return `a turn is running in it. Stop that turn first: termaite stop ${running.turn}`
  const { sessions } = await project.doc.read()
  const forks = Object.keys(sessions).filter((key) => sessions[key]!.origin?.session === id)
  if (forks.length === 0) return undefined
  return `another session is a fork that begins with its turns, and would lose them. Delete that one first: termaite sessions delete ${forks[0]}`
}

/**
 * Deletes a session and everything stored about it: its entries, long bodies, workers, copies from an import, snapshots, unfinished task
 * trees, and its words in the index. A note of the work is written first: if this process is killed, the next one that opens the project
 * finishes the work.
 */
export async function deleteSession(parts: DeletionParts, session: Doomed): Promise<void> {
  const { project, store } = parts
  const deletion = await planned(project, store, session)
  await project.doc.update((now) => {
    const { [session.id]: _, ...sessions } = now.sessions
    const { current, coordinator, waiting, ...rest } = now
    return {
      ...rest,
      ...(current === session.id ? {} : { current }),
      ...(coordinator === session.id ? {} : { coordinator }),
      ...(waiting?.session === session.id ? {} : { waiting }),
      sessions,
      deleting: { ...now.deleting, [session.id]: deletion },
    }
  })
  await finish(parts, session.id, deletion)
}

/** Finishes the deletions that a killed process had begun in a project. */
export async function finishDeletions(parts: DeletionParts): Promise<void> {
  const { deleting = {} } = await parts.project.doc.read()
  for (const [session, deletion] of Object.entries(deleting)) await finish(parts, session, deletion)
}

/** Finishes the deletions that killed processes had begun in any project of a home. */
export async function finishAllDeletions(io: Io, store: Store, home: string): Promise<void> {
  for (const { slug, path, deleting } of knownProjects(home)) {
    if (deleting === undefined) continue
    const project = openProject(store, path)
    if (project.slug === slug) await finishDeletions({ io, store, home, project })
  }
}

async function planned(project: Project, store: Store, { id, log }: Doomed): Promise<Deletion> {
  const until = await project.log.end()
  const turns = new Set<string>()
  const bodies = new Set<string>()
  for await (const { item } of project.log.read()) {
    if (!isEntry(item) || item.session !== id) continue
    if (item.turn) turns.add(item.turn)
    for (const sha of bodiesIn(JSON.stringify(item))) bodies.add(sha)
  }
  const { sessions } = await importedDoc(store, project.slug, project.root).read()
  const continued = Object.values(sessions).flatMap((one) => (one.continued === id ? one.log : []))
  const copies = [...(log === undefined ? [] : [log]), ...continued]
  for (const copy of copies)
    for await (const { item } of store.log(copyOf(project, copy)).read())
      for (const sha of bodiesIn(JSON.stringify(item))) bodies.add(sha)
  return { until, turns: [...turns], bodies: [...bodies], copies }
}

/** Erases the remains of a session. Each step can safely be repeated. */
async function finish({ io, store, home, project }: DeletionParts, id: string, deletion: Deletion): Promise<void> {
  const { until, turns, bodies, copies } = deletion
  const folder = join(home, 'projects', project.slug)
  const index = openIndex(home, voiceOf(io))
  try {
    // Indexes everything up to this position first, so that another process that read the log earlier cannot index the session again.
    await index.catchUp()
    await project.log.erase(linesOf(id), until)
    await removeCopies(store, project, copies)
    await index.catchUp()
    await index.forgetSession({ project: project.slug, session: id })
  } finally {
    await index.close()
  }
  eraseWorkers(home, { project, session: { id } })
  for (const turn of turns) rmSync(join(folder, 'shown', `${turn}.jsonl`), { force: true })
  await removeBodies(store, project, bodies)
  const planned = new Set(turns)
  await store
    .doc<{ id?: unknown }[]>(`projects/${project.slug}/trees`, [])
    .update((trees) => trees.filter((tree) => !planned.has(String(tree?.id))))
  await openSnapshots(io, { home, root: project.root }, project).forget(turns)
  await project.doc.update(({ deleting: { [id]: _, ...others } = {}, ...now }) =>
    Object.keys(others).length > 0 ? { ...now, deleting: others } : now,
  )
}

/**
 * Says of each line of a log, one after another from the first, whether it is of a session. A line that cannot be read is, if it names
 * the session, if it names none and follows a line of the session, or if it was half erased when a process was killed.
 */
function linesOf(id: string): (line: Line<Entry>) => boolean {
  let last = false
  return ({ item, broken }) => {
    if (item) return (last = isEntry(item) && item.session === id)
    return broken.startsWith(' ') || broken.includes(`"session":"${id}"`) || (last && !broken.includes('"session":"'))
  }
}

/** Finds everything in a text that may be the hash of a long body: references, and links to pictures. */
const bodiesIn = (text: string | undefined): string[] => text?.match(/\b[0-9a-f]{64}\b/g) ?? []

/** Removes long bodies, except those that another session's entries also use. */
async function removeBodies(store: Store, project: Project, bodies: readonly string[]): Promise<void> {
  if (bodies.length === 0) return
  const { sessions } = await importedDoc(store, project.slug, project.root).read()
  const copies = Object.values(sessions).map(({ log }) => store.log<unknown>(copyOf(project, log)))
  await removeFrom(store.blobs(`projects/${project.slug}/output`), bodies, [project.log])
  await removeFrom(store.blobs(importedBodies(project.slug)), bodies, copies)
}

async function removeFrom(blobs: Blobs, bodies: readonly string[], logs: readonly Log<unknown>[]): Promise<void> {
  const gone = new Set(bodies)
  for (const log of logs)
    for await (const { item } of log.read()) for (const sha of bodiesIn(JSON.stringify(item))) gone.delete(sha)
  for (const sha of gone) {
    const place = blobs.place({ sha, media: '', bytes: 0 })
    if (place !== undefined) rmSync(place, { force: true })
  }
}

/** Removes copies of imported sessions. */
async function removeCopies(store: Store, project: Project, copies: readonly string[]): Promise<void> {
  if (copies.length === 0) return
  const gone = new Set(copies)
  await importedDoc(store, project.slug, project.root).update((now) => ({
    ...now,
    sessions: Object.fromEntries(Object.entries(now.sessions).filter(([, { log }]) => !gone.has(log))),
  }))
  for (const copy of copies) await store.log(copyOf(project, copy)).clear()
}

const copyOf = ({ slug }: Project, log: string) => `projects/${slug}/imported/${log}`
