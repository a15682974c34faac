import { lstatSync, mkdirSync, rmdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { errorCode, namesIn } from '../../base/files/files.ts'
import { shortHash } from '../../base/hash.ts'
import { isStoppedProcess, ownerMark } from '../../base/process/owner.ts'
import { realOrSame } from '../../base/files/real-path.ts'

/** The room in a socket's address: 108 bytes on Linux and 104 elsewhere, with a zero at the end. */
const longestPath = process.platform === 'linux' ? 107 : 103
const longestName = '4194304-00000000000.sock'.length

/**
 * The folders in which the sockets of a home may be: below the home, or, if its path is too long or its disk does not support
 * sockets, in /tmp under a name that both sides know. A server takes the first that works; a client looks in both.
 */
export function socketFolders(home: string): string[] {
  const short = join('/tmp', `termaite-${process.getuid?.() ?? 0}-${shortHash(realOrSame(home))}`)
  const fits = (folder: string) => Buffer.byteLength(folder) + 1 + longestName <= longestPath
  return [join(home, 'run'), short].filter(fits)
}

/** Names this process by its pid and its machine: a home may be shared by several machines or containers. */
export function ownSocketName(): string {
  return `${process.pid}-${thisMachine()}.sock`
}

/** Whether the process of a socket may answer: a stopped one (Ctrl+Z) is alive, but waiting for it is pointless. */
export function mayAnswer(path: string): boolean {
  const [pid, place] = processOf(path)
  return place !== thisMachine() || !isStoppedProcess(Number(pid))
}

const processOf = (path: string) => (/(\d+)-([0-9a-z]{11})\.sock$/.exec(path) ?? []).slice(1)

/** Finds the sockets of processes that may be alive, and removes those of dead ones. */
export function findSockets(home: string): string[] {
  return socketFolders(home)
    .filter(isPrivate)
    .flatMap((folder) =>
      namesIn(folder)
        .sort()
        .map((name) => join(folder, name)),
    )
    .filter((path) => {
      const [pid, place] = processOf(path)
      if (pid === undefined) return false
      if (place !== thisMachine() || mayBeAlive(Number(pid))) return true
      removeSocket(path)
      return false
    })
}

/** Makes the folder if need be; false when it cannot be made, or others could open it. */
export function ensurePrivateFolder(folder: string): boolean {
  try {
    mkdirSync(folder, 0o700)
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') return false
  }
  return isPrivate(folder)
}

/** Whether only its owner can open a folder: nothing else protects the sockets in it. */
function isPrivate(folder: string): boolean {
  try {
    const stat = lstatSync(folder)
    return stat.isDirectory() && stat.uid === process.getuid?.() && (stat.mode & 0o077) === 0
  } catch {
    return false
  }
}

/** Removes a socket, and its folder if that is empty afterwards. */
export function removeSocket(path: string): void {
  try {
    rmSync(path, { force: true })
    rmdirSync(dirname(path))
  } catch {
    // The folder contains another socket, or another process was faster.
  }
}

function mayBeAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return errorCode(error) === 'EPERM'
  }
}

function thisMachine(): string {
  const [machine = ''] = ownerMark().split(',')
  return shortHash(machine)
}
