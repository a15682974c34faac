import type { Clock } from '../../base/clock.ts'
import type { Spent } from '../../core/work/budget.ts'
import type { Worktree } from '../../core/work/worktree.ts'
import type { SupervisedState } from '../../mind/supervise/supervision.ts'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder, replaceFile } from '../../base/files.ts'

/** All that another run needs to go on with an agent where this one left it. */
export type SessionState = Spent & {
  id: string
  agent: string
  workflow: string
  /** The last rows that its screen showed. */
  lastOutput: string
  timestamp: string
  /** The CLI's own key of its session. */
  cliSession?: string
  /** Its name at the hub. */
  hubId: string
  terminal: string
  host: 'tmux' | 'pty'
  cwd: string
  worktree?: Worktree
  flight?: SupervisedState['flight']
  /** The process that has it. */
  owner: string
}

const ownFolder = '.termaite'
export const sessionsIn = (root: string) => join(root, ownFolder, 'sessions')
export const logsIn = (root: string) => join(root, ownFolder, 'logs')

/** One supervised agent as it is kept in its workspace, always whole. */
export class Session {
  readonly folder: string
  #state: SessionState
  #clock: Clock

  constructor(root: string, state: SessionState, clock: Clock) {
    this.folder = join(sessionsIn(root), state.id)
    this.#state = state
    this.#clock = clock
    makeFolder(this.folder)
    ignore(join(root, ownFolder))
    this.keep({})
  }

  get state(): SessionState {
    return this.#state
  }

  get spent(): Spent {
    const { tokens, cost, priced } = this.#state
    return { tokens, ...(cost === undefined ? {} : { cost }), ...(priced === undefined ? {} : { priced }) }
  }

  keep(part: Partial<SessionState>): void {
    const timestamp = new Date(this.#clock.now()).toISOString()
    this.#state = { ...this.#state, ...part, timestamp }
    replaceFile(join(this.folder, 'session.json'), `${JSON.stringify(this.#state, null, 2)}\n`)
  }
}

/** What we put into a project is nobody else's business; a file that is there already is left as it is. */
function ignore(folder: string): void {
  const file = join(folder, '.gitignore')
  if (!existsSync(file)) writeFileSync(file, 'sessions/\nlogs/\n.gitignore\n')
}

export type Found = { state?: SessionState; warnings: string[] }

/** The newest session of a workspace, of one agent where that is wanted; what cannot be read is said and left. */
export function latestSession(root: string, agent: string | undefined, tracked: ReadonlySet<string>): Found {
  const warnings: string[] = []
  const found = namesIn(sessionsIn(root)).flatMap((id) => {
    const file = join(sessionsIn(root), id, 'session.json')
    if (!existsSync(file)) return []
    // What it says is typed into an agent: only what was written here may say it.
    if (tracked.has(id)) {
      warnings.push(`${file} came with the repository, and is not resumed.`)
      return []
    }
    const state = read(file)
    if (!state) warnings.push(`${file} is damaged; it is left aside.`)
    return state && (agent === undefined || state.agent === agent) ? [state] : []
  })
  const [state] = found.toSorted((a, b) => Date.parse(b.timestamp) - Date.parse(a.timestamp))
  return { warnings, ...(state ? { state } : {}) }
}

const texts = ['id', 'agent', 'workflow', 'timestamp'] as const

/** Older ones, and those that others wrote, may lack what can be made anew. */
function read(file: string): SessionState | undefined {
  try {
    const found = JSON.parse(readFileSync(file, 'utf8')) as Partial<SessionState> | null
    const id = file.split('/').at(-2)!
    const state = { id, hubId: `${found?.agent}-${id.slice(-6)}`, terminal: crypto.randomUUID(), ...found }
    if (texts.some((key) => typeof state[key] !== 'string') || Number.isNaN(Date.parse(state.timestamp!)))
      return undefined
    return { lastOutput: '', host: 'pty', cwd: '', tokens: 0, owner: '', ...state, id } as SessionState
  } catch {
    return undefined
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort()
  } catch {
    return []
  }
}
