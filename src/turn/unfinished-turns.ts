import { defined } from '../base/defined.ts'
import type { Entry, EntryOf } from '../core/talk/entry.ts'
import type { Log } from '../core/talk/store.ts'
import type { Io } from '../core/io.ts'
import type { Project } from '../home/project.ts'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { isAlive, isHere, ownerPid } from '../base/process/owner.ts'
import { isEntry } from '../core/talk/entry.ts'
import { fileStore } from '../store/files/file-store.ts'
import { say, UsageError, voiceOf } from '../core/io.ts'
import { turnsOfPeers } from '../wire/peer/peers.ts'
import { homeOf } from '../home/place.ts'
import { knownProjects } from '../home/projects.ts'
import { localTime } from '../base/time/local-time.ts'
import { timeApart } from '../base/time/clock.ts'

/**
 * A turn that is not over; `by` is the agent at work, if its process could be asked. Without a pid the turn runs on another machine or in
 * another container, and cannot be seen from here.
 */
export type UnfinishedTurn = {
  turn: string
  pid?: number
  since: number
  project: string
  prompt: string
  by?: string
  /** The slot of a crew's agent, which stays reserved between its turns too. */
  slot?: { workspace: string; id: number; state: string }
}

/** A turn of another machine counts as unfinished for this long, because its end cannot be seen from here. */
const unseenMs = 24 * 3_600_000

/** The mark in the project's document is moved only if that saves reading this much, so that it is seldom written. */
const farBytes = 32 * 1024

/** Without a mark, at most this much of the log is read, so that a long history opens quickly. */
const mostBytes = 2 * 1024 ** 2

/** Lists all unfinished turns, the oldest first: those found in the logs, and those that only their process knows. */
export async function unfinishedTurns(io: Io): Promise<UnfinishedTurn[]> {
  const home = homeOf(io.env)
  const [kept, told, crew] = await Promise.all([
    keptTurns(io, home),
    turnsOfPeers(home, io.clock),
    existsSync(join(home, 'crew'))
      ? import('../crew/machine/crew-workspaces.ts').then((crew) => crew.crewAtWork(home, io.clock))
      : [],
  ])
  const known = new Set(kept.map(({ turn }) => turn))
  const speaker = new Map(told.map(({ turn, by }) => [turn, by === undefined ? {} : { by }]))
  const unkept = told
    .filter(({ turn }) => !known.has(turn))
    .map(({ turn, pid, since, project = '', prompt }) => ({ turn, pid, since, project, prompt }))
  const turns = [...kept, ...unkept].map((one) => ({ ...one, ...speaker.get(one.turn) }))
  return [...turns, ...crew].sort((a, b) => a.since - b.since)
}

async function keptTurns(io: Io, home: string): Promise<UnfinishedTurn[]> {
  const store = fileStore(home, voiceOf(io))
  const found = await Promise.all(
    knownProjects(home).map(async ({ slug, path, over }) => {
      const { prompts } = await unended(store.log<Entry>(`projects/${slug}/history`), over ?? 0, io.clock.now())
      return prompts.map((prompt) => described(prompt, path))
    }),
  )
  return found.flat()
}

/** Lists the unfinished turns of one project, over all its sessions, in the order of its log. */
export async function unfinishedIn(project: Project, now: number): Promise<UnfinishedTurn[]> {
  return (await unendedPrompts(project, now)).map((prompt) => described(prompt, project.root))
}

/** Lists the prompts of these turns. */
export async function unendedPrompts(project: Project, now: number): Promise<EntryOf<'prompt'>[]> {
  const before = (await project.doc.read()).over ?? 0
  const { prompts, over } = await unended(project.log, before, now)
  // If the mark cannot be stored, the next call only takes longer.
  if (Math.abs(over - before) > farBytes) await project.doc.update((doc) => ({ ...doc, over })).catch(() => {})
  return prompts
}

/** Throws while a turn of this machine uses the thing to delete; turns of other machines are only named. */
export async function refuseIfRunning(io: Io, command: string, project?: string): Promise<void> {
  const turns = (await unfinishedTurns(io)).filter((turn) => project === undefined || turn.project === project)
  const here = turns.find(({ pid }) => pid !== undefined)
  if (here)
    throw new UsageError(
      `${command}: a turn is running in ${here.project}; stop it first: termaite stop ${here.turn}`,
      1,
    )
  // An idle agent of a crew has no process of ours.
  for (const { turn, since, project: where } of turns.filter(({ slot }) => slot?.state !== 'idle'))
    say(
      io,
      `termaite: ${turn} began in ${where} on another machine at ${localTime(since)}, and may still be running there.`,
    )
}

function described({ turn, owner, at, text }: EntryOf<'prompt'>, project: string): UnfinishedTurn {
  const pid = owner !== undefined && isHere(owner) ? ownerPid(owner) : undefined
  return defined({ turn, pid, since: at, project, prompt: text })
}

/**
 * Reads back to the point before which all turns are known to be over. A turn that is dead or over stays so, and therefore the mark from
 * one read is valid for all later reads, however long a turn runs.
 */
async function unended(log: Log<Entry>, over: number, now: number) {
  const end = await log.end()
  const known = over > 0 && over <= end ? over : Math.max(0, end - mostBytes)
  const ended = new Set<string>()
  const prompts: EntryOf<'prompt'>[] = []
  let newest: number | undefined
  let oldest: number | undefined
  for await (const { at, item } of log.back()) {
    if (at < known) break
    newest ??= at
    if (!isEntry(item)) continue
    if (item.type === 'end') ended.add(item.turn)
    if (item.type !== 'prompt' || ended.has(item.turn) || !isAtWork(item, now)) continue
    prompts.unshift(item)
    oldest = at
  }
  return { prompts, over: oldest ?? newest ?? known }
}

function isAtWork({ owner, at }: EntryOf<'prompt'>, now: number): boolean {
  if (owner === undefined) return false
  return isHere(owner) ? isAlive(owner) : timeApart(now, at) < unseenMs
}
