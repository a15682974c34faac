import type { RawPath } from './paths.ts'
import type { Repository } from './repository.ts'
import type { Move } from './undo-plan.ts'
import { mkdirSync, rmSync } from 'node:fs'
import { writeObjects } from './objects.ts'
import { onDisk, parentOf, splitPaths } from './paths.ts'
import { checked, workFile } from './repository.ts'

/**
 * Which of the files to delete only look new: a turn that changed a .gitignore can bring up files that were there,
 * unseen, long before it. They are judged by the rules as they were.
 */
export async function wereIgnored(
  repository: Repository,
  before: string,
  moves: readonly Move[],
): Promise<Set<RawPath>> {
  const going = moves.filter(({ target }) => !target).map(({ path }) => path)
  if (going.length === 0) return new Set()
  const tree = workFile(repository)
  mkdirSync(tree)
  try {
    const rules = await rulesIn(repository, before)
    for (const { path } of rules) mkdirSync(onDisk(tree, parentOf(path)), { recursive: true })
    await writeObjects(
      repository,
      rules.map(({ path, id }) => ({ id, place: onDisk(tree, path) })),
    )
    // The dot in front keeps a name that begins with a colon from being read as a pattern.
    const input = Buffer.from(going.map((path) => `./${path}\0`).join(''), 'latin1')
    const ran = await repository.git(['check-ignore', '--no-index', '-z', '--stdin'], { tree, input })
    return new Set(splitPaths(checked(ran, [0, 1]).out).map((path) => path.slice(2)))
  } finally {
    rmSync(tree, { recursive: true, force: true })
  }
}

async function rulesIn(repository: Repository, tree: string): Promise<{ path: RawPath; id: string }[]> {
  const { out } = checked(await repository.git(['ls-tree', '-r', '-z', tree]))
  return splitPaths(out).flatMap((line) => {
    const [mode = '', , id = ''] = line.split(/[ \t]/, 3)
    const path = line.slice(line.indexOf('\t') + 1)
    return isRules(path) && mode.startsWith('100') ? [{ path, id }] : []
  })
}

const isRules = (path: RawPath) => path === '.gitignore' || path.endsWith('/.gitignore')
