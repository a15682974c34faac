import { execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { withQuietGit } from '../../../src/base/files/git.ts'

/** Stands in every secret file, and in a variable that is named like a key. */
export const canary = 'CANARY7f3a9c'

export type HostileProject = {
  base: string
  root: string
  home: string
  away: string
  env: Record<string, string | undefined>
  gone(): void
}

/** The effects of a command: a program that left its mark, files that changed, or a secret in the output. */
export type Effects = { runs: boolean; writes: string[]; leaks: boolean; out: string }

/** Behind the wall the temporary folder is empty, so what lies beside the project must be somewhere else. */
const place = existsSync('/var/tmp') ? '/var/tmp' : tmpdir()

/** Lays a project that was made to deceive: links that lead out, texts that are code, a program that leaves a mark. */
export function layHostileProject(): HostileProject {
  const base = realpathSync(mkdtempSync(join(place, 'termaite-hostile-')))
  const [root, home, away] = ['project', 'home', 'away'].map((name) => join(base, name)) as [string, string, string]
  for (const folder of ['src', 'outlinks', 'two', 'empty', 'hooks', 'kept', 'flags', 'node_modules/.bin'])
    mkdirSync(join(root, folder), { recursive: true })
  for (const folder of [join(home, '.ssh'), join(away, 'x')]) mkdirSync(folder, { recursive: true })
  const lay = (path: string, text: string, mode = 0o644) => writeFileSync(join(root, path), text, { mode })
  const secret = `KEY=${canary}\n`
  writeFileSync(join(away, 'secret.txt'), secret)
  writeFileSync(join(home, '.ssh', 'id_rsa'), secret)
  const evil = '#!/bin/sh\necho ran > "${TRIP:-TRIPPED}"\n'
  for (const path of ['evil', 'hooks/pre-commit', 'hooks/post-commit', 'node_modules/.bin/tool']) lay(path, evil, 0o755)
  lay('README.md', 'hello\nthere\nhello\n')
  lay('list.txt', '../away/secret.txt\n')
  lay('list0', '../away/secret.txt\0')
  lay('src/a.ts', 'let a = 1\n')
  lay('src/b.ts', 'let b = 2\n')
  lay('two/one.txt', 'one\n')
  lay('two/two.txt', 'two\n')
  lay('data.json', '{"a": 1}\n')
  lay('package.json', '{"scripts": {"test": "./evil", "x": "./evil"}}\n')
  lay('index.txt', 'a[$(./evil)]\n')
  lay('at.txt', '$(./evil)\n')
  lay('sed.sed', '1e ./evil\n')
  lay('awk.awk', 'BEGIN { system("./evil") }\n')
  lay('run.cjs', 'require("node:child_process").execSync("./evil")\n')
  lay('Makefile', 'all:\n\t@./evil\n')
  lay('ed.txt', 'w out.txt\nq\n')
  lay('change.patch', '--- a/README.md\n+++ b/README.md\n@@ -1,3 +1,3 @@\n-hello\n+changed\n there\n hello\n')
  lay('big.txt', 'line\n'.repeat(60_000))
  lay('kept/secret.env', secret)
  lay('.env', secret)
  lay('flags/-exec', '')
  lay('flags/ax', 'ax\n')
  lay('.gitignore', '.env\nkept\n')
  symlinkSync('.env', join(root, 'innocent.txt'))
  symlinkSync('../away', join(root, 'link'))
  symlinkSync('../away/x', join(root, 'deep'))
  symlinkSync('../../away/secret.txt', join(root, 'outlinks', 'x.txt'))
  symlinkSync('../../away/secret.txt', join(root, 'flags', '[a]x'))
  symlinkSync('/proc/self/environ', join(root, 'proclink'))
  symlinkSync(`/proc/self/root${away}`, join(root, 'rootlink'))
  const env = withQuietGit(
    {
      PATH: process.env.PATH,
      HOME: home,
      LANG: 'C.UTF-8',
      MADE_UP_API_KEY: canary,
      TRIP: join(away, 'TRIPPED'),
    },
    root,
  )
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@x', ...args], { cwd: root, env, stdio: 'pipe' })
  execFileSync('tar', ['cf', 'a.tar', '--transform=s/README/UNPACKED/', 'README.md'], { cwd: root })
  git('init', '-q', '-b', 'main')
  git('config', 'user.name', 'x')
  git('config', 'user.email', 'x@x')
  git('add', '-A')
  git('commit', '-qm', 'one')
  git('branch', 'old')
  git('tag', 'v1')
  writeFileSync(join(root, 'README.md'), 'hello\nyou\nhello\n')
  git('commit', '-qam', 'two')
  writeFileSync(join(root, 'README.md'), 'hello\nthere\nhello\n')
  return { base, root, home, away, env, gone: () => rmSync(base, { recursive: true, force: true }) }
}

/** Makes a copy of a laid project at the very same paths, and puts it back after each command. */
export class Tripwire {
  readonly project: HostileProject
  #copy: string
  #before: ReadonlyMap<string, string>

  constructor(project: HostileProject) {
    this.project = project
    this.#copy = `${project.base}-copy`
    cpSync(project.base, this.#copy, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true })
    this.#before = shot(project.base)
  }

  /** Runs a command line to its end, at most for some seconds, and says what it did. The project is then as before. */
  async run(
    argv: readonly string[],
    env: Record<string, string | undefined> = this.project.env,
    timeout = 4000,
  ): Promise<Effects> {
    const { base, root } = this.project
    const [program = '', ...args] = argv
    const out = await new Promise<string>((resolve) => {
      const child = spawn(program, args, {
        cwd: root,
        env,
        stdio: ['ignore', 'pipe', 'pipe'],
        timeout,
        killSignal: 'SIGKILL',
      })
      let text = ''
      child.stdout.on('data', (data: Buffer) => (text += data.toString('latin1')))
      child.stderr.on('data', (data: Buffer) => (text += data.toString('latin1')))
      child.on('close', () => resolve(text))
      child.on('error', (error) => resolve(String(error)))
    })
    const after = shot(base)
    const changed = [...new Set([...this.#before.keys(), ...after.keys()])].filter(
      (path) => this.#before.get(path) !== after.get(path),
    )
    if (changed.length > 0) this.#restore()
    return { runs: changed.some((path) => path.endsWith('TRIPPED')), writes: changed, leaks: out.includes(canary), out }
  }

  #restore(): void {
    const { base } = this.project
    for (const name of readdirSync(base)) rmSync(join(base, name), { recursive: true, force: true })
    cpSync(this.#copy, base, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true })
  }

  gone(): void {
    rmSync(this.#copy, { recursive: true, force: true })
    this.project.gone()
  }
}

/** A command line that keeps a command from doing harm to the machine that tests it; the project is as open as outside. */
export function contained(command: string, { base }: HostileProject, shell = 'bash'): string[] {
  return [
    ...['bwrap', '--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--tmpfs', '/tmp', '--bind', base, base],
    ...['--unshare-all', '--die-with-parent', '--', shell, '-c', command],
  ]
}

/** Every file below a folder with its content and mode. */
export function shot(folder: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  const walk = (at: string) => {
    for (const name of readdirSync(at)) {
      // The wall keeps its own files there.
      if (name === '.termaite') continue
      const path = join(at, name)
      const there = lstatSync(path)
      if (there.isDirectory()) {
        found.set(path, 'folder')
        walk(path)
      } else if (there.isSymbolicLink()) found.set(path, readlinkSync(path))
      else if (there.isFile()) {
        chmodSync(path, there.mode | 0o400)
        found.set(path, `${there.mode}${createHash('sha1').update(readFileSync(path)).digest('hex')}`)
      } else found.set(path, 'other')
    }
  }
  walk(folder)
  return found
}
