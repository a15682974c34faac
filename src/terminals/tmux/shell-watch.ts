import { execFile } from 'node:child_process'
import { closeSync, constants, openSync, readSync } from 'node:fs'
import { Socket } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** A pipe that a pane's shell keeps open as long as it lives: the system closes it however the shell exits. */
const pipeIn = (folder: string) => join(folder, 'alive')

export async function makeAlivePipe(folder: string, path: string): Promise<void> {
  await promisify(execFile)('mkfifo', ['-m', '600', pipeIn(folder)], { env: { PATH: path } })
}

/** The shell command that opens the pipe and reports this with bytes: many, because every reader takes one. */
export const holdAlivePipe = 'exec 9<>alive; printf rrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrr >&9\n'

/** Watches a shell by its pipe: at no cost while the shell lives, and at once when it exits. */
export class ShellWatch {
  readonly gone: Promise<void>
  #socket: Socket | undefined

  constructor(folder: string) {
    const fd = opened(folder)
    // From now on the system reports the exit of the shell; only a read shows whether it had already exited.
    const left = fd === undefined || isLeft(fd)
    this.#socket = fd === undefined ? undefined : new Socket({ fd, readable: true, writable: false })
    this.gone = new Promise((resolve) => {
      if (left) resolve()
      this.#socket?.on('error', () => {}).once('close', () => resolve())
    })
    if (left) this.#socket?.destroy()
    else this.#socket?.resume()
  }

  /** Stops watching; `gone` stays unresolved. */
  close(): void {
    this.#socket?.removeAllListeners('close').destroy()
  }
}

/** Waits for a shell that has yet to start; until the shell opens the pipe, this process keeps the pipe open for it. */
export function awaitShell(folder: string): { held: Promise<void>; drop(): void } {
  const fd = openSync(pipeIn(folder), constants.O_RDWR | constants.O_NONBLOCK)
  const socket = new Socket({ fd, readable: true, writable: false }).on('error', () => {})
  return {
    held: new Promise((resolve) => socket.once('data', () => resolve())),
    drop() {
      socket.destroy()
    },
  }
}

/** Whether a pane's shell lives; only true for a shell that has opened its pipe. */
export function shellLives(folder: string): boolean {
  const fd = opened(folder)
  if (fd === undefined) return false
  try {
    return !isLeft(fd)
  } finally {
    closeSync(fd)
  }
}

/** Opens the pipe for reading; undefined if it was removed. */
function opened(folder: string): number | undefined {
  try {
    return openSync(pipeIn(folder), constants.O_RDONLY | constants.O_NONBLOCK)
  } catch {
    return undefined
  }
}

/** Whether no process has the other end of the pipe open. */
function isLeft(fd: number): boolean {
  try {
    return readSync(fd, new Uint8Array(1)) === 0
  } catch {
    return false
  }
}
