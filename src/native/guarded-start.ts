import type { Argv, EnclosedSeat } from '../agents/enclosure.ts'
import type { Failure } from '../core/talk/outcome.ts'
import type { Profile } from '../core/profile/profile.ts'
import type { CliAgentSettings } from '../settings/agent-settings.ts'
import { existsSync, readFileSync, rmSync, statSync, utimesSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { onOneLine } from '../base/text/ansi.ts'
import { makeFolder, namesIn, replaceFile } from '../base/files/files.ts'
import { projectRoot } from '../base/files/git.ts'
import { randomName } from '../base/id.ts'
import { sha256 } from '../base/hash.ts'
import { foldersDown } from '../base/files/real-path.ts'
import { isThere } from '../base/files/files.ts'

/**
 * The command line and variables that make a CLI ignore the project's own settings and servers, with a note about that for the person.
 * `fixed` is a different text if a process would have to be started differently, or with other files of the project.
 */
type GuardedStart = { argv: Argv; vars: Record<string, string>; fixed: string; told: string[] }

/**
 * Makes a CLI ignore the project's own settings, hooks and servers unless the person trusts their present content, and keeps the
 * project's `.env` from changing the CLI's addresses and keys. The files are compared with the trusted ones at every start.
 */
export async function guardedStart(
  argv: Argv,
  { agent, profile, own }: { agent: Pick<CliAgentSettings, 'name' | 'command'>; profile: Profile; own: string },
  { cwd, env, ask }: Pick<EnclosedSeat, 'cwd' | 'env' | 'ask'>,
): Promise<GuardedStart | { refused: Failure }> {
  const root = projectRoot(cwd)
  const found = foundFiles(profile, root, cwd)
  const { state, out, mark } = found.length === 0 ? unsteered : await (await trustBook(own)).of(root, cwd)
  const loose = out.filter((path) => found.some((name) => `/${path}/`.includes(`/${name}/`)))
  let trusted = state === 'trusted' && loose.length === 0
  // The file's name contains its content's hash, because agents in other projects may start at the same time.
  const file = (name: string, text: string) => {
    const mark = sha256().update(text).digest('hex').slice(0, 12)
    return keptFile(join(own, 'guards', `${profile.name}-${mark}-${name}`), text)
  }
  const guard = () => profile.guard?.({ home: env.HOME ?? '', cwd, env, root, trusted, file })
  let start = await guard()
  const names = found.join(', ')
  // A command that the person wrote runs unchanged: no words can be added to it.
  const isOwn = agent.command !== undefined
  const uses = () =>
    trusted ? undefined : start === undefined || start.refuses ? 'CLI' : isOwn && start.words ? 'command' : undefined
  if (uses() && ask && loose.length === 0) {
    const asked = asking.get(cwd) ?? askForTrust({ root, cwd, own, title: profile.title }, ask)
    asking.set(cwd, asked)
    trusted = await asked.finally(() => asking.delete(cwd))
    start = await guard()
  }
  const advice =
    loose.length === 0
      ? 'Read it, then run termaite trust (/trust in the chat)'
      : `${loose.map(onOneLine).join(', ')} ${loose.length === 1 ? 'leads' : 'lead'} out of the project, where termaite does not see what changes: put a copy there instead of the link`
  const by = uses()
  if (by) {
    const why =
      by === 'CLI' ? 'it has no option to leave that out' : 'its command in your settings runs as you wrote it'
    const message = `${profile.title} could start programs from ${names}, which came with this project and which ${loose.length > 0 ? 'cannot be trusted' : 'you have not trusted'}, and ${why}. ${advice}, or move it away`
    return { refused: { kind: 'missing', message } }
  }
  const told = trusted
    ? []
    : [
        `${profile.title} was started without ${names}: this came with the project, and ${loose.length > 0 ? 'it cannot be trusted' : 'you have not trusted it'}. ${advice}.`,
      ]
  const words = isOwn ? [] : [start?.words, start?.instructions].filter((one) => one !== undefined)
  const vars = start?.env ?? {}
  return { argv: withWords(argv, words.join(' ')), vars, fixed: JSON.stringify([words, vars, mark, trusted]), told }
}

/**
 * Called before a CLI starts; the returned function is called after it exits. If the project had none of the CLI's files before, that
 * function keeps the answers that the CLI wrote into the project. If the project had some, the trust in those files decides which new
 * content is an answer.
 */
export function answerKeeper(profile: Profile, cwd: string, own: string): () => Promise<void> {
  const root = projectRoot(cwd)
  const isOwn = (path: string) => profile.projectFiles.some((name) => `/${path}/`.includes(`/${name}/`))
  if (foundFiles(profile, root, cwd).length > 0) return async () => {}
  return async () => {
    if (foundFiles(profile, root, cwd).length > 0) await (await trustBook(own)).keepAnswers(root, cwd, isOwn)
  }
}

/** The files of the project that can make this CLI start programs. Instruction files are not among them, because they are only text. */
function foundFiles({ projectFiles }: Profile, root: string, cwd: string): string[] {
  const folders = foldersDown(root, cwd)
  const names = projectFiles.filter((name) => !name.endsWith('.md'))
  // A link that leads nowhere now may lead somewhere when the CLI reads it.
  return names.filter((name) => folders.some((folder) => isThere(join(folder, name))))
}

/** The trust in a folder without files that steer a CLI. */
const unsteered = { state: 'trusted', out: [] as string[], mark: '' }

async function trustBook(own: string) {
  const [{ TrustBook }, { fileStore }] = await Promise.all([
    import('../safety/trust/folder-trust.ts'),
    import('../store/files/file-store.ts'),
  ])
  return new TrustBook(fileStore(own), { own })
}

/** The open questions by their folder: agents that start there at the same time share the answer. */
const asking = new Map<string, Promise<boolean>>()

/** Asks whether a CLI may use the project's files. A yes trusts them with the content that the card shows. */
async function askForTrust(
  { root, cwd, own, title }: { root: string; cwd: string; own: string; title: string },
  ask: NonNullable<EnclosedSeat['ask']>,
): Promise<boolean> {
  const book = await trustBook(own)
  const standing = await book.of(root, cwd)
  if (standing.state === 'trusted') return true
  // If not all of the files can be shown, nobody can agree to them.
  if (standing.excess !== undefined) return false
  const { folderQuestion } = await import('./native-trust.ts')
  const question = await folderQuestion({ root, home: own }, standing, book)
  const text = `${question.text} ${title} would use them, so it starts only if you do.`
  const picks = await ask({ ...question, text })
  return picks?.includes('trust') === true && (await book.trust(root, standing.mark, cwd)).state === 'trusted'
}

/** A file is removed if no CLI was started with it for this long. */
const unusedMs = 30 * 24 * 3_600_000

/** Writes a text to a file of ours, and returns its path. The file's time is that of its last use. */
function keptFile(path: string, text: string): string {
  const folder = dirname(path)
  makeFolder(folder)
  const now = Date.now()
  if (existsSync(path) && readFileSync(path, 'utf8') === text) utimesSync(path, now / 1000, now / 1000)
  else replaceFile(path, text, `${path}.${randomName()}`)
  for (const name of namesIn(folder)) {
    const used = statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? now
    if (used < now - unusedMs) rmSync(join(folder, name), { force: true })
  }
  return path
}

/** Adds words to the command line of a CLI, if its profile composed that command line. */
function withWords(argv: Argv, words: string): Argv {
  const [program, flag, line, ...more] = argv
  if (words === '' || flag !== '-c' || line === undefined || more.length > 0) return argv
  return [program, flag, `${line} ${words}`]
}
