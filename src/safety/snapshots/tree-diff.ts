import type { RawPath, Repository } from './snapshot-repository.ts'
import { checked, readablePath } from './snapshot-repository.ts'
import { defined } from '../../base/defined.ts'

/** The content of a path: a file, an executable file, a link or a nested repository. */
export type Item = { mode: string; id: string }

/** One path that differs between two trees; `was` is the old name of a renamed file. */
export type Change = { path: RawPath; was?: RawPath; status: string; from?: Item; to?: Item }

export type FileStat = {
  file: string
  added: number
  removed: number
  status: 'added' | 'deleted' | 'modified' | 'renamed' | 'type changed'
  /** The old name of a renamed file. */
  was?: string
  binary?: true
}

export type Diff = { patch: string; stat: FileStat[] }

export async function changesBetween(
  repository: Repository,
  from: string,
  to: string,
  renames: '-M' | '--no-renames',
): Promise<Change[]> {
  const ran = await repository.git(['diff-tree', '-r', '-z', '--raw', renames, from, to])
  return parseRaw(checked(ran).out.toString('latin1'))
}

const plain = ['diff-tree', '-r', '-M', '--no-ext-diff', '--no-textconv', '--no-color']

/** The patch and statistics between two trees. `below`: the folder that the patch adds before each path, with a slash at its end. */
export async function diffTrees(repository: Repository, from: string, to: string, below = ''): Promise<Diff> {
  const [stat, patch] = await Promise.all([
    statTrees(repository, from, to),
    repository.git([...plain, ...inFolder(below), '-p', from, to]),
  ])
  return { patch: withRenamesIn(below, checked(patch).out.toString('utf8')), stat }
}

const inFolder = (below: string) => (below === '' ? [] : [`--src-prefix=a/${below}`, `--dst-prefix=b/${below}`])

/** Git writes the names of renamed files without the prefix. No line of a file's content can begin like these lines. */
const withRenamesIn = (below: string, patch: string) =>
  below === '' ? patch : patch.replaceAll(/^(rename (?:from|to) "?)/gm, (line) => line + below)

/** Like `diffTrees`, but with a patch that is cut after `most` bytes, for models that need only its gist. */
export async function briefDiff(
  repository: Repository,
  from: string,
  to: string,
  most: number,
  below = '',
): Promise<Diff> {
  let bytes = 0
  const enough = (chunk: Uint8Array) => (bytes += chunk.length) > most
  const [stat, ran] = await Promise.all([
    statTrees(repository, from, to),
    repository.git([...plain, ...inFolder(below), '-p', from, to], { enough }),
  ])
  if (bytes <= most) return { patch: withRenamesIn(below, checked(ran).out.toString('utf8')), stat }
  const cut = ran.out.subarray(0, most).toString('utf8')
  return { patch: `${withRenamesIn(below, cut)}\n[… the rest is left out …]\n`, stat }
}

export async function statTrees(repository: Repository, from: string, to: string): Promise<FileStat[]> {
  const [changes, counts] = await Promise.all([
    changesBetween(repository, from, to, '-M'),
    repository.git([...plain, '--numstat', '-z', from, to]),
  ])
  const counted = parseNumstat(checked(counts).out.toString('latin1'))
  return changes.map((change, i) => fileStat(change, counted[i]!))
}

const words: Record<string, FileStat['status']> = { A: 'added', D: 'deleted', R: 'renamed', T: 'type changed' }

function fileStat(change: Change, count: Count): FileStat {
  const was = change.was === undefined ? undefined : readablePath(change.was)
  return defined({ file: readablePath(change.path), ...count, status: words[change.status] ?? 'modified', was })
}

function parseRaw(text: string): Change[] {
  const fields = text.split('\0')
  const changes: Change[] = []
  for (let i = 0; i + 1 < fields.length;) {
    const [oldMode = '', mode = '', oldId = '', id = '', status = ''] = fields[i++]!.slice(1).split(' ')
    const was = status.startsWith('R') ? fields[i++] : undefined
    const path = fields[i++]!
    changes.push({ path, was, status: status.slice(0, 1), from: item(oldMode, oldId), to: item(mode, id) })
  }
  return changes
}

/** A mode of zeros means that there is nothing at the path. */
const item = (mode: string, id: string): Item | undefined => (/^0+$/.test(mode) ? undefined : { mode, id })

type Count = { added: number; removed: number; binary?: true }

/** Parses line counts. Git lists the same files in the same order as in raw form, so paths are skipped here. */
function parseNumstat(text: string): Count[] {
  const fields = text.split('\0')
  const counts: Count[] = []
  for (let i = 0; i + 1 < fields.length; i++) {
    const [added = '', removed = '', path = ''] = fields[i]!.split('\t')
    // The two names of a renamed file are separate fields.
    if (path === '') i += 2
    counts.push(
      added === '-' ? { added: 0, removed: 0, binary: true } : { added: Number(added), removed: Number(removed) },
    )
  }
  return counts
}
