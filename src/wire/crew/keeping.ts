import type { Io } from '../io.ts'
import type { Place } from '../place.ts'
import type { Crews, OpenCrew } from './crews.ts'
import { spawn } from 'node:child_process'
import { openSync, closeSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder } from '../../base/files.ts'
import { waitFor } from '../../crew/waiting.ts'
import { Ledger } from '../../crew/ledger.ts'
import { isOver, isUnderWay } from '../../crew/slot.ts'
import { UsageError } from '../io.ts'
import { thisProgram } from '../mcp/own-start.ts'

/** So long a keeper stays when everything is at rest: whoever speaks again soon need not start another one. */
const lingerMs = 3_000
const lookMs = 500

/** Carries a crew until nothing of it needs carrying any more, or somebody ends us. */
export async function keep(io: Io, crews: Crews, workspace: string): Promise<void> {
  const { keeper, crew } = crews.of(workspace)
  let restless = io.clock.now()
  while (!io.signal.aborted) {
    await io.clock.sleep(lookMs, io.signal)
    if ((await crew.slots()).some((slot) => !isOver(slot) && isUnderWay(slot))) restless = io.clock.now()
    else if (io.clock.now() - restless >= lingerMs && (await keeper!.retire())) return
  }
}

/** How long a keeper may take to take up what it was started for. */
const startMs = 15_000

/**
 * Sees to it that every agent that needs somebody has one: a process of its own, which belongs to no shell and ends by
 * itself. One that is there already, a server for instance, is enough.
 */
export async function ensureKept(io: Io, place: Place, { crew, parts }: OpenCrew): Promise<void> {
  const { alive, store, clock, workspace } = parts
  const isKept = (slot: { owner?: string }) => slot.owner !== undefined && alive(slot.owner)
  const alone = (await crew.slots()).filter((slot) => !isOver(slot) && isUnderWay(slot) && !isKept(slot))
  if (alone.length === 0) return
  const trouble = startKeeper(io, place, workspace)
  const ids = alone.map(({ id }) => id)
  const settled = (slot: Parameters<typeof isOver>[0]) => isOver(slot) || isKept(slot)
  const until = clock.now() + startMs
  const waited = await waitFor(new Ledger(store, workspace, clock), clock, ids, { until, settled, signal: io.signal })
  const left = waited.filter(({ settled }) => !settled)
  if (left.length > 0 && !io.signal.aborted)
    throw new UsageError(`nobody carries slot ${left.map(({ id }) => id).join(', ')} yet: ${trouble()}`, 1)
}

function startKeeper(io: Io, place: Place, workspace: string): () => string {
  const folder = join(place.home, 'crew', workspace)
  makeFolder(folder)
  const file = join(folder, 'keeper.log')
  const log = openSync(file, 'w', 0o600)
  const { node, file: program } = thisProgram()
  const args = [program, 'crew', 'keep', '--workspace', workspace, '--cwd', place.cwd]
  const child = spawn(node, args, { cwd: place.cwd, env: io.env, stdio: ['ignore', 'ignore', log], detached: true })
  child.on('error', () => {}).unref()
  closeSync(log)
  return () => readFileSync(file, 'utf8').trim() || `its keeper did not start (see ${file}).`
}
