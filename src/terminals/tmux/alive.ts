import { execFile } from 'node:child_process'
import { closeSync, constants, openSync, readSync } from 'node:fs'
import { Socket } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** A pipe that a pane's shell holds open as long as it lives, however it ends. */
const nameOf = (folder: string) => join(folder, 'alive')

export async function makeAlive(folder: string): Promise<void> {
  await promisify(execFile)('mkfifo', ['-m', '600', nameOf(folder)])
}

/** How a shell takes hold of it, and says that it has: to more than one, because whoever looks takes a byte. */
export const holdAlive = 'exec 9<>alive; printf rrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrr >&9\n'

/** Watches a shell by its pipe. It costs nothing while the shell lives, and tells at once when it is gone. */
export class Alive {
  readonly gone: Promise<void>
  #socket: Socket | undefined

  constructor(folder: string) {
    const fd = opened(folder)
    // The system tells of a shell that leaves, and not of one that had left before: whoever reads learns of both.
    const left = fd === undefined || isLeft(fd)
    this.#socket = fd === undefined ? undefined : new Socket({ fd, readable: true, writable: false })
    this.gone = new Promise((resolve) => {
      if (left) resolve()
      this.#socket?.on('error', () => {}).once('close', () => resolve())
    })
    if (left) this.#socket?.destroy()
    else this.#socket?.resume()
  }

  /** Nobody is told any more. */
  close(): void {
    this.#socket?.removeAllListeners('close').destroy()
  }
}

/** Waits for a shell that has yet to start: until it takes hold, we hold the pipe in its place. */
export function awaitHold(folder: string): { held: Promise<void>; drop(): void } {
  const fd = openSync(nameOf(folder), constants.O_RDWR | constants.O_NONBLOCK)
  const socket = new Socket({ fd, readable: true, writable: false }).on('error', () => {})
  return {
    held: new Promise((resolve) => socket.once('data', () => resolve())),
    drop: () => void socket.destroy(),
  }
}

/** Whether a pane's shell lives; only for one that has taken hold before. */
export function shellLives(folder: string): boolean {
  const fd = opened(folder)
  if (fd === undefined) return false
  try {
    return !isLeft(fd)
  } finally {
    closeSync(fd)
  }
}

/** The pipe to read from; undefined when it has been taken away. */
function opened(folder: string): number | undefined {
  try {
    return openSync(nameOf(folder), constants.O_RDONLY | constants.O_NONBLOCK)
  } catch {
    return undefined
  }
}

/** Whether nobody holds the other end. */
function isLeft(fd: number): boolean {
  try {
    return readSync(fd, new Uint8Array(1)) === 0
  } catch {
    return false
  }
}
