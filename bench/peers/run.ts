import type { Run } from './measured.ts'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { measured } from './measured.ts'
import { clis, isThere, peers } from './peer.ts'

// The real CLIs and our own agent at the same task, against the same scripted model: medians, side by side.
for (const folder of [join(import.meta.dirname, '..', '..', 'test', 'real', 'clis'), clis])
  if (!existsSync(join(folder, 'node_modules', '.bin')))
    spawnSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder, stdio: 'inherit' })

const rounds = 20
const [times, wanted] = [3, process.argv.slice(2)]
const rows: string[][] = [
  ['peer', 'first request', 'one-shot', 'per round', 'requests', 'bytes', 'first', 'prefix', 'peak'],
]
for (const peer of peers) {
  if (wanted.length > 0 && !wanted.includes(peer.name)) continue
  if (!isThere(peer)) {
    console.log(`${peer.name}: skipped, it is not installed`)
    continue
  }
  const caches = mkdtempSync(join(tmpdir(), 'termaite-bench-'))
  try {
    // The first run of a peer does not count, because caches are filled in it.
    await measured(peer, 1, caches)
    const once = await several(() => measured(peer, 0, caches))
    const many = await several(() => measured(peer, rounds, caches))
    rows.push([
      peer.name,
      `${once.firstRequestMs.toFixed(0)} ms`,
      `${once.wallMs.toFixed(0)} ms`,
      `${((many.wallMs - once.wallMs) / rounds).toFixed(1)} ms`,
      String(many.requests),
      `${(many.bytes / 1000).toFixed(0)} kB`,
      `${(many.firstBytes / 1000).toFixed(1)} kB`,
      many.prefix.toFixed(3),
      `${once.peakMB.toFixed(0)} / ${many.peakMB.toFixed(0)} MB`,
    ])
  } catch (error) {
    console.log(`${peer.name}: ${(error as Error).message}`)
  } finally {
    rmSync(caches, { recursive: true, force: true })
  }
}
const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
for (const row of rows) console.log(row.map((cell, column) => cell.padEnd(widths[column]!)).join('  '))

async function several(run: () => Promise<Run>): Promise<Run> {
  const runs: Run[] = []
  for (let i = 0; i < times; i++) runs.push(await run())
  const middle = (pick: keyof Run) => runs.map((one) => one[pick]).sort((a, b) => a - b)[Math.floor(times / 2)]!
  return Object.fromEntries(Object.keys(runs[0]!).map((key) => [key, middle(key as keyof Run)])) as Run
}
