import type { Run, Exit } from '../../base/process/run.ts'
import type { ToolParts } from '../parts.ts'
import { existsSync } from 'node:fs'
import { errorCode } from '../../base/files.ts'
import { messageOf } from '../../base/error-message.ts'

export type ShellParts = Pick<ToolParts, 'env' | 'clock' | 'blobs' | 'mask' | 'shell'>

/** Runs a command line, which is given nothing to read. */
export async function startShell(command: string, cwd: string, parts: ShellParts): Promise<Run> {
  const run = await startIn(await shellOf(command, parts), cwd, parts)
  run.stdin.end()
  return run
}

/** What runs a command line: the shell, within walls where there are some. */
export const shellOf = async (command: string, { shell }: Pick<ShellParts, 'shell'>) =>
  (await shell?.(command)) ?? (['bash', '-c', command] as const)

/** Starts it in a group of its own; both outputs come by one pipe, in the order they were written. */
export async function startIn(inner: readonly string[], cwd: string, { env, clock }: ShellParts): Promise<Run> {
  // Loaded with the first command: a turn that runs none does not pay for it.
  const { start } = await import('../../base/process/run.ts')
  const argv = ['/bin/sh', '-c', 'exec "$@" 2>&1', 'sh', ...inner] as const
  return start({ argv, cwd, env, clock }).catch((error) => {
    throw new Error(cannotStart(error, cwd))
  })
}

function cannotStart(error: unknown, cwd: string): string {
  // The system says of a missing folder that the program is missing.
  if (!existsSync(cwd)) return `the working directory ${cwd} is gone. Tell the person: nothing can run there.`
  if (errorCode(error) === 'E2BIG') return 'the command is too long. Write it to a file with file_creator and run that.'
  return `no shell could be started: ${messageOf(error)}.`
}

/** Hands over what a run prints, from both outputs, and waits for its end. */
export async function listen(run: Run, take: (chunk: Uint8Array) => Promise<void>): Promise<Exit> {
  const drain = async (chunks: AsyncIterable<Uint8Array>) => {
    for await (const chunk of chunks) await take(chunk)
  }
  const [exit] = await Promise.all([run.exited, drain(run.stdout), drain(run.stderr)])
  return exit
}

export function exitWords({ code, signal }: Exit): string {
  if (signal !== undefined) return `[ended by ${signal}]`
  return code === 0 ? '' : `[exit code ${code}]`
}
