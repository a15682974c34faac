import type { Clock } from '../../../base/time/clock.ts'
import type { MachineTerminals, TerminalRow, Typed } from '../../../core/screen/machine-terminals.ts'
import type { Terminal } from '../../../core/screen/terminal.ts'
import type { LivingSlot } from '../../../crew/machine/crew-workspaces.ts'
import type { RunningProcess } from '../../../border/running-processes.ts'
import type { SupervisedSessionState } from '../../../crew/machine/supervised-session.ts'
import { readdirSync } from 'node:fs'
import { defined } from '../../../base/defined.ts'
import { oneLine } from '../../../base/text/table.ts'
import { terminalsFolder } from '../../../crew/machine/crew-terminals.ts'
import { livingSlots } from '../../../crew/machine/crew-workspaces.ts'
import { knownProjects } from '../../../home/projects.ts'
import { runningProcesses } from '../../../border/running-processes.ts'
import { sessionStates, slotNameAtHub } from '../../../crew/machine/supervised-session.ts'

type HomeTerminalParts = {
  home: string
  machine: string
  clock: Clock
  /** Hides secrets in the text of a row. */
  mask(text: string): string
  /** Finds a terminal in tmux or in another process of this home. */
  terminals(): { find(id: string): Promise<Terminal | undefined>; close(): Promise<void> }
}

const longestTask = 200

/** The terminals of all crews, coordinators and supervised agents of this home. */
export class HomeTerminals implements MachineTerminals {
  #parts: HomeTerminalParts
  #opened: ReturnType<HomeTerminalParts['terminals']> | undefined
  #typedInto = new Map<string, Promise<Terminal | undefined>>()
  /** The sessions of terminals whose supervisor has exited; null for a terminal without a session. */
  #left = new Map<string, (SupervisedSessionState & { root: string }) | null>()

  constructor(parts: HomeTerminalParts) {
    this.#parts = parts
  }

  async list(): Promise<TerminalRow[]> {
    const { home, clock } = this.#parts
    const projects = new Map(knownProjects(home).map(({ slug, path }) => [slug, path]))
    const slots = (await livingSlots(home, clock)).filter(({ worker }) => worker?.where !== 'background')
    const supervised = runningProcesses(home, clock.now()).filter(({ terminal }) => terminal !== undefined)
    const rows = [
      ...slots.map((slot) => this.#slotRow(slot, projects)),
      ...supervised.map((process) => this.#supervisedRow(process)),
    ]
    return [...rows, ...(await this.#leftRows(new Set(rows.map(({ id }) => id)), [...projects.values()]))]
  }

  async open(id: string): Promise<Terminal | undefined> {
    const listed = (await this.list()).some((row) => row.id === id && row.keys)
    return listed ? this.#terminals.find(id) : undefined
  }

  async type(id: string, { as, text }: Typed): Promise<void> {
    const terminal = await this.#reached(id)
    await (as === 'keys' ? terminal.write(text, true) : terminal.paste(text, true))
  }

  async resize(id: string, { cols, rows }: { cols: number; rows: number }): Promise<void> {
    await (await this.#reached(id)).resize(cols, rows)
  }

  async close(): Promise<void> {
    await this.#opened?.close()
  }

  /** Finds the terminal that a person types into, once for all keystrokes, so that these stay in order. */
  async #reached(id: string): Promise<Terminal> {
    let found = this.#typedInto.get(id)
    if (!found) {
      found = this.open(id).catch(() => undefined)
      this.#typedInto.set(id, found)
      // The agent of the terminal may be restarted in another terminal with the same id.
      void found.then((terminal) => terminal?.exited).then(() => this.#typedInto.delete(id))
    }
    const terminal = await found
    if (!terminal) throw new Error('there is no such terminal on this machine now')
    return terminal
  }

  get #terminals() {
    return (this.#opened ??= this.#parts.terminals())
  }

  #slotRow(slot: LivingSlot, projects: ReadonlyMap<string, string>): TerminalRow {
    const { machine, mask } = this.#parts
    const { id, agent, cwd, state, since, task, terminal, worker, workspace } = slot
    // The workers of a conversation form a crew of their own, named after the project and the session.
    const project = projects.get(workspace) ?? projects.get(workspace.split('.')[0]!) ?? cwd
    return defined({
      id: terminal!.id,
      name: worker ? `${worker.name} (${worker.role})` : `slot ${id}`,
      agent,
      hubAgent: worker ? undefined : slotNameAtHub(agent, id, project),
      machine,
      project,
      crew: worker ? undefined : workspace,
      kind: worker ? ('worker' as const) : ('crew' as const),
      state,
      since,
      task: task === '' ? undefined : oneLine(mask(task), longestTask),
      keys: state !== 'held' && state !== 'starting',
    })
  }

  #supervisedRow({ terminal, about = '', since }: RunningProcess): TerminalRow {
    const { machine } = this.#parts
    const { id, agent, root } = terminal!
    return {
      id,
      name: about,
      agent,
      hubAgent: about,
      machine,
      project: root,
      kind: 'supervised',
      state: 'running',
      since,
      keys: true,
    }
  }

  /** A CLI in tmux keeps running when its supervisor is killed. */
  async #leftRows(known: ReadonlySet<string>, roots: readonly string[]): Promise<TerminalRow[]> {
    const { home, machine } = this.#parts
    const kept = namesIn(terminalsFolder(home)).filter((id) => !known.has(id))
    for (const id of this.#left.keys()) if (!kept.includes(id)) this.#left.delete(id)
    const unknown = kept.filter((id) => !this.#left.has(id))
    if (unknown.length > 0) {
      const states = roots.flatMap((root) => sessionStates(root).map((state) => ({ ...state, root })))
      for (const id of unknown) this.#left.set(id, states.find(({ terminal }) => terminal === id) ?? null)
    }
    const rows = [...this.#left].map(async ([id, state]): Promise<TerminalRow[]> => {
      if (!state || !(await this.#terminals.find(id).catch(() => undefined))) return []
      const { agent, hubId, root, timestamp } = state
      const names = { id, name: hubId, agent, hubAgent: hubId, machine, project: root }
      const since = Date.parse(timestamp)
      return [{ ...names, kind: 'supervised', state: 'without its supervisor', since, keys: true }]
    })
    return (await Promise.all(rows)).flat()
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []))
  } catch {
    return []
  }
}
