import type { Run, Exit } from '../../base/process/run.ts'
import type { ToolParts } from '../parts.ts'
import { start } from '../../base/process/run.ts'

export type ShellParts = Pick<ToolParts, 'env' | 'clock' | 'blobs' | 'mask' | 'shell'>

/** Starts a command line in a group of its own; both outputs come by one pipe, in the order they were written. */
export async function startShell(command: string, cwd: string, parts: ShellParts): Promise<Run> {
  const { env, clock, shell } = parts
  const inner = (await shell?.(command)) ?? ['bash', '-c', command]
  const run = await start({ argv: ['/bin/sh', '-c', 'exec "$@" 2>&1', 'sh', ...inner], cwd, env, clock })
  run.stdin.end()
  return run
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
