import type { Env, RawPath, Repository } from './snapshot-repository.ts'
import { isAbsolute, join, relative, resolve, sep } from 'node:path'
import { ensureFile, fileMark, splitPaths } from './snapshot-repository.ts'
import { textIn } from '../../base/files/files.ts'
import { gitFolders } from '../../base/files/git.ts'
import { projectGit } from '../../base/git/project-git.ts'
import { realIfThere } from '../../base/files/real-path.ts'

/** Files that the project ignores in addition to its .gitignore files, and ignored files that it tracks anyway. */
export type IgnoreRules = {
  /** Updates our copy of the project's exclude file; returns the git options that every command on the tree needs. */
  refresh(): Promise<readonly string[]>
  /** A mark that changes whenever the index of the user's repository does. */
  userIndex(): string
  /** Ignored paths that the user added by force. */
  forced(): Promise<RawPath[]>
}

export function ignoreRules(repository: Repository, home: string): IgnoreRules {
  const folders = gitFolders(repository.root)
  const index = folders && join(folders.own, 'index')
  return {
    async refresh() {
      const own = folders ? textIn(join(folders.common, 'info', 'exclude')) : ''
      ensureFile(join(repository.dir, 'info', 'exclude'), `${secretFiles}${own}\n${ourselves(repository.root, home)}`)
      // Our git reads the user's global excludes itself, but not an excludes file that only the project's repository configures.
      if (!folders || !/excludesfile/i.test(textIn(join(folders.common, 'config')))) return []
      const asked = ['config', '--type=path', '--get', 'core.excludesFile']
      const { out } = await projectGit(repository.env).ran(repository.root, asked)
      const file = out.toString().trim()
      return file === '' ? [] : ['-c', `core.excludesFile=${resolve(repository.root, file)}`]
    },
    userIndex: () => (index ? fileMark(index) : ''),
    async forced() {
      if (!index) return []
      // Runs with our configuration, because the repository's own could run a program.
      const args = ['ls-files', '-z', '-c', '-i', '--exclude-standard']
      return splitPaths((await repository.git(args, { index })).out)
    },
  }
}

/** Files with the person's keys are not copied into snapshots, unless the project's own rules include them. */
const secretFiles = '.env\n.env.*\n.envrc\n!.env.example\n!.env.sample\n!.env.template\n!.env.dist\n!.env.default*\n'

/** Excludes termaite's home if it is in the project: otherwise an undo would revert the conversation. */
function ourselves(root: string, home: string): string {
  if (!isWithin(home, root)) return ''
  return `/${relative(root, home).replaceAll(/[\\*?[\]#! ]/g, '\\$&')}/\n`
}

/** termaite's home, found from the store in it: `<home>/projects/<slug>/snapshots`. */
export function ourHome(dir: string): string {
  return realOr(resolve(dir, '..', '..', '..'))
}

/** Worktrees of agents are in termaite's home, but still count as projects. */
export function isWorktree(root: string, dir: string): boolean {
  return isWithin(root, join(ourHome(dir), 'worktrees'))
}

/** Whether the project is the user's home or contains it: no snapshot is ever taken of such a tree. */
export function containsHome(root: string, env: Env): boolean {
  if (root === resolve('/')) return true
  return env.HOME ? isWithin(realOr(env.HOME), root) : false
}

/** Whether `path` is `folder` or lies below it. */
export function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path)
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

const realOr = (path: string): string => realIfThere(path) ?? resolve(path)
