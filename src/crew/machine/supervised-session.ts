import { defined } from '../../base/defined.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Spent } from '../../core/work/budget.ts'
import type { Worktree } from '../../core/work/worktree.ts'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf } from '../../base/error-message.ts'
import { systemErrorWords } from '../../base/files/system-error.ts'
import { isPlainObject } from '../../base/plain-object.ts'
import { valueFault } from '../../base/option-value.ts'
import { shortHash } from '../../base/hash.ts'
import { isMissing, makeFolderHere, namesIn, replaceFile } from '../../base/files/files.ts'

/** Everything that another run needs to continue a supervised agent. */
export type SupervisedSessionState = Spent & {
  id: string
  agent: string
  workflow: string
  /** The last rows of the agent's screen. */
  lastOutput: string
  timestamp: string
  /** The key by which the CLI resumes its own session. */
  cliSession?: string
  /** The name of the agent at the hub. */
  hubId: string
  terminal: string
  host: 'tmux' | 'pty'
  cwd: string
  /** Whether the agent works in the project itself, as the person asked. */
  here?: boolean
  worktree?: Worktree
  /** The prompt that was on its way to the CLI; its mark in the terminal is derived from the id `turn`. */
  flight?: { turn: string; prompt: string; ticket?: string }
  /** The process that supervises the agent. */
  owner: string
}

const ownFolder = '.termaite'
export const sessionsIn = (root: string) => join(root, ownFolder, 'sessions')
export const logsIn = (root: string) => join(root, ownFolder, 'logs')

/** The state of one supervised agent, written to its workspace as a whole at each change. */
export class SupervisedSession {
  readonly folder: string
  /** Called once when the state can no longer be written. */
  warn: (words: string) => void = () => {}
  #state: SupervisedSessionState
  #clock: Clock
  #isUnwritten = false

  constructor(root: string, state: SupervisedSessionState, clock: Clock) {
    this.folder = join(sessionsIn(root), state.id)
    this.#state = state
    this.#clock = clock
    makeFolderHere(this.folder)
    ignore(join(root, ownFolder))
    this.#write({})
  }

  get state(): SupervisedSessionState {
    return this.#state
  }

  get spent(): Spent {
    const { tokens, cost, priced } = this.#state
    return defined({ tokens, cost, priced })
  }

  /**
   * Stores a change. A full disk or a moved project does not stop a working agent: the state stays in memory, and is written with the
   * next change.
   */
  keep(part: Partial<SupervisedSessionState>): void {
    try {
      this.#write(part)
      this.#isUnwritten = false
    } catch (error) {
      const why = isMissing(error) ? 'the folder is gone' : (systemErrorWords(error) ?? messageOf(error))
      if (!this.#isUnwritten)
        this.warn(
          `the session cannot be saved in ${this.folder}: ${why}. ${this.#state.agent} continues, and termaite tries again to save; until then --resume would continue from an older state.`,
        )
      this.#isUnwritten = true
    }
  }

  #write(part: Partial<SupervisedSessionState>): void {
    const timestamp = new Date(this.#clock.now()).toISOString()
    this.#state = { ...this.#state, ...part, timestamp }
    replaceFile(join(this.folder, 'session.json'), `${JSON.stringify(this.#state, null, 2)}\n`)
  }
}

/** Keeps our files out of the project's git; an existing .gitignore is not changed. */
function ignore(folder: string): void {
  const file = join(folder, '.gitignore')
  if (!existsSync(file)) writeFileSync(file, 'sessions/\nlogs/\n.gitignore\n')
}

/** The name of a slot of a crew at the hub. Crews of several projects work with one hub, and each has a slot 1. */
export function slotNameAtHub(agent: string, slot: number, root: string): string {
  return `${agent}-slot-${slot}-${shortHash(root).slice(-4)}`
}

type FoundSession = { state?: SupervisedSessionState; warnings: string[] }

/** Finds the newest session of a workspace, or of one agent in it. Files that cannot be used are reported as warnings. */
export function latestSession(root: string, agent: string | undefined, tracked: ReadonlySet<string>): FoundSession {
  const warnings: string[] = []
  const found = namesIn(sessionsIn(root))
    .sort()
    .flatMap((id) => {
      const file = join(sessionsIn(root), id, 'session.json')
      if (!existsSync(file)) return []
      // A session's text is typed into an agent, so a file that came with the repository is not used.
      if (tracked.has(id)) {
        warnings.push(`${file} came with the repository and is not resumed.`)
        return []
      }
      const state = readState(file)
      if (!state) warnings.push(`${file} is damaged and is ignored.`)
      return state && (agent === undefined || state.agent === agent) ? [state] : []
    })
  const [state] = found.toSorted((a, b) => Date.parse(b.timestamp) - Date.parse(a.timestamp))
  return defined({ warnings, state })
}

/** The states of all sessions of a workspace that can be read. */
export function sessionStates(root: string): SupervisedSessionState[] {
  return namesIn(sessionsIn(root))
    .sort()
    .flatMap((id) => readState(join(sessionsIn(root), id, 'session.json')) ?? [])
}

/** Whether a value is missing, or is an object whose fields in `needed` are strings and whose fields in `more` are strings or missing. */
function hasTexts(part: unknown, needed: readonly string[], more: readonly string[]): boolean {
  if (part === undefined) return true
  if (!isPlainObject(part)) return false
  const isText = (key: string) => typeof part[key] === 'string'
  return needed.every(isText) && more.every((key) => part[key] === undefined || isText(key))
}

const texts = ['id', 'agent', 'workflow', 'timestamp'] as const

/**
 * Parses a session file. Its keys become arguments of command lines, so they must not look like flags. A file of an older version may
 * lack values that can be computed again.
 */
function readState(file: string): SupervisedSessionState | undefined {
  try {
    const found = JSON.parse(readFileSync(file, 'utf8')) as Partial<SupervisedSessionState> | null
    const id = file.split('/').at(-2)!
    // The agent can write this file, and the name decides for which agent the hub makes a key.
    const hubId = `${found?.agent}-${id.slice(-6)}`
    const state = { id, terminal: crypto.randomUUID(), ...found, hubId }
    if (texts.some((key) => typeof state[key] !== 'string') || Number.isNaN(Date.parse(state.timestamp!)))
      return undefined
    if ([state.cliSession ?? 'none', state.terminal].some((word) => valueFault(word) !== undefined)) return undefined
    if (!hasTexts(state.flight, ['turn', 'prompt'], ['ticket'])) return undefined
    if (!hasTexts(state.worktree, ['path', 'branch'], ['base'])) return undefined
    return { lastOutput: '', host: 'pty', cwd: '', tokens: 0, owner: '', ...state, id } as SupervisedSessionState
  } catch {
    return undefined
  }
}
