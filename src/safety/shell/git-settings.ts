import { lstatSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gitFolders, isGitFolder, isWholeRepository } from '../../base/git.ts'
import { isWithin } from '../../base/real-path.ts'
import { gitTables } from './reading/git-tables.ts'

/** The commands of git that the tables call reads. */
const readNames = new Set(Object.keys(gitTables).map((name) => name.split(' ')[0]!))

/** Settings of a repository that name no program while git only reads; any other section or key may name one. */
const harmless: Readonly<Record<string, RegExp>> = {
  core: /^(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|safecrlf|eol|quotepath|abbrev|longpaths|protectntfs|protecthfs|untrackedcache|preloadindex|fscache|compression|bigfilethreshold|commitgraph|multipackindex|hookspath|whitespace|excludesfile|editor|sharedrepository|fsmonitor)$/,
  user: /^(?:name|email|signingkey|useconfigonly)$/,
  author: /^(?:name|email)$/,
  commit: /^(?:gpgsign|template|verbose|cleanup)$/,
  tag: /^(?:gpgsign|sort|forcesignannotated)$/,
  gpg: /^format$/,
  branch: /^[\w-]+$/,
  remote: /^(?:url|fetch|pushurl|push|tagopt|prune|gh-resolved|mirror|skipdefaultupdate|skipfetchall|pushdefault)$/,
  extensions: /^(?:worktreeconfig|objectformat)$/,
  init: /^defaultbranch$/,
  pull: /^(?:rebase|ff)$/,
  push: /^(?:default|autosetupremote|followtags)$/,
  fetch: /^(?:prune|parallel|prunetags)$/,
  merge: /^(?:ff|conflictstyle)$/,
  rebase: /^(?:autostash|autosquash|updaterefs)$/,
  diff: /^(?:renames|renamelimit|algorithm|noprefix|mnemonicprefix|colormoved|colormovedws|indentheuristic)$/,
  log: /^(?:date|decorate|abbrevcommit|follow)$/,
  status: /^(?:showuntrackedfiles|short|branch|aheadbehind|relativepaths)$/,
  color: /^\w+$/,
  advice: /^\w+$/,
  // Newer versions of git let an alias stand for a command of theirs that is going away.
  alias: new RegExp(`^(?!(?:${[...readNames].join('|')})$)[\\w-]+$`, 'i'),
  rerere: /^(?:enabled|autoupdate)$/,
  gc: /^(?!\w*hook$)\w+$/,
  pack: /^\w+$/,
  index: /^\w+$/,
  feature: /^\w+$/,
  credential: /^\w+$/,
  http: /^\w+$/,
  // Git LFS runs the programs of `lfs.extension` when git compares a file.
  lfs: /^(?:repositoryformatversion|access|locksverify|url|pushurl)$/,
  github: /^[\w-]+$/,
}

/**
 * Why git may run a program that a repository of a folder names, though it is only asked to read; undefined if it does not.
 * Git looks for its repository in the folder and upwards, so every folder up to the one whose repository git surely uses must be
 * harmless. The environment in which git runs must still switch off the file monitor and optional locks.
 */
export function repositoryDanger(folder: string, roots: readonly string[]): string | undefined {
  // Where the project has submodules, the environment lets git look into the repositories inside the one that it reads.
  if (roots.some((root) => isThere(join(root, '.gitmodules')))) return submodules
  for (let at = folder; ; at = dirname(at)) {
    if (isGitFolder(at)) return `${at} looks like a repository of its own`
    if (isThere(join(at, '.git'))) {
      if (!roots.some((root) => isWithin(root, at))) return 'its repository is not the project’s'
      const folders = gitFolders(at)
      if (!folders) return 'the settings of its repository cannot be read'
      const danger = dangerIn(at, folders)
      if (danger !== undefined || isWholeRepository(folders)) return danger
    }
    if (at === dirname(at)) return undefined
  }
}

/** Whether a folder lies in a repository. */
export function hasRepository(folder: string): boolean {
  return isThere(join(folder, '.git')) || (folder !== dirname(folder) && hasRepository(dirname(folder)))
}

// Git looks into each submodule with the settings of that submodule.
const submodules = 'its repository has submodules, which have settings of their own'

function dangerIn(repository: string, folders: { own: string; common: string }): string | undefined {
  if (isThere(join(repository, '.gitmodules'))) return submodules
  for (const path of [join(folders.common, 'config'), join(folders.own, 'config.worktree')]) {
    const text = textOf(path)
    if (text === undefined) return `${path} cannot be read`
    const key = oddSetting(text)
    if (key !== undefined) return `its repository sets ${key}, which can make git run a program`
  }
  return undefined
}

/** The text of a file, empty if there is none; undefined for what is not a plain file. */
function textOf(path: string): string | undefined {
  try {
    const there = statSync(path, { throwIfNoEntry: false })
    if (!there) return ''
    return there.isFile() && there.size < 256 * 1024 ? readFileSync(path, 'utf8') : undefined
  } catch {
    return undefined
  }
}

/** Whether a path is there, be it a link that leads nowhere. A path where nobody may look is not there for git either. */
function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined
  } catch {
    return false
  }
}

/** The first setting in a configuration that is not known to be harmless. */
export function oddSetting(text: string): string | undefined {
  let section = ''
  for (const line of text.split('\n')) {
    if (/^\s*(?:[#;].*)?$/.test(line)) continue
    const header = /^\s*\[([A-Za-z0-9-]+)(\s+"[^"\\]*")?\]\s*$/.exec(line)
    if (header) {
      section = header[1]!.toLowerCase()
      // The name of an alias may also stand in the header, where its key is always `command`.
      if (section === 'alias' && header[2] !== undefined) return line.trim().slice(0, 60)
      continue
    }
    const setting = /^\s*([A-Za-z][A-Za-z0-9-]*)\s*(?:=.*)?$/.exec(line)
    // A line that goes on in the next one, and everything else that is unusual, is not read.
    if (!setting || line.endsWith('\\')) return line.trim().slice(0, 60)
    const key = setting[1]!.toLowerCase()
    if (!Object.hasOwn(harmless, section) || !harmless[section]!.test(key)) return `${section}.${key}`
  }
  return undefined
}
