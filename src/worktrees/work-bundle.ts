import type { Environment } from './worktree-git.ts'
import type { KeptText, TryBundle } from '../hub/model/tasks/task-try.ts'
import { createReadStream } from 'node:fs'
import { open, rm, stat } from 'node:fs/promises'
import { sha256 } from '../base/hash.ts'
import { checkedGit, projectGit } from '../base/git/project-git.ts'
import { bundlePart } from '../hub/model/tasks/task-try.ts'

/** The commits of a branch: its last one, and the one from which it began. */
type BranchCommits = { branch: string; commit: string; base: string }

/** Writes the commits of a branch that are not in its base to a file, as a git bundle. */
export async function writeBundle(
  env: Environment,
  root: string,
  { branch, base }: BranchCommits,
  file: string,
): Promise<void> {
  await rm(file, { force: true })
  // Git starts itself here to pack the objects; the repository's own settings are not read.
  await checkedGit(projectGit(env), root, ['bundle', 'create', '-q', file, `refs/heads/${branch}`, `^${base}`], {
    starts: true,
  })
}

/** The checksums of a file and of its parts, in the form for the hub. */
export async function bundleOf(file: string): Promise<TryBundle> {
  const whole = sha256()
  const parts: KeptText[] = []
  const { size: bytes } = await stat(file)
  for (let at = 0; at < bytes; at += bundlePart) {
    const hash = sha256()
    const end = Math.min(at + bundlePart, bytes)
    for await (const chunk of createReadStream(file, { start: at, end: end - 1 })) {
      hash.update(chunk as Buffer)
      whole.update(chunk as Buffer)
    }
    parts.push({ id: hash.digest('hex'), bytes: end - at })
  }
  return { id: whole.digest('hex'), bytes, parts }
}

/** One part of a file; parts are numbered from 0. */
export async function partOf(file: string, number: number): Promise<Uint8Array> {
  const handle = await open(file)
  try {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(bundlePart), 0, bundlePart, number * bundlePart)
    return buffer.subarray(0, bytesRead)
  } finally {
    await handle.close()
  }
}

/** A bundle cannot be used here. The message says why and what to do next. */
export class BundleRefused extends Error {
  override name = 'BundleRefused'
}

/** The most bytes of a bundle's list of commits. */
const longestHead = 64 * 1024

/** How a branch was brought into a repository. */
export type Unbundled = 'new' | 'moved' | 'there'

/**
 * Fetches the branch of a bundle into the repository at `root`, under the name `as`. The bundle came from another machine: it may contain
 * only one branch, whose last commit must be the expected one, and every object is checked before the branch is created. An existing
 * branch is only moved if `mayMove` says that its commit is stored elsewhere.
 */
export async function unbundle(
  env: Environment,
  root: string,
  file: string,
  { as, commit, mayMove }: { as: string; commit: string; mayMove(old: string): boolean },
): Promise<Unbundled> {
  const git = projectGit(env)
  const has = async (one: string) =>
    (await git.ran(root, ['rev-parse', '--verify', '--quiet', `${one}^{commit}`])).code === 0
  const { needs, tips, length } = await headOf(file)
  if (tips.length !== 1 || tips[0] !== commit)
    throw new BundleRefused(`The bundle does not hold exactly the commit ${commit.slice(0, 8)} that its try left.`)
  if (!(await has(commit))) {
    for (const need of needs)
      if (!(await has(need)))
        throw new BundleRefused(
          `This clone does not have the commit ${need.slice(0, 8)} that the work begins at. Get it first: git -C ${root} fetch --all`,
        )
    const input = await packIn(file, length)
    const { code, err } = await git.ran(root, ['index-pack', '--stdin', '--fix-thin', '--strict'], {
      input,
      starts: true,
    })
    if (code !== 0) throw new BundleRefused(`The bundle is damaged: ${lastLine(err)}`)
    const reach = ['rev-list', '--objects', '--quiet', commit, ...needs.map((need) => `^${need}`)]
    if ((await git.ran(root, reach)).code !== 0)
      throw new BundleRefused('The bundle is incomplete: objects are missing from it.')
  }
  const old = await git(root, 'rev-parse', '--verify', '--quiet', `refs/heads/${as}`).catch(() => undefined)
  if (old === commit) return 'there'
  const forward = old !== undefined && (await git.ran(root, ['merge-base', '--is-ancestor', old, commit])).code === 0
  if (old !== undefined && !forward && !mayMove(old))
    throw new BundleRefused(
      `The branch ${as} is in ${root} already and holds other commits. Keep them under another name first: git -C ${root} branch -m ${as} <name>`,
    )
  const { code, err } = await git.ran(root, ['branch', '--force', '--no-track', as, commit])
  if (code !== 0) throw new BundleRefused(`The branch ${as} cannot be set in ${root}: ${lastLine(err)}`)
  return old === undefined ? 'new' : 'moved'
}

const lastLine = (text: string) =>
  text
    .trim()
    .split('\n')
    .at(-1)
    ?.replace(/^(?:fatal|error): /, '') || 'git gave no reason'

/** Parses the list at the beginning of a bundle: the required commits and the commits of its refs. */
async function headOf(file: string): Promise<{ needs: string[]; tips: string[]; length: number }> {
  const handle = await open(file)
  try {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(longestHead), 0, longestHead, 0)
    const end = buffer.subarray(0, bytesRead).indexOf('\n\n')
    const [first, ...lines] = end < 0 ? [] : buffer.toString('utf8', 0, end).split('\n')
    if (first !== '# v2 git bundle') throw new BundleRefused('The file is not a git bundle of version 2.')
    const found = (pattern: RegExp) => lines.flatMap((line) => pattern.exec(line)?.[1] ?? [])
    const [needs, tips] = [found(/^-([0-9a-f]{40})(?: |$)/), found(/^([0-9a-f]{40}) refs\/heads\//)]
    if (needs.length + tips.length !== lines.length)
      throw new BundleRefused('The bundle names something other than commits and a branch.')
    return { needs, tips, length: end + 2 }
  } finally {
    await handle.close()
  }
}

/** The packed objects of a bundle. */
async function packIn(file: string, from: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of createReadStream(file, { start: from })) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}
