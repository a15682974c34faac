import type { AddressInfo } from 'node:net'
import type { Io } from '../../core/io.ts'
import type { Wall, WallLimits } from '../../safety/wall/wall.ts'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { collect } from '../../base/process/collect.ts'
import { messageOf } from '../../base/error-message.ts'
import { randomName } from '../../base/id.ts'
import { nodeProgram } from '../../base/process/own-program.ts'
import { withoutProject } from '../../base/process/program-path.ts'
import { secretFilesIn } from '../../safety/secret-files.ts'

/** A finding for the person, and whether anything must be done about it. */
export type SecurityFinding = { level: 'ok' | 'look' | 'mend'; words: string }

/** A command that tries to break a promise, in a made-up project beside a made-up home. */
type Attempt = {
  promise: string
  leash: 'read' | 'edit'
  argv: readonly [string, ...string[]]
  /** The file that the command creates if nothing stops it. A command without one prints the canary. */
  makes?: string
}

/** A sandbox that has not started a command within this time has failed. */
const patienceMs = 30_000

/**
 * Tries each promise of the sandbox on this machine: the same command must first succeed without the sandbox, and then runs inside it. It
 * touches only files, sockets and ports that are made here, and no key of the person.
 */
export async function triedPromises({ env }: Pick<Io, 'env'>, wall: Wall): Promise<SecurityFinding[]> {
  const none = await wall.none()
  const ground = await openGround()
  try {
    const attempts = ground.attempts()
    if (none !== undefined)
      return attempts.map(({ promise, leash }) => ({
        level: 'look',
        words:
          leash === 'read'
            ? `not tried, because the command is refused without a sandbox: ${promise}`
            : `not held without a sandbox, once you allow the command: ${promise}`,
      }))
    const findings: SecurityFinding[] = []
    for (const attempt of attempts) findings.push(await tried(attempt))
    return findings
  } finally {
    await ground.close()
  }

  async function tried(attempt: Attempt): Promise<SecurityFinding> {
    const { promise, leash, argv } = attempt
    try {
      const free = await ran(argv, attempt)
      if (!free.broke)
        return { level: 'look', words: `not tried: ${promise} (the attempt fails without a sandbox, too)` }
      const walled = await wall.wrap(argv, await ground.limits(leash))
      if ('none' in walled) return { level: 'mend', words: `not held: ${promise}: ${walled.none}` }
      const held = await ran(walled.argv, attempt)
      await walled.settle()
      if (held.broke) return { level: 'mend', words: `not held: ${promise}. Please report this: SECURITY.md says how` }
      if (!held.began) return { level: 'mend', words: `not tried: ${promise}: the sandbox did not start (${held.why})` }
      return { level: 'ok', words: `held: ${promise}` }
    } catch (error) {
      return { level: 'mend', words: `not tried: ${promise}: ${messageOf(error)}` }
    }
  }

  /** Runs an attempt; `broke` says whether it reached its goal, `began` whether the command ran at all. */
  async function ran([program, ...args]: Attempt['argv'], { makes }: Attempt) {
    const lean = { PATH: withoutProject(env).PATH, LANG: env.LANG, HOME: ground.home, TMPDIR: env.TMPDIR }
    const signal = AbortSignal.timeout(patienceMs)
    const { out, err, error } = await collect(program, args, { cwd: ground.root, env: lean, signal })
    const said = out.toString()
    const broke = makes === undefined ? said.includes(ground.canary) : existsSync(makes)
    if (makes !== undefined) rmSync(makes, { force: true })
    const why = error?.message ?? (err.trim().split('\n').at(-1) || 'it printed nothing')
    return { broke, began: said.includes(begun), why }
  }
}

/** The text that each command prints before it tries anything. */
const begun = 'begun'

/** A project, a home with a key, a folder beside them, and two servers of this process: everything that the attempts touch. */
async function openGround() {
  // The temporary folder is private behind a wall, so nothing in it could be reached anyway.
  const base = realpathSync(mkdtempSync(join(existsSync('/var/tmp') ? '/var/tmp' : tmpdir(), 'termaite-doctor-')))
  const [root, home, outside] = ['project', 'home', 'outside'].map((name) => join(base, name)) as [
    string,
    string,
    string,
  ]
  const canary = `canary-${randomName()}`
  for (const folder of [outside, join(root, '.git', 'hooks'), join(home, '.ssh'), join(home, '.aws')])
    mkdirSync(folder, { recursive: true })
  const key = join(home, '.ssh', 'id_ed25519')
  for (const file of [key, join(home, '.aws', 'credentials'), join(root, '.env')]) writeFileSync(file, `${canary}\n`)
  writeFileSync(join(root, '.git', 'HEAD'), 'ref: refs/heads/main\n')
  for (const name of ['objects', 'refs']) mkdirSync(join(root, '.git', name))
  const socket = join(base, 'socket')
  const servers = [createServer((peer) => peer.end(canary)), createServer((peer) => peer.end(canary))] as const
  servers[0].listen(socket)
  servers[1].listen(0, '127.0.0.1')
  await Promise.all(servers.map((server) => once(server, 'listening')))
  const { port } = servers[1].address() as AddressInfo

  const shell = (line: string): Attempt['argv'] => ['/bin/sh', '-c', `echo ${begun}; ${line}`]
  const connecting = (to: object): Attempt['argv'] => [
    ...nodeProgram(),
    '-e',
    `console.log('${begun}'); require('node:net').connect(${JSON.stringify(to)}).on('data', (bytes) => console.log(String(bytes))).on('error', () => {})`,
  ]
  const writes = (makes: string) => ({ makes, argv: shell(`echo x > ${makes}`) })
  const reads = (path: string) => ({ argv: shell(`cat ${path}`) })
  return {
    root,
    home,
    canary,
    attempts: (): Attempt[] => [
      {
        promise: 'on the leash read, a command cannot write in the project',
        leash: 'read',
        ...writes(join(root, 'made')),
      },
      {
        promise: 'on the leash read, a command cannot write outside the project',
        leash: 'read',
        ...writes(join(outside, 'made')),
      },
      {
        promise: 'on the leash edit, a command cannot write outside the project',
        leash: 'edit',
        ...writes(join(outside, 'made')),
      },
      {
        promise: 'on the leash edit, a command cannot write in your home',
        leash: 'edit',
        ...writes(join(home, '.profile')),
      },
      {
        promise: 'on the leash edit, a command cannot add a git hook',
        leash: 'edit',
        ...writes(join(root, '.git', 'hooks', 'pre-commit')),
      },
      { promise: 'a command cannot read your SSH keys', leash: 'edit', ...reads(key) },
      { promise: 'a command cannot read a cloud login', leash: 'edit', ...reads(join(home, '.aws', 'credentials')) },
      {
        promise: 'on the leash read, a command cannot read the project’s .env file',
        leash: 'read',
        ...reads(join(root, '.env')),
      },
      {
        promise: 'a command cannot connect to another program’s socket',
        leash: 'edit',
        argv: connecting({ path: socket }),
      },
      {
        promise: 'a command has no network unless it is allowed',
        leash: 'edit',
        argv: connecting({ port, host: '127.0.0.1' }),
      },
      {
        promise: 'a command cannot signal your other processes',
        leash: 'edit',
        argv: shell(`kill -0 ${process.pid} && echo ${canary}`),
      },
    ],
    async limits(leash: Attempt['leash']): Promise<WallLimits> {
      const project = leash === 'read' ? 'read' : 'write'
      const hidden = leash === 'read' ? await secretFilesIn(root) : []
      return { root, project, git: project, sockets: leash === 'edit', network: false, home, hidden }
    },
    async close() {
      for (const server of servers) server.close()
      rmSync(base, { recursive: true, force: true })
    },
  }
}
