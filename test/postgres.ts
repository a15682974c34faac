import type { ChildProcess } from 'node:child_process'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, globSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { until } from './until.ts'

/** The folder with the programs of PostgreSQL. Debian keeps them off the PATH, each version in a folder of its own. */
const programs = [
  ...globSync('/usr/lib/postgresql/*/bin/postgres').toSorted(
    (a, b) => Number(b.split('/')[4]) - Number(a.split('/')[4]),
  ),
  ...(process.env.PATH ?? '').split(':').map((folder) => join(folder, 'postgres')),
].find((path) => existsSync(path))

/** PostgreSQL refuses to run as root, so root starts it as one of these accounts; undefined where there is none. */
const account = process.getuid?.() === 0 ? (accountOf('postgres') ?? accountOf('nobody')) : {}

function accountOf(name: string): { uid: number; gid: number } | undefined {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((each) => each.startsWith(`${name}:`))
  const [, , uid, gid] = line?.split(':') ?? []
  return uid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) }
}

/** Why tests with PostgreSQL do not run on this machine; false where they do. */
export const skipWithoutPostgres: string | false =
  programs === undefined
    ? 'PostgreSQL is not installed (on Debian: apt-get install postgresql)'
    : account === undefined
      ? 'PostgreSQL does not run as root, and this machine has no account "postgres" or "nobody"'
      : false

export type PostgresWish = {
  /**
   * Writes reach the disk before they are answered, as in earnest. A test that kills the server does not need it: what a process
   * has written outlives the process.
   */
  durable?: boolean
  /** Listens on this port of 127.0.0.1 too. */
  port?: number
  /** Further settings, as in `max_connections: '300'`. */
  settings?: Record<string, string>
}

/** A PostgreSQL server of its own in a temporary folder, on a socket there. */
export class TestPostgres {
  /** The folder of the socket. Its path is short: the path of a socket has at most 107 letters. */
  readonly folder: string
  #wish: PostgresWish
  #child: ChildProcess | undefined
  #databases = 0
  #remove = () => {
    this.#killNow()
    this.#removeFiles()
  }

  private constructor(folder: string, wish: PostgresWish) {
    this.folder = folder
    this.#wish = wish
    process.once('exit', this.#remove)
  }

  static async start(wish: PostgresWish = {}): Promise<TestPostgres> {
    const folder = mkdtempSync('/tmp/tpg-')
    const { uid, gid } = account as { uid?: number; gid?: number }
    if (uid !== undefined && gid !== undefined) chownSync(folder, uid, gid)
    const args = ['-D', join(folder, 'data'), '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync']
    const made = spawnSync(join(dirname(programs!), 'initdb'), args, { ...account, cwd: folder, encoding: 'utf8' })
    if (made.status !== 0) throw new Error(`initdb failed: ${made.stdout}${made.stderr}`)
    const server = new TestPostgres(folder, wish)
    await server.run()
    return server
  }

  /** The folder with the server's files. */
  get data(): string {
    return join(this.folder, 'data')
  }

  /** Starts the server, also again after `kill`; resolves when it answers. */
  async run(): Promise<void> {
    const { durable = false, port, settings = {} } = this.#wish
    const all: Record<string, string> = {
      unix_socket_directories: this.folder,
      listen_addresses: port === undefined ? '' : '127.0.0.1',
      fsync: durable ? 'on' : 'off',
      jit: 'off',
      max_connections: '100',
      shared_buffers: '64MB',
      ...settings,
    }
    if (port !== undefined) all.port = String(port)
    const args = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    const child = spawn(programs!, ['-D', this.data, ...args], {
      ...account,
      cwd: this.folder,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    this.#child = child
    let said = ''
    await new Promise<void>((resolve, reject) => {
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        said = (said + text).slice(-4000)
        if (said.includes('ready to accept connections')) resolve()
      })
      child.once('exit', () => reject(new Error(`PostgreSQL did not start: ${said}`)))
    })
    child.stderr.removeAllListeners('data').resume()
    child.unref()
    ;(child.stderr as unknown as { unref(): void }).unref()
  }

  /** Makes an empty database and returns its address. */
  async database(): Promise<string> {
    const name = `t${++this.#databases}`
    await this.sql(`CREATE DATABASE ${name}`)
    return this.address(name)
  }

  /** The address of a database, for the user who owns the server or for another one. */
  address(database: string, user = 'postgres'): string {
    const { port } = this.#wish
    return `postgres:///${database}?host=${this.folder}&user=${user}${port === undefined ? '' : `&port=${port}`}`
  }

  /** Runs statements as the owner of the server and returns the rows of the last one. */
  async sql(text: string, database = 'postgres'): Promise<Record<string, unknown>[]> {
    const { default: pg } = await import('pg')
    const client = new pg.Client({
      host: this.folder,
      port: this.#wish.port ?? 5432,
      user: 'postgres',
      database,
    })
    await client.connect()
    try {
      const result: unknown = await client.query(text)
      const last = Array.isArray(result) ? result.at(-1) : result
      return (last as { rows: Record<string, unknown>[] }).rows
    } finally {
      await client.end()
    }
  }

  /** Kills the server and all its processes, as a power cut does. */
  async kill(): Promise<void> {
    const child = this.#child
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, 'exit')
    child.ref()
    const children = this.#killNow()
    await gone
    await until(() => children.every((pid) => statOf(pid) === undefined))
  }

  /** Ends the server and removes its files. */
  async end(): Promise<void> {
    await this.kill()
    process.removeListener('exit', this.#remove)
    this.#removeFiles()
  }

  #removeFiles(): void {
    // A process that was killed just now may still finish the creation of a file.
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 20 })
  }

  #killNow(): number[] {
    const pid = this.#child?.pid
    if (pid === undefined) return []
    const children = childrenOf(pid)
    for (const each of [pid, ...children])
      try {
        process.kill(each, 'SIGKILL')
      } catch {
        // The process has ended by itself.
      }
    return children
  }
}

/** The server's processes lead groups of their own, so they are found by their parent. */
function childrenOf(parent: number): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.map(Number).filter((pid) => statOf(pid)?.parent === parent)
}

/** The parent of a process that runs; undefined for one that has ended, also where nobody has asked for its end yet. */
function statOf(pid: number): { parent: number } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return state === 'Z' || state === 'X' ? undefined : { parent: Number(parent) }
  } catch {
    return undefined
  }
}

let shared: Promise<TestPostgres> | undefined

/** The server that the tests of one file share; it starts with the first test that asks for it, and ends with the process. */
export function sharedPostgres(): Promise<TestPostgres> {
  return (shared ??= TestPostgres.start())
}
