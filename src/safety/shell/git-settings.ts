import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gitFolders } from '../../base/git.ts'
import { isWithin } from '../../base/real-path.ts'

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
  alias: /^[\w-]+$/,
  rerere: /^(?:enabled|autoupdate)$/,
  gc: /^\w+$/,
  pack: /^\w+$/,
  index: /^\w+$/,
  feature: /^\w+$/,
  credential: /^\w+$/,
  http: /^\w+$/,
  lfs: /^\w+$/,
  github: /^[\w-]+$/,
}

/**
 * Why git may run a program that the repository of a folder names, though it is only asked to read; undefined if it does
 * not. The environment in which git runs must still switch off the file monitor and optional locks.
 */
export function repositoryDanger(folder: string, roots: readonly string[]): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, '.git')))
      return roots.some((root) => isWithin(root, at)) ? dangerIn(at) : 'its repository is not the project’s'
    if (isBare(at)) return `${at} looks like a repository of its own`
    if (at === dirname(at)) return undefined
  }
}

/** Whether a folder lies in a repository. */
export function hasRepository(folder: string): boolean {
  return existsSync(join(folder, '.git')) || (folder !== dirname(folder) && hasRepository(dirname(folder)))
}

function dangerIn(repository: string): string | undefined {
  const folders = gitFolders(repository)
  if (!folders) return 'the settings of its repository cannot be read'
  // git looks into each submodule with the settings of that submodule.
  if (existsSync(join(repository, '.gitmodules')))
    return 'its repository has submodules, which have settings of their own'
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

function isBare(folder: string): boolean {
  return existsSync(join(folder, 'HEAD')) && existsSync(join(folder, 'objects')) && existsSync(join(folder, 'refs'))
}

/** The first setting in a configuration that is not known to be harmless. */
export function oddSetting(text: string): string | undefined {
  let section = ''
  for (const line of text.split('\n')) {
    if (/^\s*(?:[#;].*)?$/.test(line)) continue
    const header = /^\s*\[([A-Za-z0-9-]+)(?:\s+"[^"\\]*")?\]\s*$/.exec(line)
    if (header) {
      section = header[1]!.toLowerCase()
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
