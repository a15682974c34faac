import type { Env } from '../base/env.ts'
import type { Clock } from '../base/time/clock.ts'
import { callAfter } from '../base/time/clock.ts'
import { realClock } from '../base/time/clock.ts'
import { start } from '../base/process/run.ts'

/** The `crew.setup` command, and whether the project is trusted to run it. */
export type SetupParts = {
  setup?: string
  trusted(): Promise<boolean>
  env: Env
  clock?: Clock
}

const setupMs = 600_000

/**
 * Runs the setup command in a new worktree; returns notes about it. Every process that the command started is stopped with it, even after
 * an abort.
 */
export async function setUpWorktree(
  { setup, trusted, env, clock = realClock }: SetupParts,
  cwd: string,
  signal?: AbortSignal,
): Promise<string[]> {
  if (setup === undefined) return []
  if (!(await trusted()))
    return ['crew.setup was not run, because this folder is not trusted; trust it with termaite trust']
  const run = await start({ argv: ['bash', '-c', setup], cwd, env, clock })
  const over = new AbortController()
  const end = () => {
    // The end of the run is awaited below.
    void run.end()
  }
  callAfter(clock, setupMs, over.signal, end)
  signal?.addEventListener('abort', end, { once: true })
  if (signal?.aborted) end()
  try {
    run.stdin.end()
    const [, err, { code }] = await Promise.all([lastWords(run.stdout), lastWords(run.stderr), run.exited])
    if (code === 0) return [`set up with: ${setup}`]
    throw new Error(`crew.setup failed (${setup}): ${err || `exit ${code ?? 'by a signal'}`}`)
  } finally {
    over.abort()
    signal?.removeEventListener('abort', end)
  }
}

const mostWords = 8 * 1024

/** Returns the last line of an output. */
async function lastWords(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder()
  let said = ''
  for await (const chunk of chunks) said = (said + decoder.decode(chunk, { stream: true })).slice(-mostWords)
  return said.trim().split('\n').at(-1)!
}
