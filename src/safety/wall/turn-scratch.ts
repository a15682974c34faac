import type { TurnScratch, WallHost } from './limits.ts'
import { spawn } from 'node:child_process'
import { killChild } from '../../base/process/kill-child.ts'
import { programOutside } from '../../base/process/program-path.ts'
import { once } from 'node:events'
import { chmodSync, closeSync, mkdirSync, openSync } from 'node:fs'
import { chmod, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { collect } from '../../base/process/collect.ts'
import { makeFolder } from '../../base/files/files.ts'
import { randomName } from '../../base/id.ts'
import { isAlive, ownerMark } from '../../base/process/owner.ts'

/**
 * Opens the temporary folder and the closed network that the commands of one turn share, so that the next command can reach a server that
 * an earlier one started in the background. `own` is termaite's own home, which is hidden behind the wall; `writable` lists the folders
 * that commands may write, whose programs are not used.
 */
export async function openTurnScratch(
  own: string,
  host: WallHost,
  writable: readonly string[] = [],
): Promise<TurnScratch> {
  const all = join(own, 'scratch')
  makeFolder(all)
  await removeOrphans(all)
  const folder = join(all, `${ownerMark()},${randomName()}`)
  mkdirSync(folder, 0o700)
  // Programs expect a temporary folder that everybody may write to; the folder around it keeps other users out.
  const shared = join(folder, 'tmp')
  mkdirSync(shared)
  chmodSync(shared, 0o1777)
  const network = host.platform === 'linux' ? await openNetwork(host, writable) : undefined
  return {
    folder: shared,
    ...(network && { network: network.paths }),
    close: async () => {
      network?.close()
      await removeWhole(folder)
    },
  }
}

/** Removes the folders of killed processes; the folders are named after their processes. */
async function removeOrphans(all: string): Promise<void> {
  for (const name of await readdir(all)) if (!isAlive(name)) await removeWhole(join(all, name))
}

async function removeWhole(folder: string): Promise<void> {
  const remove = () => rm(folder, { recursive: true, force: true })
  // A command may have created folders that not even their owner may change.
  await remove().catch(() =>
    openFolders(folder)
      .then(remove)
      .catch(() => {}),
  )
}

async function openFolders(folder: string): Promise<void> {
  await chmod(folder, 0o700)
  for (const entry of await readdir(folder, { withFileTypes: true }))
    if (entry.isDirectory()) await openFolders(join(folder, entry.name))
}

type Network = { paths: NonNullable<TurnScratch['network']>; close(): void }

const startMs = 5_000

/**
 * Lets bubblewrap create a network namespace with a loopback device, which open files of this process keep alive: it needs no separate
 * process, and disappears with this process and the last command inside, however they end.
 */
async function openNetwork(host: WallHost, writable: readonly string[]): Promise<Network | undefined> {
  const [bwrap, nsenter] = ['bwrap', 'nsenter'].map((name) => programOutside(name, host.env, writable))
  if (!bwrap || !nsenter) return undefined
  const flags = ['--ro-bind', '/', '/', '--unshare-user', '--unshare-net', '--die-with-parent', '--info-fd', '3']
  const child = spawn(bwrap, [...flags, '--', '/bin/sh', '-c', 'echo ready; read -r _'], {
    ...{ cwd: '/', env: {}, stdio: ['pipe', 'pipe', 'ignore', 'pipe'] },
  })
  const signal = AbortSignal.timeout(startMs)
  const files: number[] = []
  const close = () => {
    for (const file of files.splice(0)) closeSync(file)
  }
  try {
    let told = ''
    const info = child.stdio[3] as Readable
    info.on('data', (chunk: Buffer) => (told += chunk.toString()))
    child.on('error', () => {})
    // The device is up once the command inside runs.
    const ended = once(child, 'exit', { signal }).then(() => Promise.reject(new Error('bubblewrap ended')))
    const up = [once(child.stdout!, 'data', { signal }), once(info, 'end', { signal })]
    await Promise.race([Promise.all(up), ended])
    const pid = (JSON.parse(told) as { 'child-pid': number })['child-pid']
    for (const kind of ['user', 'net']) files.push(openSync(`/proc/${pid}/ns/${kind}`, 'r'))
    const [user, net] = files.map((file) => `/proc/${process.pid}/fd/${file}`)
    const paths = { nsenter, user: user!, net: net! }
    const args = [`--user=${user}`, '--preserve-credentials', `--net=${net}`, '/bin/sh', '-c', 'true']
    const entered = await collect(nsenter, args, { cwd: '/', env: {}, signal })
    if (entered.code === 0) return { paths, close }
    close()
    return undefined
  } catch {
    close()
    return undefined
  } finally {
    child.stdin?.end()
    killChild(child)
  }
}
