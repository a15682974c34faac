import type { Io } from '../../core/io.ts'
import type { Doc } from '../../core/talk/store.ts'
import type { Place } from '../../home/place.ts'
import type { AgentSettings } from '../../settings/agent-settings.ts'
import type { Settings } from '../../settings/settings.ts'
import type { Health } from '../../turn/rotation/health.ts'
import type { Checkup } from './agent-checkup.ts'
import type { LanguageFinding } from './language-servers.ts'
import { fileStore } from '../../store/files/file-store.ts'
import { StoreError } from '../../core/talk/store.ts'
import { afterSuccess, healthDoc } from '../../turn/rotation/health.ts'
import { TrustBook } from '../../safety/trust/folder-trust.ts'
import { UsageError } from '../../core/io.ts'
import { machineWall } from '../../native/agent-wall.ts'
import { noAgentWords } from '../../settings/enabled-agents.ts'
import { definitionFaults } from '../commands/definition-faults.ts'
import { checkup } from './agent-checkup.ts'
import { languageFindings } from './language-servers.ts'
import { sandboxLines } from './security-report.ts'

/** Everything that the doctor found. */
export type Examination = {
  checkups: readonly Checkup[]
  /** Only if one of the agents is our own: no other agent is given reports of language servers. */
  languages?: readonly LanguageFinding[]
  /** Why this machine has no sandbox; undefined if it has one. */
  noSandbox: string | undefined
  /** The effect of the sandbox, or of its lack, on the agents. */
  sandbox: readonly string[]
}

export type ExaminationParts = {
  io: Io
  place: Place
  settings: Settings
  quick: boolean
  tell(words: string): void
  /** Called whenever an agent was examined, with the number of those that were. */
  examined?(done: number): void
}

/** The agent of that name, or all of them. Throws a UsageError if no agent is left. */
export function agentsToExamine(settings: Settings, name?: string, at?: Parameters<typeof noAgentWords>[1]) {
  const { agents } = settings
  if (agents.length === 0) throw new UsageError(noAgentWords(settings, at))
  const wanted = name === undefined ? agents : agents.filter((agent) => agent.name === name)
  if (wanted.length === 0)
    throw new UsageError(`there is no agent "${name}"; configured: ${agents.map((agent) => agent.name).join(', ')}.`)
  return wanted
}

/** Examines agents side by side. Those that answer take turns again from now on. */
export async function examine(parts: ExaminationParts, wanted: readonly AgentSettings[]): Promise<Examination> {
  const { io, place, settings, quick } = parts
  const doc = healthDoc(fileStore(place.home, { clock: io.clock, tell: parts.tell }))
  const health = await orTell(parts, doc.read())
  let done = 0
  const checkups = await Promise.all(
    wanted.map(async (agent) => {
      const found = await checkup({ io, place, settings, quick, ...(health ? { health } : {}) }, agent)
      parts.examined?.(++done)
      return found
    }),
  )
  if (health) await orTell(parts, readmit(doc, health, checkups))
  const isOwn = wanted.some(({ kind }) => kind === 'native')
  return {
    checkups,
    ...(isOwn ? { languages: await languageFindings(io, place, settings) } : {}),
    noSandbox: await (await machineWall(io.env, place.cwd)).none(),
    sandbox: await sandboxLines(io, place, settings, [...wanted]),
  }
}

/** The faults in files that define commands and subagents. */
export async function fileFaults(io: Io, place: Place, builtIn: readonly string[]): Promise<string[]> {
  const book = new TrustBook(fileStore(place.home, { clock: io.clock }), { clock: io.clock, own: place.home })
  const trusted = (await book.of(place.root, place.cwd)).state === 'trusted'
  return definitionFaults({ ...place, trusted }, builtIn)
}

/** Clears the failures of agents that just answered, so that the rotation uses them again. */
async function readmit(doc: Doc<Health>, known: Health, checkups: readonly Checkup[]): Promise<void> {
  const back = (health: Health) =>
    checkups
      .filter(({ answers }) => answers === true)
      .reduce((rest, { name }) => afterSuccess(rest, name, false), health)
  if (back(known) !== known) await doc.update(back)
}

/** Reports a broken health file as a warning, so that the rest of the examination still happens. */
async function orTell<T>({ tell }: ExaminationParts, work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    tell(error.message)
    return undefined
  }
}
