import type { Env } from '../base/env.ts'
import type { Clock } from '../base/time/clock.ts'
import type { Run } from '../base/process/run.ts'
import { withoutGit } from '../base/files/git.ts'
import { start } from '../base/process/run.ts'
import { withoutModelKeys } from '../core/profile/key-variables.ts'

type ProgramAnswer = { code: number | undefined; text: string }

export type ProbeParts = {
  env: Env
  clock: Clock
  /** How long one program may take. */
  limitMs?: number
  signal?: AbortSignal
}

/** How many characters of a program's output are kept; a version is short. */
const longest = 16_384

/** How many programs run at once. Starting a process blocks this one for a moment, and the screen must be drawn in between. */
const lanes = 6

/** Runs programs for their short answers: each in its own process group, a few at once, each with a time limit. */
export class Probes {
  #parts: ProbeParts
  #endings: Promise<unknown>[] = []
  #free = lanes
  #waiting: (() => void)[] = []

  constructor(parts: ProbeParts) {
    this.#parts = parts
  }

  /** Returns the output of a program from both streams; undefined if it could not start or took too long. */
  async ask(...argv: [string, ...string[]]): Promise<ProgramAnswer | undefined> {
    if (this.#free > 0) this.#free--
    else await new Promise<void>((go) => this.#waiting.push(go))
    try {
      return await this.#ask(argv)
    } finally {
      const next = this.#waiting.shift()
      if (next) next()
      else this.#free++
    }
  }

  /** Resolves when none of the programs runs any more. */
  async settled(): Promise<void> {
    await Promise.all(this.#endings)
  }

  async #ask(argv: [string, ...string[]]): Promise<ProgramAnswer | undefined> {
    const { env, clock, limitMs = 1500, signal } = this.#parts
    if (signal?.aborted) return undefined
    // Programs do not run in the project's folder: a scan must not run or load anything from there.
    const command = { argv, cwd: '/', env: { ...withoutGit(withoutModelKeys(env)), LC_ALL: 'C' }, clock }
    const run = await start(command).catch(() => undefined)
    if (!run) return undefined
    const done = new AbortController()
    const stopped = signal ? AbortSignal.any([signal, done.signal]) : done.signal
    try {
      return await Promise.race([answer(run), clock.sleep(limitMs, stopped).then(() => undefined)])
    } finally {
      done.abort()
      this.#endings.push(run.end())
    }
  }
}

async function answer(run: Run): Promise<ProgramAnswer> {
  run.stdin.end()
  const [out, err, { code }] = await Promise.all([text(run.stdout), text(run.stderr), run.exited])
  return { code, text: `${out}${err}` }
}

async function text(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder()
  let said = ''
  for await (const chunk of chunks) if (said.length < longest) said += decoder.decode(chunk, { stream: true })
  return said
}
