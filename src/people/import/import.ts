import type { Store } from '../../core/talk/store.ts'
import type { Index } from '../../store/index/conversation-index.ts'
import type { Io } from '../../core/io.ts'
import type { Place } from '../../home/place.ts'
import type { ImportedDoc, ImportedSession } from '../../home/imported-sessions.ts'
import type { PastProfile, SessionFile } from './session-files.ts'
import type { PastSession } from './past-session.ts'
import type { Limits } from './record-lines.ts'
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder, syncFolder } from '../../base/files/files.ts'
import { shortHash } from '../../base/hash.ts'
import { messageOf } from '../../base/error-message.ts'
import { withShortBody } from '../../core/talk/body.ts'
import { slugOf } from '../../home/project.ts'
import { OurTurns } from './our-turns.ts'
import { importedBodies, importedDoc } from '../../home/imported-sessions.ts'
import { importedId, PastTurns } from './past-turns.ts'
import { belongsTo, readPast, withoutOurs } from './past-session.ts'
import { pastFacts, sessionFiles } from './session-files.ts'

/** The state of a CLI's session compared with its imported copy. */
export type Standing = 'new' | 'grown' | 'same' | 'continued'

/** A session that can be imported. */
export type FoundSession = PastSession & { id: string; standing: Standing }

/**
 * The sessions of one CLI in this project. `own`: the number of sessions with only turns of termaite; `faults`: files that could not be
 * read.
 */
export type FoundSessions = { profile: PastProfile; sessions: FoundSession[]; own: number; faults: string[] }

export type ImportWorld = {
  io: Pick<Io, 'env' | 'clock' | 'signal'>
  /** The home folder in which the CLIs store their files. */
  home: string
  place: Place
  store: Store
  index: Index
  limits?: Limits
  /** Called for each file that was read, and for each session that was copied. */
  looked?(step: { profile: PastProfile; done: number; of: number }): void
  copied?(): void
}

/** Finds the earlier sessions of some CLIs in this project, and which of them are new. Changes nothing. */
export async function findPast(world: ImportWorld, profiles: readonly PastProfile[]): Promise<FoundSessions[]> {
  const { place, store, io, home, limits } = world
  const ours = await OurTurns.in(world, profiles)
  const doc = await importedDoc(store, slugOf(place.root), place.root).read()
  const belongs = belongsTo(place.root)
  const all: FoundSessions[] = []
  for (const profile of profiles) {
    const found: FoundSessions = { profile, sessions: [], own: 0, faults: [] }
    let files: SessionFile[] = []
    try {
      files = await sessionFiles(profile, { home, env: io.env })
    } catch (error) {
      found.faults.push(messageOf(error))
    }
    const outer = files.filter(({ inner }) => !inner)
    for (const [done, file] of outer.entries()) {
      world.looked?.({ profile, done, of: outer.length })
      io.signal.throwIfAborted()
      try {
        const past = await readPast(profile, file, { belongs, ours, ...(limits ? { limits } : {}) })
        const session = past && standingOf(past, doc)
        if (session?.turns === 0 && session.standing !== 'continued') found.own++
        else if (session) found.sessions.push(session)
      } catch (error) {
        found.faults.push(`${file.path}: ${messageOf(error)}`)
      }
    }
    all.push(found)
  }
  return all
}

function standingOf(past: PastSession, doc: ImportedDoc): FoundSession {
  const { file, key } = past
  const known = Object.entries(doc.sessions).find(([, one]) => one.cli === file.cli && one.key === key)
  const id = known?.[0] ?? importedId({ cli: file.cli, key, started: past.from })
  if (!known) return { ...past, id, standing: 'new' }
  const [, one] = known
  if (one.continued !== undefined) return { ...past, id, standing: 'continued' }
  const same = one.bytes === file.bytes && one.changed === file.changed && one.turns === past.turns
  return { ...past, id, standing: same ? 'same' : 'grown' }
}

/** Copies the sessions that are new or have grown. The document lists a copy only once all of it is on disk. */
export async function copyPast(world: ImportWorld, found: readonly FoundSessions[]): Promise<FoundSession[]> {
  const { place, store, io } = world
  const slug = slugOf(place.root)
  const doc = importedDoc(store, slug, place.root)
  const ours = await OurTurns.in(
    world,
    found.map(({ profile }) => profile),
  )
  const folder = join(place.home, 'projects', slug, 'imported')
  makeFolder(folder)
  const copied: FoundSession[] = []
  for (const { profile, sessions } of found)
    for (const session of sessions) {
      if (session.standing === 'same' || session.standing === 'continued') continue
      io.signal.throwIfAborted()
      const { file, id, key, turns, from, to } = session
      const log = `${id}-${shortHash(`${file.bytes} ${file.changed} ${turns}`)}`
      await writeCopy(world, profile, session, ours, join(folder, `${log}.jsonl`))
      let before: string | undefined
      const { cli, path: source, bytes, changed } = file
      const made: ImportedSession = { cli, key, source, bytes, changed, turns, from, to, log }
      await doc.update((now) => {
        before = now.sessions[id]?.log
        return { ...now, path: place.root, sessions: { ...now.sessions, [id]: made } }
      })
      if (before !== undefined && before !== log) rmSync(join(folder, `${before}.jsonl`), { force: true })
      copied.push(session)
      world.copied?.()
    }
  return copied
}

const mostWaiting = 1024 * 1024

async function writeCopy(
  { store, place, limits }: ImportWorld,
  profile: PastProfile,
  { file, key, from, used }: FoundSession,
  ours: OurTurns,
  path: string,
): Promise<void> {
  const blobs = store.blobs(importedBodies(slugOf(place.root)))
  const { past } = profile
  const thread = past.thread?.(key, used) ?? key
  const turns = new PastTurns({ cli: file.cli, key, started: from, thread }, past.provider)
  const temporary = `${path}.tmp`
  const fd = openSync(temporary, 'w', 0o600)
  try {
    let waiting = ''
    const write = () => {
      writeSync(fd, waiting)
      waiting = ''
    }
    const keep = async (entries: ReturnType<PastTurns['end']>) => {
      for (const entry of entries) waiting += `${JSON.stringify(await withShortBody(entry, blobs))}\n`
      if (waiting.length > mostWaiting) write()
    }
    const unread = { broken: 0, long: 0, cut: false }
    for await (const fact of withoutOurs(pastFacts(profile, file, unread, limits), key, ours))
      await keep(turns.add(fact))
    await keep(turns.end())
    write()
    fsyncSync(fd)
    closeSync(fd)
    renameSync(temporary, path)
    syncFolder(join(path, '..'))
  } catch (error) {
    closeSync(fd)
    rmSync(temporary, { force: true })
    throw error
  }
}

/** Removes imported sessions, of all CLIs or of some. Continued sessions stay: their turns are ours by now. */
export async function undoImport(
  { store, place }: Pick<ImportWorld, 'store' | 'place'>,
  clis: readonly string[],
): Promise<{ removed: number; continued: number }> {
  const slug = slugOf(place.root)
  const folder = join(place.home, 'projects', slug, 'imported')
  const gone: ImportedSession[] = []
  let continued = 0
  const left = await importedDoc(store, slug, place.root).update((now) => {
    gone.length = 0
    const kept = Object.entries(now.sessions).filter(([, one]) => {
      if (!clis.includes(one.cli)) return true
      gone.push(one)
      return false
    })
    continued = gone.filter((one) => one.continued !== undefined).length
    return { ...now, sessions: Object.fromEntries(kept) }
  })
  for (const { log } of gone) rmSync(join(folder, `${log}.jsonl`), { force: true })
  if (Object.keys(left.sessions).length === 0) rmSync(folder, { recursive: true, force: true })
  return { removed: gone.length - continued, continued }
}
