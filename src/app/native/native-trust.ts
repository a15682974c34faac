import type { Event } from '../../core/talk/entry.ts'
import type { Turn } from '../../core/work/agent.ts'
import type { NativeParts, NativeSeat } from './native-parts.ts'
import type { HookSettings } from '../../safety/hooks/hook-config.ts'
import type { ServerConfig } from '../../tools/mcp/server-config.ts'
import type { Settings } from '../../settings/settings.ts'
import { joinedHooks, projectHooks } from '../../settings/hook-settings.ts'
import { narrowed, projectSettings } from '../../settings/project-settings.ts'
import { tighter } from '../../core/work/agent.ts'
import { TrustBook, trustQuestion } from '../../safety/trust/folder-trust.ts'
import { auditOf } from './native-permissions.ts'
import { noteOnce } from './native-parts.ts'
import { readServers } from '../../tools/mcp/server-config.ts'
import { projectFile } from '../../settings/settings-schema.ts'

/** A seat as what comes with its folder leaves it, and whether that may steer it at all. */
export type Trusted = { held: NativeSeat; trusted: boolean }

/** Whether what comes with the project may run and steer our agent: whoever watches is asked once, nobody there means no. */
export async function* checkTrust(turn: Turn, seat: NativeSeat, parts: NativeParts): AsyncGenerator<Event, Trusted> {
  const trusted = yield* judged(turn, seat, parts)
  parts.state.seats.set(seat.agent.name, trusted.held)
  return trusted
}

async function* judged(turn: Turn, seat: NativeSeat, parts: NativeParts): AsyncGenerator<Event, Trusted> {
  const { store, clock, root, cwd, home, state } = parts
  const book = new TrustBook(store, { clock, own: home })
  const standing = await book.of(root, cwd)
  if (standing.state === 'trusted') return { held: await heldBy(seat, parts), trusted: true }
  const question = async () => trustQuestion(root, standing, await folderFileLines(parts, standing.files))
  const picks = turn.attended ? await turn.ask(await question(), turn.signal) : undefined
  const answer = picks?.includes('trust') ? 'trust' : 'no'
  if (picks) await auditOf(parts)?.record({ type: 'trust', what: root, answer, session: parts.session, turn: turn.id })
  if (answer === 'trust' && (await book.trust(root, standing.mark, cwd)).state === 'trusted') {
    state.trustGiven = true
    return { held: await heldBy(seat, parts), trusted: true }
  }
  // What the settings would say was told of when they were read.
  const [first, ...more] = standing.files.filter((file) => file !== projectFile)
  const what = more.length === 0 ? first : `${first} and ${more.length} more`
  if (first !== undefined) yield { type: 'note', text: `${what} not used: this folder is not trusted.` }
  return { held: seat, trusted: false }
}

/** As the settings were read, unless the folder was trusted since: what is read again narrows nothing twice. */
async function heldBy(seat: NativeSeat, parts: NativeParts): Promise<NativeSeat> {
  const { settings, warnings } = await withFolderSettings(seat.settings, parts)
  for (const words of warnings) noteOnce(parts, words)
  if (!parts.state.trustGiven) return { ...seat, settings }
  const own = settings.agents.find(({ name }) => name === seat.agent.name)
  return { ...seat, settings, leash: tighter(seat.leash, own?.leash ?? settings.leash) }
}

export type TrustedFolder = { root: string; home: string }

/** The settings with what comes with a folder that is trusted: it narrows, and its hooks and servers are added. */
export async function withFolderSettings(
  settings: Settings,
  { root, home }: TrustedFolder,
): Promise<{ settings: Settings; warnings: string[] }> {
  const said = await projectSettings(root, home)
  const { by, warnings } = projectHooks(root, said.hooks)
  return {
    settings: {
      ...narrowed(settings, said),
      hooks: Object.values(by).reduce(joinedHooks, settings.hooks),
      // What the person calls by a name is what is meant by it.
      mcpServers: { ...said.mcpServers, ...settings.mcpServers },
    },
    warnings,
  }
}

/** The files that come with a folder and what they would start, for a person to see: nothing of it is run or filled in here. */
export async function folderFileLines(folder: TrustedFolder, files: readonly string[]): Promise<string[]> {
  const { servers, hooks, setup } = await startsOf(folder)
  return files.flatMap((file) => [
    file,
    ...servers.filter(({ from }) => from === file).map(({ name, shown }) => `    MCP server ${name}: ${seen(shown)}`),
    ...linesOf(hooks[file] ?? {}),
    ...(file === projectFile && setup !== undefined ? [`    in a crew’s new worktree: ${seen(setup)}`] : []),
  ])
}

type Starts = { servers: ServerConfig[]; hooks: Record<string, HookSettings>; setup?: string }

/** What cannot be read starts nothing, and is said when it would. */
async function startsOf({ root, home }: TrustedFolder): Promise<Starts> {
  const said = await projectSettings(root, home).catch(() => undefined)
  const settings = said?.mcpServers
  const { servers: all } = await readServers({ root, home: root, env: {}, trusted: true, settings })
  const servers = all.map((one) => (one.from === 'settings' ? { ...one, from: projectFile } : one))
  const setup = said?.crew?.setup
  return { servers, hooks: said ? hooksBy(root, said.hooks) : {}, ...(setup === undefined ? {} : { setup }) }
}

function hooksBy(root: string, own: unknown): Record<string, HookSettings> {
  try {
    return projectHooks(root, own).by
  } catch {
    return {}
  }
}

function linesOf(hooks: HookSettings): string[] {
  return Object.entries(hooks).flatMap(([event, groups]) =>
    groups.flatMap(({ matcher, hooks: each }) =>
      each.map(({ command }) => `    hook ${event}${matcher ? ` (${matcher})` : ''}: ${seen(command)}`),
    ),
  )
}

/** Whole and on one line, with what nobody would see spelt out. */
function seen(text: string): string {
  const spelt = (one: string) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`
  return text.replaceAll('\n', '\\n').replaceAll(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, spelt)
}
