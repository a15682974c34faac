import type { Io } from '../../core/io.ts'
import type { Place } from '../../home/place.ts'
import type { Slot } from '../slot.ts'
import type { Crews, OpenCrew } from './crews.ts'
import { spawn } from 'node:child_process'
import { openSync, closeSync, readFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder } from '../../base/files/files.ts'
import { SlotLedger } from '../slot-ledger.ts'
import { StoreError } from '../../core/talk/store.ts'
import { isGone, isLiving, needsKeeper } from '../slot.ts'
import { UsageError, say } from '../../core/io.ts'
import { thisProgram } from '../../base/process/own-program.ts'
import { messageOf } from '../../base/error-message.ts'
import { homeOf, placeOf } from '../../home/place.ts'
import { readSettings } from '../../settings/settings.ts'

/** How long a keeper stays when every slot is idle, so that the next prompt need not start another keeper. */
const lingerMs = 3_000
const lookMs = 500

/** Runs the agents of a crew until none needs a keeper, or until this process is stopped. */
export async function keepCrew(io: Io, crews: Crews, workspace: string): Promise<void> {
  const { keeper, crew, parts } = crews.of(workspace)
  const isOurs = ({ owner }: Slot) => owner === undefined || owner === parts.owner || !parts.alive(owner)
  let restless = io.clock.elapsed()
  const isOver = async () => {
    const slots = await crew.slots()
    if (slots.some((slot) => isOurs(slot) && isLiving(slot) && needsKeeper(slot))) restless = io.clock.elapsed()
    // A closed crew needs no keeper.
    const rested = slots.length === 0 || io.clock.elapsed() - restless >= lingerMs
    return rested && (await keeper!.retire())
  }
  while (!io.signal.aborted) {
    await io.clock.sleep(lookMs, io.signal)
    if (await isOver().catch(whileStoreFails)) return
  }
}

/** The keeper stays while the store fails, for example on a full disk: agents in built-in terminals would end with it. */
function whileStoreFails(error: unknown): false {
  if (error instanceof StoreError) return false
  throw error
}

/** How long a running keeper may take to notice a slot. */
const takenMs = 1_500

/** How long a new keeper may take to take its slots. */
const startMs = 15_000

/**
 * Makes sure that every working slot has a keeper. A new keeper is an independent process, which belongs to no shell and ends by itself;
 * an existing keeper, for example an MCP server, is enough.
 */
export async function ensureKeeper(io: Io, place: Place, { crew, parts }: OpenCrew): Promise<void> {
  const { alive, store, clock, workspace } = parts
  const isKept = ({ owner }: Slot) => owner !== undefined && alive(owner)
  const lone = (slots: readonly Slot[]) => slots.filter((slot) => isLiving(slot) && needsKeeper(slot) && !isKept(slot))
  const ledger = new SlotLedger(store, workspace, clock)
  /** A running turn whose terminal is closed: the slot still says that it is busy, until the next keeper ends the turn. */
  const isLost = async ({ flight, terminal }: Slot) =>
    flight?.taken === true && terminal !== undefined && !(await parts.find(terminal.id).catch(() => undefined))
  const untilTaken = async (ms: number) => {
    const ids: number[] = []
    const lost = new Set<number>()
    for (const slot of lone(await crew.slots())) {
      ids.push(slot.id)
      if (await isLost(slot)) lost.add(slot.id)
    }
    const settled = (slot: Slot) => isGone(slot) || (isKept(slot) && !lost.has(slot.id))
    await ledger.wait(ids, { until: clock.elapsed() + ms, settled, signal: io.signal })
    return lone(await crew.slots())
  }
  const slots = await crew.slots()
  if (lone(slots).length === 0) return
  // A keeper of other slots of this crew notices the new slots, and takes them.
  if (slots.some(isKept) && (await untilTaken(takenMs)).length === 0) return
  const trouble = startKeeper(io, place, workspace)
  const left = await untilTaken(startMs)
  if (left.length > 0 && !io.signal.aborted)
    throw new UsageError(`slot ${left.map(({ id }) => id).join(', ')} was not started: ${trouble()}`, 1)
}

function startKeeper(io: Io, place: Place, workspace: string): () => string {
  const folder = join(place.home, 'crew', workspace)
  makeFolder(folder)
  const file = join(folder, 'keeper.log')
  const log = openSync(file, 'w', 0o600)
  const [program, ...first] = thisProgram()
  const args = [...first, 'crew', 'keep', `--workspace=${workspace}`, `--cwd=${place.cwd}`]
  const child = spawn(program, args, { cwd: place.cwd, env: io.env, stdio: ['ignore', 'ignore', log], detached: true })
  child.on('error', () => {}).unref()
  closeSync(log)
  return () => readFileSync(file, 'utf8').trim() || `the process that runs the crew did not start (see ${file}).`
}

/** Stops an agent of any crew. If that fails, says why and returns false. */
export async function killSlot(io: Io, { workspace, id }: { workspace: string; id: number }): Promise<boolean> {
  const [{ openCrews }, { livingSlots }] = await Promise.all([import('./crews.ts'), import('./crew-workspaces.ts')])
  const slots = await livingSlots(homeOf(io.env), io.clock)
  const cwd = slots.find((slot) => slot.workspace === workspace && slot.id === id)?.cwd
  // The crew is opened in the folder of the agent, because its worktree is known there.
  const place = placeOf(io, cwd !== undefined && existsSync(cwd) ? cwd : undefined)
  const settings = await readSettings({ home: place.home }, { env: io.env })
  const crews = openCrews(io, place, settings, { carries: false })
  try {
    await crews.of(workspace).crew.kill(id)
    return true
  } catch (error) {
    say(io, `termaite: ${messageOf(error)}`)
    return false
  } finally {
    await crews.close()
  }
}
