import { lstatSync, mkdirSync, readdirSync, realpathSync, rmdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { errorCode } from '../../base/files.ts'
import { shortHash } from '../../base/hash.ts'
import { ownerMark } from '../../base/owner.ts'

/** What a socket's address has room for: 108 bytes on Linux, 104 elsewhere, with a zero at the end. */
const longestPath = process.platform === 'linux' ? 107 : 103
const longestName = '4194304-00000000000.sock'.length

/**
 * Where the sockets of a home may be: below it, or, where its path is too long or its disk has no sockets, in a
 * folder of ours whose name both sides know. Whoever serves takes the first that will do; whoever looks, looks in both.
 */
export function socketFolders(home: string): string[] {
  const short = join('/tmp', `termaite-${process.getuid?.() ?? 0}-${shortHash(real(home))}`)
  const fits = (folder: string) => Buffer.byteLength(folder) + 1 + longestName <= longestPath
  return [join(home, 'run'), short].filter(fits)
}

/** By its pid, and by where that pid means something: a home may be seen from several machines or containers. */
export function ownSocketName(): string {
  return `${process.pid}-${here()}.sock`
}

/** The sockets of processes that may live; those of dead ones are taken away. */
export function findSockets(home: string): string[] {
  return socketFolders(home)
    .filter(isPrivate)
    .flatMap((folder) => namesIn(folder).map((name) => join(folder, name)))
    .filter((path) => {
      const [, pid, place] = /(\d+)-([0-9a-z]{11})\.sock$/.exec(path) ?? []
      if (pid === undefined) return false
      if (place !== here() || mayLive(Number(pid))) return true
      removeSocket(path)
      return false
    })
}

/** Our own folder, made if need be; false when it cannot be had, or others could open it. */
export function ensurePrivateFolder(folder: string): boolean {
  try {
    mkdirSync(folder, 0o700)
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') return false
  }
  return isPrivate(folder)
}

/** Its rights are the lock: only whoever may open this folder reaches a socket in it, and that is its owner. */
export function isPrivate(folder: string): boolean {
  const stat = lstatSync(folder, { throwIfNoEntry: false })
  return stat?.isDirectory() === true && stat.uid === process.getuid?.() && (stat.mode & 0o077) === 0
}

/** With its folder, when it was the last one in there. */
export function removeSocket(path: string): void {
  try {
    rmSync(path, { force: true })
    rmdirSync(dirname(path))
  } catch {
    // Somebody else's is in there, or was faster.
  }
}

function mayLive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return errorCode(error) === 'EPERM'
  }
}

function here(): string {
  return shortHash(ownerMark().split(',')[0]!)
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort()
  } catch {
    return []
  }
}

function real(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}
