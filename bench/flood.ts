import type { Row } from './measure.ts'
import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { BareTmux } from './bare.ts'

type Kind = 'tmux' | 'pty'
type Flooded = { ms: number; cpuMs: number; early: number; most: number; end: number }

const bytes = 1e9
/** tmux alone is given less of the same. */
const bareBytes = 1e8

/** A program prints a gigabyte: what watches it holds no more in the second half than in the first. */
export async function floods(kinds: readonly Kind[]): Promise<Row[]> {
  const all = await Promise.all(kinds.map(async (kind) => ({ kind, ...(await flooded(kind)) })))
  const bare = kinds.includes('tmux') ? await tmuxAlone() : undefined
  return all.map(({ kind, ms, cpuMs, early, most, end }) => ({
    what: `${kind}: memory that grows with the second half of 1 GB of output`,
    value: Math.max(0, most - early),
    unit: 'MB' as const,
    bar: 50,
    detail: `at most ${most.toFixed(0)} MB in all; ${rate(bytes, ms)} MB/s on both hosts at once${kind === 'tmux' && bare ? ` (tmux alone: ${rate(bareBytes, bare)})` : ''}, ${(cpuMs / 1000).toFixed(1)} s of our own CPU, ${(end / 1e9).toFixed(3)} GB counted`,
  }))
}

const rate = (bytes: number, ms: number) => (bytes / 1e3 / ms).toFixed(0)

async function flooded(kind: Kind): Promise<Flooded> {
  return inFolder(async (folder, env) => {
    const child = join(import.meta.dirname, 'flooded.ts')
    const args = ['--disable-warning=ExperimentalWarning', child, kind, folder, String(bytes)]
    try {
      const { stdout } = await promisify(execFile)(process.execPath, args, { env, timeout: 300_000 })
      return JSON.parse(stdout) as Flooded
    } finally {
      spawnSync('tmux', ['-L', 'flooded', 'kill-server'], { env })
    }
  })
}

async function tmuxAlone(): Promise<number> {
  return inFolder(async (folder, env) => {
    const tmux = new BareTmux(env, folder)
    try {
      await tmux.begun()
      await tmux.quiet()
      const began = performance.now()
      const flood = `yes ${'x'.repeat(99)} | head -c ${bareBytes}; tmux -L ${tmux.socket} wait-for -S over`
      await tmux.open(['sh', '-c', flood])
      await tmux.run('wait-for', 'over')
      return performance.now() - began
    } finally {
      tmux.close()
    }
  })
}

async function inFolder<T>(work: (folder: string, env: Record<string, string>) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'termaite-bench-'))
  const env = { PATH: process.env.PATH!, HOME: folder, SHELL: '/bin/bash', LANG: 'C.UTF-8', TMUX_TMPDIR: folder }
  try {
    return await work(folder, env)
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}
