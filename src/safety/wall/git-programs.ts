import type { GitEnv } from '../../base/run-git.ts'
import { lstatSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { runGit } from '../../base/run-git.ts'
import { isWithin } from '../../base/real-path.ts'

type Asked = { root: string; own: string; env: GitEnv }

/** Files and folders of the project that decide what git runs: existing ones, and ones that would count if they were made. */
export type GitPrograms = { kept: string[]; missing: string[] }

type Setting = { origin: string; key: string; value: string }

/** Finds the files of a project that git's settings name: hooks (`core.hooksPath`), included settings, attributes, programs. */
export async function gitPrograms({ root, own, env }: Asked): Promise<GitPrograms> {
  const found = new Set<string>()
  for (const { origin, key, value } of await settingsOf({ root, own, env })) {
    const from = resolve(own, origin.replace(/^file:/, ''))
    found.add(from)
    if (key === 'core.hookspath') for (const path of hookFolders(resolve(root, value))) found.add(path)
    else if (/^include(?:if\..*)?\.path$/s.test(key)) found.add(resolve(dirname(from), value))
    else if (key === 'core.attributesfile') found.add(resolve(root, value))
    else if (!isPlainSetting(key)) for (const path of wordsOf(value, root)) found.add(path)
  }
  const inProject = [...found].filter((path) => path !== root && isWithin(root, path) && !isWithin(own, path))
  const there = (path: string) => lstatSync(path, { throwIfNoEntry: false }) !== undefined
  return { kept: inProject.filter(there), missing: inProject.filter((path) => !there(path)) }
}

/** Asks git for all of its settings and where they come from. Git only reads files for that. */
async function settingsOf({ own, env }: Asked): Promise<Setting[]> {
  const signal = AbortSignal.timeout(patienceMs)
  const args = ['config', '-z', '--list', '--show-origin']
  const { code, out, error } = await runGit(args, { cwd: '/', env, dir: own, person: true, signal })
  // Without git nobody runs what its settings name.
  if (error?.code === 'ENOENT') return []
  if (code !== 0) throw new Error("git's settings for this project cannot be read: try git config --list")
  const fields = out.toString().split('\0').slice(0, -1)
  const settings = fields.flatMap((origin, i) => {
    const [key = '', ...value] = i % 2 === 0 ? fields[i + 1]!.split('\n') : []
    return i % 2 === 0 ? [{ origin, key, value: value.join('\n') }] : []
  })
  // Settings of the command line are our own.
  return settings.filter(({ origin }) => origin.startsWith('file:'))
}

/** A settings file can be a pipe that nobody writes to. */
const patienceMs = 5_000

/** The folder of hooks; husky's hooks in `.husky/_` run those in the folder above. */
const hookFolders = (folder: string) => (basename(folder) === '_' ? [dirname(folder)] : [folder])

/** The project's files among the words of a program's command line. */
function wordsOf(value: string, root: string): string[] {
  const words = value.split(/[\s"'`;|&()<>=!]+/).filter((word) => /[./]/.test(word))
  const paths = words.map((word) => resolve(root, word))
  return paths.filter((path) => isWithin(root, path) && lstatSync(path, { throwIfNoEntry: false })?.isFile() === true)
}

/** Settings that name no program, no further settings and no place that git would read settings from. */
const plainSettings = [
  /^(?:user|author|committer)\.(?:name|email|useconfigonly|signingkey)$/,
  /^core\.(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol|safecrlf|checkstat|trustctime|sparsecheckout|sparsecheckoutcone|sharedrepository|quotepath|longpaths|compression|bigfilethreshold|untrackedcache|protecthfs|protectntfs|abbrev|whitespace|commentchar)$/,
  /^remote\.(?:.*\.(?:url|pushurl|fetch|push|tagopt|prune|mirror|promisor|partialclonefilter|skipdefaultupdate)|pushdefault)$/s,
  /^branch\.(?:.*\.(?:remote|pushremote|merge|rebase|description)|autosetupmerge|autosetuprebase|sort)$/s,
  /^submodule\.(?:.*\.(?:url|active|branch|ignore|fetchrecursesubmodules)|active)$/s,
  /^extensions\.(?:objectformat|partialclone|preciousobjects|refstorage|relativeworktrees|compatobjectformat|worktreeconfig)$/,
  /^(?:init\.defaultbranch|pull\.(?:rebase|ff)|push\.(?:default|autosetupremote|followtags)|merge\.(?:ff|conflictstyle)|fetch\.(?:prune|prunetags)|rebase\.(?:autosquash|autostash|updaterefs)|index\.(?:version|sparse|threads)|feature\.\w+|i18n\.\w+|rerere\.\w+|gc\.(?:auto|pruneexpire)|pack\.\w+|advice\.\w+|color\.[\w.]+|column\.\w+|log\.(?:date|abbrevcommit|decorate|follow)|diff\.(?:algorithm|renames|colormoved|mnemonicprefix|noprefix|context)|lfs\.repositoryformatversion)$/,
]

export const isPlainSetting = (key: string) => plainSettings.some((pattern) => pattern.test(key))
