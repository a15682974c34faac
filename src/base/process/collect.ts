import type { Env } from '../env.ts'
import { childProcesses } from './node-processes.ts'
import { defined } from '../defined.ts'
import { killChild } from './kill-child.ts'
import { ownProgram } from './program-path.ts'

export type RunOptions = {
  cwd: string
  env: Env
  input?: string | Uint8Array
  /** Open files that the command gets as its descriptors from 3 on. */
  files?: readonly number[]
  signal?: AbortSignal
  /** Called with each chunk of output; returning true stops the command. */
  enough?(chunk: Uint8Array): boolean
  /** Called with each piece of stderr, for example of a command that reports its progress there; returning true stops the command. */
  heard?(text: string): boolean
}

/** The result of a command. Without a code it was killed or could not start; `error` then says why. */
export type Ran = { code?: number; out: Buffer; err: string; error?: NodeJS.ErrnoException }

const mostWords = 8 * 1024

/** Runs a short command and collects its output; never rejects. */
export function collect(command: string, args: readonly string[], options: RunOptions): Promise<Ran> {
  return new Promise((resolve) => {
    const out: Buffer[] = []
    let err = ''
    let error: NodeJS.ErrnoException | undefined
    const done = (code?: number) => resolve(defined({ code, out: Buffer.concat(out), err, error }))
    if (options.signal?.aborted) return done()
    // A program that is given without a path must not come from the folder in which it runs.
    const child = childProcesses().spawn(ownProgram(command, options.env, options.cwd), args, {
      cwd: options.cwd,
      env: options.env,
      stdio: [options.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe', ...(options.files ?? [])],
      windowsHide: true,
    })
    // Children of the command may keep its pipes open after its exit, so the pipes are closed without waiting.
    const end = () => {
      killChild(child, 'SIGKILL')
      child.stdout?.destroy()
      child.stderr?.destroy()
    }
    child.on('error', (cause) => {
      error ??= cause
      if (child.pid === undefined) done()
    })
    child.on('close', (code) => {
      options.signal?.removeEventListener('abort', end)
      done(code ?? undefined)
    })
    child.stdout?.on('data', (chunk: Buffer) => {
      out.push(chunk)
      if (options.enough?.(chunk)) end()
    })
    child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      err = (err + chunk).slice(-mostWords)
      if (options.heard?.(chunk)) end()
    })
    // A command that does not read its input closes the pipe, which is not a failure.
    child.stdin?.on('error', () => {}).end(options.input)
    options.signal?.addEventListener('abort', end, { once: true })
  })
}
