import type { Env } from '../env.ts'
import type { ChildProcessByStdio } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import type { Ran, RunOptions } from '../process/collect.ts'
import { existsSync, lstatSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { childProcesses } from '../process/node-processes.ts'
import { collect } from '../process/collect.ts'
import { defined } from '../defined.ts'
import { errorCode } from '../files/files.ts'
import { withGitConfig } from '../files/git.ts'
import { findOutside, withoutProject } from '../process/program-path.ts'
import { ProgramMissing } from '../files/system-error.ts'

/** The folders for git. Every place is named, so that git never searches for a repository and never finds a planted one. */
export type GitPlaces = {
  cwd: string
  env: Env
  /** The git folder, and the folder whose configuration, objects and refs are used instead of its own. */
  dir?: string
  common?: string
  tree?: string
  index?: string
  /** The folder for new objects, instead of the usual one, and other folders whose objects are read. */
  objects?: string
  alternates?: readonly string[]
  /** Whether git reads the person's and the system's own configuration. */
  person?: boolean
  /** A folder made by `makeStop`, which keeps git from starting itself. */
  stop?: string
  /** The protocol over which git may reach another machine, with the person's own credentials and without ever asking for any. */
  reaches?: RemoteProtocol
}

export type RemoteProtocol = 'https' | 'http' | 'ssh' | 'git'

export type GitOptions = GitPlaces & Omit<RunOptions, 'cwd' | 'env'>

/** Runs git to its end and collects its output. This file is the only place where termaite starts git. */
export function runGit(args: readonly string[], options: GitOptions): Promise<Ran> {
  const { input, signal, enough, heard, cwd } = options
  if (gitProgram(options) === missing)
    return Promise.resolve({ out: Buffer.alloc(0), err: '', error: new ProgramMissing('git') })
  return collect(gitProgram(options), args, { ...defined({ input, signal, enough, heard }), cwd, env: gitEnv(options) })
}

/** The arguments and the environment for a caller that starts git itself. */
export const gitCommand = (
  args: readonly string[],
  places: GitPlaces,
): { argv: [string, ...string[]]; env: Record<string, string | undefined> } => ({
  argv: [gitProgram(places), ...args],
  env: gitEnv(places),
})

/** Starts git with pipes, for output that is too long to collect. */
export function startGit(args: readonly string[], places: GitPlaces): ChildProcessByStdio<Writable, Readable, null> {
  const { cwd } = places
  return childProcesses().spawn(gitProgram(places), args, {
    cwd,
    env: gitEnv(places),
    stdio: ['pipe', 'pipe', 'ignore'],
  })
}

/** Settings that win over every configuration, also in a nested repository: git hands them down to its own children. */
const overrides = [
  ['core.fsmonitor', 'false'],
  ['core.hooksPath', '/dev/null'],
  ['core.pager', 'cat'],
  ['core.editor', 'false'],
  ['core.askPass', 'false'],
  ['commit.gpgSign', 'false'],
  ['tag.gpgSign', 'false'],
  ['gpg.program', 'false'],
  ['gpg.x509.program', 'false'],
  ['gpg.ssh.program', 'false'],
  ['protocol.allow', 'never'],
  ['safe.bareRepository', 'explicit'],
  ['submodule.recurse', 'false'],
  ['status.submoduleSummary', 'false'],
  ['fetch.recurseSubmodules', 'false'],
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
] as const

/** Settings of a git that reaches no other machine. */
const alone = [
  ['core.sshCommand', 'false'],
  ['credential.helper', ''],
] as const

/**
 * Makes a folder with a `git` that always fails. When git starts itself, it looks there first, so it cannot start itself in a nested
 * repository, whose settings are a stranger's.
 */
export function makeStop(folder: string): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const program = join(folder, 'git')
  if (lstatSync(program, { throwIfNoEntry: false }) !== undefined) return folder
  try {
    symlinkSync(['/bin/false', '/usr/bin/false'].find((path) => existsSync(path)) ?? '/nonexistent', program)
  } catch (error) {
    // Another process made the link at the same moment.
    if (errorCode(error) !== 'EEXIST') throw error
  }
  return folder
}

function gitEnv(places: GitPlaces): Record<string, string | undefined> {
  const { dir, common, tree, index, objects, alternates = [], stop, reaches } = places
  const person = places.person === true || reaches !== undefined
  const where = {
    GIT_DIR: dir,
    GIT_COMMON_DIR: common,
    GIT_WORK_TREE: tree,
    GIT_INDEX_FILE: index,
    GIT_OBJECT_DIRECTORY: objects,
    // The folders are quoted, because a colon separates them.
    GIT_ALTERNATE_OBJECT_DIRECTORIES: alternates.length === 0 ? undefined : alternates.map(quotePath).join(':'),
  }
  return {
    ...(reaches === undefined
      ? withGitConfig(ownVariables(places.env), [...overrides, ...alone])
      : withGitConfig(remoteVariables(places.env), [...overrides, [`protocol.${reaches}.allow`, 'always']])),
    ...defined(where),
    ...(person ? {} : { GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' }),
    ...defined({ GIT_EXEC_PATH: stop }),
    PATH: withoutProject(places.env, tree ?? places.cwd).PATH ?? '',
    // Messages are recognised by their English text.
    LC_ALL: 'C',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
    GIT_PAGER: 'cat',
    GIT_EDITOR: 'false',
    // Objects that a partial clone lacks are not fetched.
    GIT_ALLOW_PROTOCOL: reaches ?? 'none',
    GIT_NO_LAZY_FETCH: '1',
    // A file that is missing from the local store of git-lfs stays a pointer, and the checkout continues.
    GIT_LFS_SKIP_DOWNLOAD_ERRORS: '1',
  }
}

const quotePath = (path: string) => JSON.stringify(path)

/** Variables that git needs to find the person's settings and its own files. Keys and tokens have other names. */
const passed =
  /^(?:HOME|USER|LOGNAME|EMAIL|XDG_CONFIG_HOME|TMPDIR|TMP|TEMP|TZ|LANG|LD_LIBRARY_PATH|DYLD_\w+|SystemRoot|windir|ComSpec|APPDATA|LOCALAPPDATA|USERPROFILE)$/

const ownVariables = (env: Env): Env => Object.fromEntries(Object.entries(env).filter(([name]) => passed.test(name)))

/** Variables that git needs to find the person's own credentials and the way to another machine. */
const passedOn =
  /^(?:SSH_AUTH_SOCK|SSH_AGENT_PID|GIT_SSH|GIT_SSH_COMMAND|GIT_SSL_CAINFO|SSL_CERT_(?:FILE|DIR)|https?_proxy|HTTPS?_PROXY|all_proxy|ALL_PROXY|no_proxy|NO_PROXY|GH_TOKEN|GITHUB_TOKEN|GITLAB_TOKEN|XDG_RUNTIME_DIR|DBUS_SESSION_BUS_ADDRESS)$/

/** The variables with which git reaches a remote without asking anybody: a missing login makes it fail. */
function remoteVariables(env: Env): Env {
  const found = Object.entries(env).filter(([name]) => passed.test(name) || passedOn.test(name))
  return {
    ...Object.fromEntries(found),
    GIT_ASKPASS: 'false',
    SSH_ASKPASS: 'false',
    // A program that always fails is asked instead of the terminal, whatever command the person's settings specify for SSH.
    SSH_ASKPASS_REQUIRE: 'force',
    GCM_INTERACTIVE: 'never',
  }
}

/** A path that does not exist, for a machine without git. */
const missing = '/nonexistent/git'

/** Finds git on the PATH, never in a project: `node_modules/.bin` of a repository may contain a program of that name. */
function gitProgram({ env, cwd, tree = cwd }: GitPlaces): string {
  return findOutside('git', env, tree) ?? missing
}
