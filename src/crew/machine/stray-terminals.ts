import type { Io } from '../../core/io.ts'
import type { Terminal } from '../../core/screen/terminal.ts'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { defined } from '../../base/defined.ts'
import { listedTime } from '../../core/io.ts'
import { table } from '../../base/text/table.ts'
import { TerminalFiles } from '../../terminals/tmux/terminal-files.ts'
import { homeOf } from '../../home/place.ts'
import { knownProjects } from '../../home/projects.ts'
import { runningProcesses } from '../../border/running-processes.ts'
import { sessionStates } from './supervised-session.ts'
import { terminalIds, terminalsFolder, terminalsOf } from './crew-terminals.ts'
import { slotsOfHome } from './crew-workspaces.ts'

/** An agent's terminal that keeps running although none of our processes manages it. */
export type LoneTerminal = {
  /** The name by which `termaite stop` stops the terminal. */
  terminal: string
  since: number
  title?: string
  /** The command that shows the terminal. */
  show?: string
  /** The slot of a crew or the session of a supervised agent that may take this terminal again; a stray terminal has neither. */
  of: 'slot' | 'session' | 'nobody'
}

const nameOf = (id: string) => `terminal:${id.slice(0, 8)}`

/** Lists the living terminals that belong to no slot of a crew and to no running process. */
export async function loneTerminals(io: Pick<Io, 'env' | 'clock'>): Promise<LoneTerminal[]> {
  return eachLone(io, ({ of }) => of !== 'slot', describeTerminal)
}

/** Lists all living terminals, including those of slots. */
export async function livingTerminals(io: Pick<Io, 'env' | 'clock'>): Promise<LoneTerminal[]> {
  return eachLone(io, () => true, describeTerminal)
}

/** Stops the stray terminals that `wanted` selects, with every process in them, and returns them. */
export async function endTerminals(
  io: Pick<Io, 'env' | 'clock'>,
  wanted: (lone: Pick<LoneTerminal, 'terminal' | 'of'>) => boolean,
): Promise<LoneTerminal[]> {
  return eachLone(io, wanted, async (terminal, lone) => {
    const known = await describeTerminal(terminal, lone)
    await terminal.close()
    return known
  })
}

type Lone = Pick<LoneTerminal, 'terminal' | 'since' | 'of'>

async function describeTerminal(terminal: Terminal, lone: Lone): Promise<LoneTerminal> {
  const title = (await terminal.screen().catch(() => undefined))?.title
  return defined({ ...lone, title, show: terminal.attach })
}

async function eachLone<T>(
  io: Pick<Io, 'env' | 'clock'>,
  wanted: (lone: Lone) => boolean,
  use: (terminal: Terminal, lone: Lone) => Promise<T>,
): Promise<T[]> {
  const home = homeOf(io.env)
  const folder = terminalsFolder(home)
  const ids = terminalIds(folder).filter((id) => isLasting(folder, id))
  if (ids.length === 0) return []
  const ofSlots = new Set((await slotsOfHome(home, io.clock)).map(({ terminal }) => terminal?.id))
  const running = runningProcesses(home, io.clock.now()).flatMap(({ terminal }) => terminal ?? [])
  const roots = new Set([...knownProjects(home).map(({ path }) => path), ...running.map(({ root }) => root)])
  const ofSessions = new Set([...roots].flatMap(sessionStates).map(({ terminal }) => terminal))
  const atWork = new Set(running.map(({ id }) => id))
  const terminals = terminalsOf(io, { terminals: { host: 'auto' } }, { lends: false })
  const used: T[] = []
  try {
    for (const id of ids) {
      const of = ofSlots.has(id) ? 'slot' : ofSessions.has(id) ? 'session' : 'nobody'
      const lone: Lone = { terminal: nameOf(id), since: openedAt(folder, id), of }
      const found = atWork.has(id) || !wanted(lone) ? undefined : await (await terminals.host()).find(id)
      if (found) used.push(await use(found, lone))
    }
  } finally {
    await terminals.close()
  }
  return used
}

/** Whether a terminal stays open without the process that opened it. */
function isLasting(folder: string, id: string): boolean {
  const place = new TerminalFiles(folder, id).place()
  return place !== undefined && place.bound !== true
}

function openedAt(folder: string, id: string): number {
  return statSync(join(folder, id, 'place'), { throwIfNoEntry: false })?.mtimeMs ?? 0
}

/** Describes the stray terminals for a person: which agent is in each, how to show it and how to stop it. */
export function loneTable(io: Pick<Io, 'out' | 'clock'>, terminals: readonly LoneTerminal[]): string {
  return table([
    ['TERMINAL', 'SINCE', 'AGENT', 'END IT WITH', 'SEE IT WITH'],
    ...terminals.map(({ terminal, since, title = '', show = '' }) => [
      terminal,
      listedTime(io, since),
      title,
      `termaite stop ${terminal}`,
      show,
    ]),
  ])
}

/** How many agents run in terminals that nothing will take again; undefined if no agent does. */
export function strayWords(terminals: readonly Pick<LoneTerminal, 'of'>[]): string | undefined {
  const count = terminals.filter(({ of }) => of === 'nobody').length
  if (count === 0) return undefined
  return count === 1
    ? 'one agent runs in a terminal that no longer belongs to a crew'
    : `${count} agents run in terminals that no longer belong to a crew`
}
