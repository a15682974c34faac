import type { Env } from '../../base/env.ts'
import { lstatSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { runGit } from '../../base/git/run-git.ts'
import { isWithin } from '../../base/files/real-path.ts'

/**
 * A repository with its files and its git folder, and the project that it is or is in. `folders` are all git folders of the project,
 * including `own`; they may be outside of it.
 */
type Asked = { root: string; own: string; project: string; folders: readonly string[]; env: Env }

/**
 * Files and folders of the project and of its git folders that decide which programs git runs: existing ones, and ones that would count
 * if they were created.
 */
type GitPrograms = { kept: string[]; missing: string[] }

type Setting = { origin: string; key: string; value: string }

/** Finds the files of a project that git's settings name: hooks (`core.hooksPath`), included settings, attributes, programs. */
export async function gitPrograms(asked: Asked): Promise<GitPrograms> {
  const places = [asked.project, ...asked.folders]
  const named = await namedPaths(asked)
  const inProject = named.filter((path) => !places.includes(path) && places.some((place) => isWithin(place, path)))
  const there = (path: string) => lstatSync(path, { throwIfNoEntry: false }) !== undefined
  return { kept: inProject.filter(there), missing: inProject.filter((path) => !there(path)) }
}

/**
 * The files that a repository's settings named when the settings last changed, remembered because asking git takes longer than everything
 * else here.
 */
const remembered = new Map<string, { files: string[]; mark: string; named: string[] }>()

async function namedPaths(asked: Asked): Promise<string[]> {
  const { root, own, project, folders, env } = asked
  const key = [root, own, project, ...folders, env.HOME, env.XDG_CONFIG_HOME].join('\0')
  const last = remembered.get(key)
  if (last && last.mark === markOf(last.files)) return last.named
  const settings = await settingsOf(asked)
  const origin = (setting: Setting) => resolve(own, setting.origin.replace(/^file:/, ''))
  const named = [
    ...new Set(
      settings.flatMap((setting) => [
        origin(setting),
        ...pathsIn(setting, origin(setting), root, [project, ...folders]),
      ]),
    ),
  ]
  // A settings file that does not exist yet would count once it is created.
  const config = join(env.XDG_CONFIG_HOME || join(env.HOME ?? '/', '.config'), 'git/config')
  const files = [...named, join(own, 'config'), join(own, 'config.worktree'), join(own, 'commondir'), config]
  files.push(join(env.HOME ?? '/', '.gitconfig'), '/etc/gitconfig')
  remembered.set(key, { files, mark: markOf(files), named })
  return named
}

const markOf = (files: readonly string[]) =>
  files
    .map((file) => lstatSync(file, { throwIfNoEntry: false, bigint: true }))
    .map((there) => (there ? `${there.ino}:${there.ctimeNs}` : ''))
    .join(' ')

function pathsIn({ key, value }: Setting, from: string, root: string, places: readonly string[]): string[] {
  if (key === 'core.hookspath') return [hookFolder(resolve(root, value))]
  if (/^include(?:if\..*)?\.path$/s.test(key)) return [resolve(dirname(from), value)]
  if (key === 'core.attributesfile') return [resolve(root, value)]
  return isPlainSetting(key) ? [] : wordsOf(value, root, places)
}

/** Asks git for all of its settings and their files. Git only reads files for that. */
async function settingsOf({ own, env }: Asked): Promise<Setting[]> {
  const signal = AbortSignal.timeout(patienceMs)
  const args = ['config', '-z', '--list', '--show-origin']
  const { code, out, error } = await runGit(args, { cwd: '/', env, dir: own, person: true, signal })
  // Without git, nothing from its settings is run.
  if (error?.code === 'ENOENT') return []
  if (code !== 0) throw new Error("git's settings for this project cannot be read: try git config --list")
  const fields = out.toString().split('\0').slice(0, -1)
  const settings = fields.flatMap((origin, i) => {
    const [key = '', ...value] = i % 2 === 0 ? fields[i + 1]!.split('\n') : []
    return i % 2 === 0 ? [{ origin, key, value: value.join('\n') }] : []
  })
  // Settings that come from no file are from the command line with which termaite starts git.
  return settings.filter(({ origin }) => origin.startsWith('file:'))
}

/** A settings file can be a pipe without a writer, so the wait is limited. */
const patienceMs = 5_000

/** The folder of hooks; husky's hooks in `.husky/_` run those in the folder above. */
const hookFolder = (folder: string) => (basename(folder) === '_' ? dirname(folder) : folder)

/** The files of the project and its git folders among the words of a program's command line. */
function wordsOf(value: string, root: string, places: readonly string[]): string[] {
  const words = value.split(/[\s"'`;|&()<>=!]+/).filter((word) => /[./]/.test(word))
  const paths = words.map((word) => resolve(root, word))
  const isOurs = (path: string) => places.some((place) => isWithin(place, path))
  return paths.filter((path) => isOurs(path) && lstatSync(path, { throwIfNoEntry: false })?.isFile() === true)
}

/** Settings that name no program, no further settings and no place from which git would read settings. */
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
