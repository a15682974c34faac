import type { TestContext } from 'node:test'
import type { Io } from '../src/core/io.ts'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { realClock } from '../src/base/time/clock.ts'

/** A folder for one test, removed after it. */
export function folderFor(t: TestContext): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'termaite-machines-')))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Runs git as a person whose settings are empty. */
export function git(cwd: string, ...args: string[]): string {
  const env = { PATH: process.env.PATH, HOME: cwd, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' }
  const words = ['-c', 'user.name=a', '-c', 'user.email=a@b', '-c', 'protocol.file.allow=always', ...args]
  return execFileSync('git', words, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
    .toString()
    .trim()
}

/** A repository with one commit on `main` and this remote. */
export function repositoryAt(root: string, remote?: string): string {
  mkdirSync(root, { recursive: true })
  git(root, 'init', '-q', '-b', 'main')
  writeFileSync(join(root, 'shop.txt'), 'apples\n')
  git(root, 'add', '-A')
  git(root, 'commit', '-qm', 'first')
  if (remote !== undefined) git(root, 'remote', 'add', 'origin', remote)
  return root
}

/** Another clone of a repository, with this remote. */
export function cloneOf(from: string, to: string, remote: string, ...options: string[]): string {
  git('/', 'clone', '-q', ...options, `file://${from}`, to)
  git(to, 'remote', 'set-url', 'origin', remote)
  return to
}

/** The surroundings that one machine hands to a command: its own home, and streams that keep everything written. */
export function machineIo(
  home: string,
  cwd: string,
  env: Record<string, string> = {},
): Io & { said(): string; printed(): string } {
  mkdirSync(home, { recursive: true })
  const [out, err] = [new PassThrough(), new PassThrough()]
  const words = { out: '', err: '' }
  out.on('data', (chunk) => (words.out += chunk))
  err.on('data', (chunk) => (words.err += chunk))
  const own = { PATH: process.env.PATH, HOME: home, TERMAITE_HOME: join(home, '.termaite'), ...env }
  return {
    env: own,
    cwd,
    in: new PassThrough(),
    piped: false,
    out,
    err,
    clock: realClock,
    signal: new AbortController().signal,
    said: () => words.err,
    printed: () => words.out,
  }
}

const openssl = (cwd: string, ...args: string[]) => execFileSync('openssl', args, { cwd, stdio: 'pipe' })

/** An authority of the test's own, and a certificate of it for these names. */
export function authorityIn(folder: string, names = 'DNS:localhost,IP:127.0.0.1', days = '2') {
  const ec = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  openssl(folder, 'req', '-x509', ...ec, '-keyout', 'ca.key', '-out', 'ca.pem', '-days', '2', '-subj', '/CN=our own')
  openssl(folder, 'req', ...ec, '-keyout', 'key.pem', '-out', 'csr.pem', '-subj', '/CN=hub')
  writeFileSync(join(folder, 'names'), `subjectAltName=${names}\n`)
  const signed = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-extfile', 'names', '-days', days]
  openssl(folder, 'x509', '-req', '-in', 'csr.pem', '-out', 'cert.pem', ...signed)
  return {
    ca: join(folder, 'ca.pem'),
    cert: readFileSync(join(folder, 'cert.pem')),
    key: readFileSync(join(folder, 'key.pem')),
  }
}
