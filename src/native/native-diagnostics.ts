import type { Tool, ToolOutput } from '../core/work/tool.ts'
import type { LanguageServers, ServerStatus } from '../languages/language-servers.ts'
import type { FoundServer } from '../languages/server-search.ts'
import type { NativeParts, NativeSeat, WithState } from './native-parts.ts'
import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { shortPath } from '../base/files/short-path.ts'
import { temporary } from '../safety/wall/hidden-places.ts'
import { wallEnvironment } from '../safety/wall/wall-environment.ts'
import { withoutProject } from '../base/process/program-path.ts'
import { withOwnKeys } from '../core/profile/key-variables.ts'
import { namedKeys } from '../border/agent-environment.ts'
import { version } from '../base/version.ts'
import { homeView, projectCaches } from './command-home.ts'
import { sandboxOf } from './command-wall.ts'
import { noteOnce } from './native-parts.ts'

/**
 * Adds the errors that a language server finds in the written files to the result of a tool. The tool's declared effect names the files.
 * Hooks have already run, so the errors are those of the final files.
 */
export function diagnosedTool(tool: Tool, seat: NativeSeat, parts: NativeParts): Tool {
  if (tool.risk === 'read' || seat.settings.diagnostics.languages.length === 0) return tool
  return {
    ...tool,
    async run(input, call) {
      const effect = tool.effect?.(input, call.cwd)
      const written = effect?.does === 'access' ? effect.paths.filter(({ access }) => access === 'write') : []
      const { serversFor } = await import('../languages/server-table.ts')
      const paths = written.map(({ path }) => path).filter((path) => serversFor(path).length > 0)
      if (paths.length === 0) {
        const output = await tool.run(input, call)
        // A command may have changed any file.
        if (written.length === 0) parts.state.languages?.running?.filesMayHaveChanged()
        return output
      }
      const servers = await languageServersOf(parts, seat)
      const before = await servers.before(paths)
      const output = await tool.run(input, call)
      const place = {
        root: parts.root,
        env: parts.env,
        agreed: parts.state.trust.agreed === true,
        ...seat.settings.diagnostics,
      }
      const report = await servers.after(before, place, call.signal, (name, program) =>
        noteOnce(parts, unusedWords(name, shortPath(program, parts.root))),
      )
      for (const one of servers.status()) {
        if (one.state === 'failed') noteOnce(parts, failedWords(one))
        if (one.state === 'refused') noteOnce(parts, refusedWords(one))
      }
      return report ? withReport(output, report) : output
    },
  }
}

const unusedWords = (name: string, program: string) =>
  `The language server ${name} (${program}) is not used, because it could run programs of this project, and you have not trusted the folder yet. To trust it, type /trust in the chat, or run termaite trust.`

const failedWords = ({ name, why }: ServerStatus) =>
  `The language server ${name} exited again and again, so the errors after edits are no longer reported in this run. The reason: ${why}. To switch this off for good, set "diagnostics" to false in the settings.`

const refusedWords = ({ name, why }: ServerStatus) =>
  `The language server ${name} is not started, so errors after edits are not reported: ${why}. To switch this off for good, set "diagnostics" to false in the settings.`

function withReport(output: ToolOutput, { text, errors }: { text: string; errors: number }): ToolOutput {
  const { text: said, data, ...rest } = typeof output === 'string' ? { text: output, data: undefined } : output
  const whole = { ...rest, text: `${said}\n\n${text}` }
  if (errors > 0) return { ...whole, data: { changes: data, errors } }
  return data === undefined ? whole : { ...whole, data }
}

/** The language servers of a run. Their code is loaded with the first edit, and none is started before that. */
async function languageServersOf(parts: NativeParts, seat: NativeSeat): Promise<LanguageServers> {
  const { state, root, clock, cwd } = parts
  const known = (state.languages ??= { seat, running: undefined, opened: undefined })
  known.seat = seat
  known.opened ??= import('../languages/language-servers.ts').then(({ LanguageServers }) => {
    const shown = (path: string) => shortPath(path, cwd)
    const enclose = (found: FoundServer) => enclosedServer(found, known.seat, parts)
    return (known.running = new LanguageServers(root, { clock, version, shown, enclose }))
  })
  return known.opened
}

/**
 * Puts a language server behind the wall, without a network, with only its cache writable. If the system has no wall, or the settings
 * turn it off, the server runs in the same way as the person's commands; but a server in a folder that the person has not agreed to is
 * never passed to this function.
 */
async function enclosedServer(found: FoundServer, { settings }: NativeSeat, parts: NativeParts) {
  const { root, env, home, state } = parts
  const argv = [found.program, ...found.server.args] as const
  const own = withOwnKeys(withoutProject(env, root), [], namedKeys(settings))
  const caches = await serverCaches(parts)
  const inner = process.platform === 'linux' ? temporary : tmpdir()
  const view = await homeView(settings, parts)
  const lean = wallEnvironment(own, { temporary: inner, caches: caches ?? join(inner, 'caches'), ...view.names })
  // Fetched packages are in the person's own folders: a server has no network to fetch them again.
  const person = env.HOME ?? home
  lean.GOMODCACHE = own.GOMODCACHE ?? join(own.GOPATH ?? join(person, 'go'), 'pkg', 'mod')
  lean.CARGO_HOME = own.CARGO_HOME ?? join(person, '.cargo')
  const fetched = [lean.GOMODCACHE, `${lean.CARGO_HOME}/registry`, `${lean.CARGO_HOME}/git`]
  lean.CARGO_TARGET_DIR = join(lean.XDG_CACHE_HOME ?? inner, 'cargo-target')
  const none = settings.sandbox.enabled ? await sandboxOf(parts).none() : 'the settings switch it off'
  if (none !== undefined) {
    const { ServerRefused } = await import('../languages/server-connection.ts')
    if (!state.trust.agreed)
      throw new ServerRefused(
        `without a sandbox it runs only in a folder that you have trusted (type /trust in the chat, or run termaite trust), and there is no sandbox, because ${none}`,
      )
    return { argv, env: { ...lean, TMPDIR: tmpdir(), TMP: tmpdir(), TEMP: tmpdir() }, settle: async () => [] }
  }
  const walled = await sandboxOf(parts).wrap(argv, {
    ...{ root, project: 'read', git: 'read', network: false, sockets: false },
    home: env.HOME ?? home,
    writable: caches === undefined ? [] : [caches],
    readable: [...view.shown, ...view.own, ...fetched],
  })
  if ('none' in walled) throw new Error(`the sandbox could not be started: ${walled.none}`)
  return { argv: walled.argv, env: lean, settle: () => walled.settle() }
}

/** The folder for the caches of language servers in this project; undefined if the run stores nothing. */
async function serverCaches(parts: NativeParts): Promise<string | undefined> {
  const all = await projectCaches(parts)
  if (all === undefined || !existsSync(all)) return undefined
  const folder = join(all, 'language-servers')
  const made = mkdir(folder, { recursive: true, mode: 0o700 })
  return made.then(
    () => folder,
    () => undefined,
  )
}

/** The running language servers as lines for a person; none before the first edit. */
export function languageServerLines({ state, root }: Pick<NativeParts, 'root'> & WithState<'languages'>): string[] {
  const words = {
    starting: 'is starting',
    running: 'runs',
    resting: 'starts with the next edit',
    refused: 'is not started',
    failed: 'has failed',
  }
  return (state.languages?.running?.status() ?? []).map(({ name, language, program, state: is, why, files }) => {
    const open = is === 'running' ? `, ${files} ${files === 1 ? 'file' : 'files'} open` : ''
    const reason = why === '' || is === 'running' ? '' : ` (${why})`
    return `Language server for ${language}: ${name} ${words[is]}${open}${reason}. Its program is ${shortPath(program, root)}.`
  })
}
