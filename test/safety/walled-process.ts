import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import type { WallLimits } from '../../src/safety/wall/wall.ts'
import { openTurnScratch } from '../../src/safety/wall/turn-scratch.ts'
import { wallOf } from '../../src/safety/wall/wall.ts'

// A process of its own, so that a test that runs as root can build and try walls as an ordinary user: see behind-wall.ts.

export type WalledWork = {
  limits: WallLimits
  /** Scripts for bash, run one after another. One that begins with `&` is left running until the last one has ended; its result comes last. */
  scripts: readonly string[]
  /** Whether the commands share a temporary folder and a network. */
  turn?: boolean
}

export type WalledResult = { code: number | null; out: string; err: string; settled: string[] }

const { limits, scripts, turn } = JSON.parse(await text(process.stdin)) as WalledWork
const host = { platform: process.platform, env: process.env }
const wall = wallOf(host)
const scratch = turn ? await openTurnScratch(`${limits.home}/.termaite`, host) : undefined
const results: WalledResult[] = []
const left: { pid: number; ended: Promise<unknown>; settle(): Promise<string[]> }[] = []
for (const script of scripts) {
  const background = script.startsWith('&')
  const walled = await wall.wrap(['bash', '-c', background ? script.slice(1) : script], { ...limits, scratch })
  if ('none' in walled) throw new Error(walled.none)
  const [program, ...args] = walled.argv
  const child = spawn(program, args, { cwd: limits.root, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
  if (background) {
    left.push({ pid: child.pid!, ended: once(child, 'close'), settle: walled.settle })
    child.stderr.resume()
    // The first output says that the process is ready.
    await once(child.stdout, 'data')
    child.stdout.resume()
    continue
  }
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  results.push({ code: code as number | null, out, err, settled: await walled.settle() })
}
for (const { pid, ended, settle } of left) {
  process.kill(-pid, 'SIGKILL')
  await ended
  results.push({ code: null, out: '', err: '', settled: await settle() })
}
await scratch?.close()
process.stdout.write(JSON.stringify(results))
