import { execFileSync, spawnSync } from 'node:child_process'
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** Every hook that git knows. */
const hooks = [
  'applypatch-msg',
  'commit-msg',
  'fsmonitor-watchman',
  'post-applypatch',
  'post-checkout',
  'post-commit',
  'post-index-change',
  'post-merge',
  'post-receive',
  'post-rewrite',
  'post-update',
  'pre-applypatch',
  'pre-auto-gc',
  'pre-commit',
  'pre-merge-commit',
  'pre-push',
  'pre-rebase',
  'pre-receive',
  'prepare-commit-msg',
  'proc-receive',
  'push-to-checkout',
  'reference-transaction',
  'sendemail-validate',
  'update',
]

/** Every command that termaite uses, as an alias and with a pager of its own. */
const commands = [
  'add',
  'branch',
  'check-attr',
  'checkout',
  'commit',
  'config',
  'diff',
  'log',
  'ls-files',
  'status',
  'worktree',
]

/** Settings whose value is a program. */
const programs = [
  'core.alternateRefsCommand',
  'core.askPass',
  'core.editor',
  'core.fsmonitor',
  'core.gitProxy',
  'core.pager',
  'core.sshCommand',
  'browser.evil.cmd',
  'credential.helper',
  'credential.https://example.com.helper',
  'diff.evil.command',
  'diff.evil.textconv',
  'diff.external',
  'difftool.evil.cmd',
  'filter.evil.clean',
  'filter.evil.smudge',
  'filter.evil process.process',
  'filter.a=b".clean',
  'filter.deep.clean',
  'filter.deep.smudge',
  'filter.info.clean',
  'filter.info.smudge',
  'gpg.program',
  'gpg.ssh.defaultKeyCommand',
  'gpg.ssh.program',
  'gpg.x509.program',
  'guitool.evil.cmd',
  'interactive.diffFilter',
  'man.evil.cmd',
  'merge.evil.driver',
  'mergetool.evil.cmd',
  'remote.origin.receivepack',
  'remote.origin.uploadpack',
  'sequence.editor',
  'submodule.sub.update',
  'tar.evil.command',
  'trailer.evil.cmd',
  'trailer.old.command',
  'uploadpack.packObjectsHook',
  ...commands.map((name) => `alias.${name}`),
  ...commands.map((name) => `pager.${name}`),
]

/** Settings that make git use one of those programs, or lead it elsewhere. */
const switches: [string, string][] = [
  ['commit.gpgSign', 'true'],
  ['tag.gpgSign', 'true'],
  ['diff.submodule', 'diff'],
  ['diff.ignoreSubmodules', 'none'],
  ['status.submoduleSummary', 'true'],
  ['submodule.recurse', 'true'],
  ['filter.evil.required', 'true'],
  ['filter.deep.required', 'true'],
  ['protocol.ext.allow', 'always'],
  ['protocol.allow', 'always'],
  ['maintenance.auto', 'true'],
  ['gc.auto', '1'],
  ['gc.autoDetach', 'false'],
  ['remote.origin.promisor', 'true'],
  ['remote.origin.fetch', '+refs/heads/*:refs/remotes/origin/*'],
  ['remote.pushDefault', 'origin'],
]

/** How many settings and hooks of one repository have a canary. */
export const canaries = programs.length + hooks.length * 2 + 3

export const who = {
  GIT_AUTHOR_NAME: 'u',
  GIT_AUTHOR_EMAIL: 'u@e',
  GIT_COMMITTER_NAME: 'u',
  GIT_COMMITTER_EMAIL: 'u@e',
}

/**
 * A repository in which every setting that can run a program does, and leaves a file with the setting's name. It holds
 * a nested repository, a submodule, a bare repository among its files and a worktree, each of the same kind.
 */
export class HostileGit {
  readonly folder: string
  readonly root: string
  readonly worktree: string
  readonly #ran: string

  constructor(folder = realpathSync(mkdtempSync(join(tmpdir(), 'termaite-hostile-'))), root = join(folder, 'project')) {
    this.folder = folder
    this.root = root
    this.worktree = join(folder, 'worktree')
    this.#ran = join(folder, 'canaries')
    mkdirSync(this.#ran, { recursive: true })
    mkdirSync(this.root, { recursive: true })
    this.#build()
    this.#arm('top', this.root, join(this.root, '.git'))
    this.#arm('nested', join(this.root, 'nested'), join(this.root, 'nested/.git'))
    this.#arm('submodule', join(this.root, 'sub'), join(this.root, '.git/modules/sub'))
    this.#arm('bare', join(this.root, 'bare'), join(this.root, 'bare'))
    this.touch()
  }

  /** The canaries so far, such as `top core.fsmonitor`. */
  ran(): string[] {
    return readdirSync(this.#ran).sort()
  }

  forget(): void {
    for (const name of this.ran()) rmSync(join(this.#ran, name))
  }

  /** Makes files look changed, so that git reads them again, in every repository. */
  touch(): void {
    for (const path of ['a.txt', 'deep/b.txt', 'c.info', 'nested/n.txt', 'sub/s.txt'])
      utimesSync(join(this.root, path), 1, Math.floor(Math.random() * 1e9))
  }

  write(path: string, text: string): void {
    mkdirSync(dirname(join(this.root, path)), { recursive: true })
    writeFileSync(join(this.root, path), text)
  }

  /** Git as anybody would run it, without any protection. */
  plainGit(cwd: string, ...args: string[]): void {
    spawnSync('git', args, { cwd, env: this.env(), stdio: 'ignore', timeout: 20_000 })
  }

  env(): Record<string, string | undefined> {
    return { PATH: process.env.PATH, HOME: join(this.folder, 'home'), ...who }
  }

  /** Variables of git that a hook or an editor may have set around termaite. */
  hostileEnv(): Record<string, string> {
    const trap = (name: string) => this.#trap('env', name)
    return {
      GIT_DIR: join(this.root, 'bare'),
      GIT_WORK_TREE: '/',
      GIT_INDEX_FILE: join(this.folder, 'no-index'),
      GIT_EXTERNAL_DIFF: trap('GIT_EXTERNAL_DIFF'),
      GIT_SSH_COMMAND: trap('GIT_SSH_COMMAND'),
      GIT_PAGER: trap('GIT_PAGER'),
      GIT_EDITOR: trap('GIT_EDITOR'),
      GIT_ASKPASS: trap('GIT_ASKPASS'),
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'core.fsmonitor',
      GIT_CONFIG_VALUE_0: trap('GIT_CONFIG_COUNT'),
      GIT_CONFIG_PARAMETERS: `'core.fsmonitor=${trap('GIT_CONFIG_PARAMETERS')}'`,
      GIT_TEMPLATE_DIR: join(this.folder, 'template'),
      GIT_ALTERNATE_OBJECT_DIRECTORIES: join(this.root, 'bare/objects'),
    }
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true })
  }

  #trap(place: string, name: string): string {
    return `touch '${join(this.#ran, `${place} ${name.replaceAll('/', '_')}`)}'`
  }

  #build(): void {
    const git = (cwd: string, ...args: string[]) =>
      execFileSync('git', ['-c', 'protocol.file.allow=always', '-c', 'init.defaultBranch=main', ...args], {
        cwd,
        env: this.env(),
        stdio: 'pipe',
      })
    const commit = (cwd: string) => {
      git(cwd, 'add', '-A')
      git(cwd, 'commit', '-qm', 'first')
    }
    mkdirSync(join(this.folder, 'home'), { recursive: true })
    const origin = join(this.folder, 'origin')
    mkdirSync(origin)
    git(origin, 'init', '-q')
    writeFileSync(join(origin, 's.txt'), 's\n')
    commit(origin)
    git(this.root, 'init', '-q')
    this.write('a.txt', 'a\n')
    this.write('deep/b.txt', 'b\n')
    this.write('c.info', 'c\n')
    this.write('nested/n.txt', 'n\n')
    git(join(this.root, 'nested'), 'init', '-q')
    commit(join(this.root, 'nested'))
    git(this.root, 'submodule', '--quiet', 'add', '--name', 'sub', origin, 'sub')
    git(this.root, 'init', '-q', '--bare', 'bare')
    this.write('.gitattributes', '* filter=evil diff=evil merge=evil\n*.p filter="evil process"\n*.q filter=a=b"\n')
    this.write('deep/.gitattributes', '* filter=deep\n')
    for (const folder of ['nested', 'sub']) this.write(`${folder}/.gitattributes`, '* filter=evil diff=evil\n')
    // Git adds no empty folder, and a bare repository without one is none.
    for (const name of ['objects', 'refs']) writeFileSync(join(this.root, 'bare', name, '.keep'), '')
    commit(this.root)
    git(this.root, 'branch', 'other')
    git(this.root, 'worktree', 'add', '-q', this.worktree, 'other')
  }

  /** Writes the settings by hand, because git would already use them while they are set one by one. */
  #arm(place: string, tree: string, folder: string): void {
    const trap = (name: string) => this.#trap(place, name)
    const included = join(folder, 'included')
    const script = (key: string) => {
      const path = join(folder, `trap-${key}`)
      writeFileSync(path, `#!/bin/sh\n${trap(key)}\n`, { mode: 0o755 })
      return path
    }
    const settings: (readonly [string, string])[] = [
      ...programs.map((key): [string, string] => [key, isPath(key) ? script(key) : valueOf(key, trap(key))]),
      ...switches,
      ['remote.origin.url', `ext::sh -c ${trap('remote.origin.url').replaceAll(' ', '% ')}`],
      ['extensions.worktreeConfig', 'true'],
      ['include.path', included],
      ['includeIf.gitdir:/.path', included],
      ['core.attributesFile', join(folder, 'info/attributes')],
      // Without a work tree git would have nothing to look at in a bare repository.
      ...(tree === folder ? [['core.bare', 'false'] as const, ['core.worktree', '..'] as const] : []),
    ]
    appendFileSync(join(folder, 'config'), settings.map(([key, value]) => lineOf(key, value)).join(''))
    writeFileSync(included, lineOf('filter.included.clean', `${trap('include.path')}; cat`))
    writeFileSync(join(folder, 'config.worktree'), lineOf('filter.worktree.clean', `${trap('config.worktree')}; cat`))
    mkdirSync(join(folder, 'info'), { recursive: true })
    writeFileSync(join(folder, 'info/attributes'), '*.info filter=info\na.txt filter=included\nsub/* filter=worktree\n')
    for (const name of hooks) {
      const body = (from: string) => `#!/bin/sh\n${trap(`${from}${name}`)}\n`
      mkdirSync(join(folder, 'hooks'), { recursive: true })
      writeFileSync(join(folder, 'hooks', name), body('hooks/'), { mode: 0o755 })
      mkdirSync(join(tree, '.husky'), { recursive: true })
      writeFileSync(join(tree, '.husky', name), body('hooksPath/'), { mode: 0o755 })
    }
  }

  /** Points every repository to the hooks among the files of the project, as husky does. */
  useHooksPath(): void {
    const folders = ['.git', 'nested/.git', '.git/modules/sub', 'bare']
    for (const folder of folders) appendFileSync(join(this.root, folder, 'config'), lineOf('core.hooksPath', '.husky'))
  }
}

/** Settings that git starts without a shell. */
const isPath = (key: string) => /^gpg\..*program$|askPass$|gitProxy$/.test(key)

/** A filter hands the file on, an alias is marked as a shell command, and a changed submodule is updated by a command. */
function valueOf(key: string, trap: string): string {
  if (/^filter\..*(?:clean|smudge)$/.test(key) || key.endsWith('textconv')) return `${trap}; cat`
  return /^alias\.|update$/.test(key) ? `!${trap}` : trap
}

function lineOf(key: string, value: string): string {
  const [first, last] = [key.indexOf('.'), key.lastIndexOf('.')]
  const within = first === last ? '' : ` ${JSON.stringify(key.slice(first + 1, last))}`
  return `[${key.slice(0, first)}${within}]\n\t${key.slice(last + 1)} = ${JSON.stringify(value)}\n`
}
