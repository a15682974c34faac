import type { RawPath } from './paths.ts'
import type { Repository } from './repository.ts'
import { readFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { gitFolders } from '../../base/git.ts'
import { collect } from '../../base/collect.ts'
import { isWithin } from './homes.ts'
import { fileMark } from './last-take.ts'
import { splitPaths } from './paths.ts'
import { ensureFile } from './repository.ts'

/** What the project ignores beyond its .gitignore files, and what it tracks although it is ignored. */
export type Rules = {
  /** Brings our copy of the project's own exclude file up to date; the options every look at the tree needs. */
  refresh(): Promise<readonly string[]>
  /** Changes whenever the user's index does. */
  userIndex(): string
  /** Paths the user added by force. */
  forced(): Promise<RawPath[]>
}

export function ignoreRules(repository: Repository, home: string): Rules {
  const folders = gitFolders(repository.root)
  const index = folders && join(folders.own, 'index')
  return {
    async refresh() {
      const own = folders ? textOf(join(folders.common, 'info', 'exclude')) : ''
      ensureFile(join(repository.dir, 'info', 'exclude'), `${secretFiles}${own}\n${ourselves(repository.root, home)}`)
      // The user's global rules reach our git by themselves; those that only the project's repository names do not.
      if (!folders || !/excludesfile/i.test(textOf(join(folders.common, 'config')))) return []
      const asked = ['config', '--type=path', '--get', 'core.excludesFile']
      const { GIT_DIR: _, ...env } = repository.env
      const { out } = await collect('git', asked, { cwd: repository.root, env })
      const file = out.toString().trim()
      return file === '' ? [] : ['-c', `core.excludesFile=${resolve(repository.root, file)}`]
    },
    userIndex: () => (index ? fileMark(index) : ''),
    async forced() {
      if (!index) return []
      // Read with our configuration: the repository's own might run a program.
      const args = ['ls-files', '-z', '-c', '-i', '--exclude-standard']
      return splitPaths((await repository.git(args, { index })).out)
    },
  }
}

/** What holds keys of the person and is in no repository is not copied either; the project's own rules go before. */
const secretFiles = '.env\n.env.*\n.envrc\n!.env.example\n!.env.sample\n!.env.template\n!.env.dist\n!.env.default*\n'

/** Our own home inside the project is never part of a snapshot: an undo would take back what was said. */
function ourselves(root: string, home: string): string {
  if (!isWithin(home, root)) return ''
  return `/${relative(root, home).replaceAll(/[\\*?[\]#! ]/g, '\\$&')}/\n`
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
