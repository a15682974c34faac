import type { Argv, EnclosedSeat } from '../agents/enclosure.ts'
import type { Failure } from '../core/talk/outcome.ts'
import type { Profile } from '../core/work/profile.ts'
import type { CliAgentSettings } from '../settings/agent-settings.ts'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { makeFolder, replaceFile } from '../base/files.ts'
import { projectRoot } from '../base/git.ts'
import { randomName } from '../base/id.ts'
import { sha256 } from '../base/hash.ts'
import { isWithin, realOrSame } from '../base/real-path.ts'

/** A CLI's command line and variables with which it leaves out what the project brings, and a note about that for the person. */
type GuardedStart = { argv: Argv; vars: Record<string, string>; told: string[] }

/**
 * Makes a CLI leave out the project's own settings, hooks and servers unless the person has trusted them as they are now, and
 * keeps the project's `.env` from moving its addresses and keys. The files are compared with the trusted ones at every start.
 */
export async function guardedStart(
  argv: Argv,
  { agent, profile, own }: { agent: Pick<CliAgentSettings, 'name' | 'command'>; profile: Profile; own: string },
  { cwd, env }: Pick<EnclosedSeat, 'cwd' | 'env'>,
): Promise<GuardedStart | { refused: Failure }> {
  const root = projectRoot(cwd)
  const found = foundFiles(profile, root, cwd)
  const trusted = found.length === 0 || (await isTrusted(root, cwd, own))
  // Named by its content, because agents in other projects are started at the same time.
  const file = (name: string, text: string) => {
    const mark = sha256().update(text).digest('hex').slice(0, 12)
    return keptFile(join(own, 'guards', `${profile.name}-${mark}-${name}`), text)
  }
  const start = await profile.guard?.({ home: env.HOME ?? '', cwd, env, root, trusted, file })
  const names = found.join(', ')
  if (!trusted && (start === undefined || start.refuses === true)) {
    const message = `${profile.title} could start programs from ${names}, which came with this project and which you have not trusted, and it has no option to leave that out. Read it, then run termaite trust, or move it away`
    return { refused: { kind: 'missing', message } }
  }
  const told = trusted
    ? []
    : [
        `${profile.title} was started without ${names}: this came with the project, and you have not trusted it. Read it, then run termaite trust.`,
      ]
  return { argv: withWords(argv, agent.command === undefined ? start?.words : undefined), vars: start?.env ?? {}, told }
}

/** The files of the project that start programs in this CLI; instructions are text. */
function foundFiles({ projectFiles }: Profile, root: string, cwd: string): string[] {
  const folders = [root]
  for (let at = realOrSame(cwd); at !== root && isWithin(root, at); at = dirname(at)) folders.push(at)
  const names = projectFiles.filter((name) => !name.endsWith('.md'))
  return names.filter((name) => folders.some((folder) => existsSync(join(folder, name))))
}

async function isTrusted(root: string, cwd: string, own: string): Promise<boolean> {
  const [{ TrustBook }, { fileStore }] = await Promise.all([
    import('../safety/trust/folder-trust.ts'),
    import('../store/files/file-store.ts'),
  ])
  return (await new TrustBook(fileStore(own), { own }).of(root, cwd)).state === 'trusted'
}

/** A file of ours with a text; returns its path. */
function keptFile(path: string, text: string): string {
  makeFolder(dirname(path))
  if (!existsSync(path) || readFileSync(path, 'utf8') !== text) replaceFile(path, text, `${path}.${randomName()}`)
  return path
}

/** The command with further words of a CLI whose command line its profile composed. */
function withWords(argv: Argv, words: string | undefined): Argv {
  const [program, flag, line, ...more] = argv
  if (!words || flag !== '-c' || line === undefined || more.length > 0) return argv
  return [program, flag, `${line} ${words}`]
}
