import type { Question } from '../core/talk/question.ts'
import type { FileChange, FolderTrust } from '../safety/trust/folder-trust.ts'
import type { Event } from '../core/talk/entry.ts'
import type { Turn } from '../core/work/agent.ts'
import type { NativeParts, NativeSeat } from './native-parts.ts'
import type { HookSettings } from '../safety/hooks/hook-config.ts'
import type { ServerConfig } from './tools/mcp/server-config.ts'
import type { Formatter, Settings } from '../settings/settings.ts'
import { onOneLine } from '../base/text/ansi.ts'
import { isPlainObject } from '../base/plain-object.ts'
import { formattersOf } from '../settings/settings.ts'
import { joinedHooks, projectHooks } from '../settings/hook-settings.ts'
import { narrowSettings, projectSettings } from '../settings/project-settings.ts'
import { leashOf } from '../settings/enabled-agents.ts'
import { excessWords, TrustBook, trustQuestion } from '../safety/trust/folder-trust.ts'
import { auditOf } from './native-audit.ts'
import { noteOnce } from './native-parts.ts'
import { readServers } from './tools/mcp/server-config.ts'
import { projectFile } from '../settings/settings-schema.ts'

/** The seat with the settings that the folder adds, and whether the folder is trusted. */
type TrustCheck = { seat: NativeSeat; trusted: boolean }

/**
 * Decides whether the project's own files may steer our agent. A person who watches is asked once; if nobody watches, the answer is no.
 */
export async function* checkTrust(turn: Turn, seat: NativeSeat, parts: NativeParts): AsyncGenerator<Event, TrustCheck> {
  const checked = yield* judge(turn, seat, parts)
  parts.state.tools.seats.set(seat.agent.name, checked.seat)
  return checked
}

async function* judge(turn: Turn, seat: NativeSeat, parts: NativeParts): AsyncGenerator<Event, TrustCheck> {
  const { store, clock, root, cwd, home, state } = parts
  const book = new TrustBook(store, { clock, own: home })
  const standing = await book.of(root, cwd)
  state.trust.agreed = standing.agreed
  if (standing.state === 'trusted') return { seat: await trustedSeat(seat, parts), trusted: true }
  const { excess } = standing
  if (excess !== undefined) {
    yield { type: 'note', text: excessWords(root, excess) }
    return withoutTrust(seat)
  }
  const question = () => folderQuestion(parts, standing, book)
  const picks = turn.attended ? await turn.ask(await question(), turn.signal) : undefined
  const answer = picks?.includes('trust') ? 'trust' : 'no'
  if (picks) await auditOf(parts)?.record({ type: 'trust', what: root, answer, session: parts.session, turn: turn.id })
  if (answer === 'trust' && (await book.trust(root, standing.mark, cwd)).state === 'trusted') {
    state.trust.given = true
    state.trust.agreed = true
    return { seat: await trustedSeat(seat, parts), trusted: true }
  }
  // The person was already warned about the settings file when the settings were read.
  const [first, ...more] = standing.files.filter((file) => file !== projectFile)
  const what = more.length === 0 ? first : `${first} and ${more.length} more`
  if (first !== undefined)
    yield {
      type: 'note',
      text: `${what} ${more.length === 0 ? 'is' : 'are'} not used, because this folder is not trusted. To trust it, type /trust in the chat, or run termaite trust.`,
    }
  return withoutTrust(seat)
}

/** Without trust no formatter runs, because formatters read settings of the folder, which can run code. */
const withoutTrust = (seat: NativeSeat): TrustCheck => ({
  seat: { ...seat, settings: { ...seat.settings, formatters: undefined } },
  trusted: false,
})

/**
 * Adds the folder's settings. Its leash only applies if the trust came after the settings were read, so that nothing is narrowed twice.
 */
async function trustedSeat(seat: NativeSeat, parts: NativeParts): Promise<NativeSeat> {
  const { settings, warnings } = await withFolderSettings(seat.settings, parts)
  for (const words of warnings) noteOnce(parts, words)
  if (!parts.state.trust.given) return { ...seat, settings }
  const own = settings.agents.find(({ name }) => name === seat.agent.name)
  return { ...seat, settings, leash: leashOf(settings, own, { leash: seat.leash }) }
}

/** Says whether the project's folder is trusted, without asking. */
export async function isFolderTrusted({ store, clock, root, cwd, home }: NativeParts): Promise<boolean> {
  return (await new TrustBook(store, { clock, own: home }).of(root, cwd)).state === 'trusted'
}

/** The trusted ones of the folders above the project that have instruction files. A note names the others once. */
export async function trustedAbove(parts: NativeParts, found: readonly string[]): Promise<string[]> {
  const { store, clock, home } = parts
  const book = new TrustBook(store, { clock, own: home })
  const trusted: string[] = []
  for (const folder of found) {
    // Without a yes to the folder itself, anybody who can write there, for example in /tmp, could steer agents.
    if ((await book.knows(folder)) && (await book.of(folder)).state === 'trusted') trusted.push(folder)
    else
      noteOnce(
        parts,
        `The instruction files in ${folder}, above this project, are not followed, because that folder is not trusted. To trust it, run termaite trust there.`,
      )
  }
  return trusted
}

type TrustedFolder = { root: string; home: string }

/** Adds the content of a trusted folder: its settings narrow the person's, its hooks and MCP servers are added to theirs. */
export async function withFolderSettings(
  settings: Settings,
  { root, home }: TrustedFolder,
): Promise<{ settings: Settings; warnings: string[] }> {
  const said = await projectSettings(root, home)
  const { by, warnings } = projectHooks(root, said.hooks)
  return {
    settings: {
      ...narrowSettings(settings, said),
      hooks: Object.values(by).reduce(joinedHooks, settings.hooks),
      // If both configure a server of the same name, the person's own is used.
      mcpServers: { ...ofProject(said.mcpServers), ...settings.mcpServers },
      formatters: settings.formatters && [...ofFolder(said.formatter), ...settings.formatters],
    },
    warnings,
  }
}

/** The question whether to trust a folder, with its files, the programs that they would start, and their changes. */
export async function folderQuestion(folder: TrustedFolder, standing: FolderTrust, book: TrustBook): Promise<Question> {
  const lines = await folderFileLines(folder, standing.files, standing.changes)
  return trustQuestion(folder.root, standing, lines, await book.diffs(folder.root, standing))
}

/** The formatters from the project's settings. They come first, because they fit the project's files best. */
const ofFolder = (said: Record<string, string> | undefined): Formatter[] =>
  formattersOf(said).map((one) => ({ ...one, project: true }))

/** Marks the servers that the project configures: they run behind the wall, whatever their entries say. */
function ofProject(servers: Record<string, unknown> = {}): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(servers).map(([name, one]) => [name, isPlainObject(one) ? { ...one, project: true } : one]),
  )
}

/** Lists the folder's files and the programs that each would start, for the person to read. No program is started here. */
export async function folderFileLines(
  folder: TrustedFolder,
  files: readonly string[],
  changes: readonly FileChange[] = [],
): Promise<string[]> {
  const { servers, hooks, setup, formatters } = await startsOf(folder)
  const how = new Map(changes.map((change) => [change.path, ` (${change.how})`]))
  return files.flatMap((file) => [
    `${onOneLine(file)}${how.get(file) ?? ''}`,
    ...servers
      .filter(({ from }) => from === file)
      .map(({ name, shown }) => `    MCP server ${onOneLine(name)}: ${onOneLine(shown)}`),
    ...linesOf(hooks[file] ?? {}),
    ...(file === projectFile
      ? formatters.map(({ pattern, command }) => `    formatter of ${onOneLine(pattern)}: ${onOneLine(command)}`)
      : []),
    ...(file === projectFile && setup !== undefined ? [`    in a crew’s new worktree: ${onOneLine(setup)}`] : []),
  ])
}

type Starts = {
  servers: ServerConfig[]
  hooks: Record<string, HookSettings>
  formatters: Formatter[]
  setup?: string
}

/** Finds the programs that the folder would start. An unreadable file starts none here; its error is reported when the file is used. */
async function startsOf({ root, home }: TrustedFolder): Promise<Starts> {
  const said = await projectSettings(root, home).catch(() => undefined)
  const settings = said?.mcpServers
  const { servers: all } = await readServers({ root, home: root, env: {}, trusted: true, settings })
  const servers = all.map((one) => (one.from === 'settings' ? { ...one, from: projectFile } : one))
  const setup = said?.crew?.setup
  return { servers, hooks: said ? hooksBy(root, said.hooks) : {}, formatters: formattersOf(said?.formatter), setup }
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
      each.map(({ command }) => `    hook ${onOneLine(`${event}${matcher ? ` (${matcher})` : ''}: ${command}`)}`),
    ),
  )
}
