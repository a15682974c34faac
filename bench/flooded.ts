import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ScreenWatcher } from '../src/agents/screen/screen-watcher.ts'
import { realClock } from '../src/base/time/clock.ts'
import { ptyHost } from '../src/terminals/pty/pty-host.ts'
import { tmuxHost } from '../src/terminals/tmux/tmux-host.ts'

/** A process that watches a program print: `flooded.ts <tmux | pty> <folder> <bytes>`; tells its time and its memory. */
const [kind, folder, bytes] = process.argv.slice(2) as [string, string, string]
const env = process.env
const host =
  kind === 'pty'
    ? ptyHost({ env, clock: realClock })
    : tmuxHost({ folder: join(folder, 'terminals'), env, clock: realClock, socket: 'flooded' })
const began = performance.now()
const terminal = await host.open(`yes ${'x'.repeat(99)} | head -c ${bytes}`, { cwd: folder })
const eye = new ScreenWatcher(terminal, {}, realClock)
const over = new AbortController()
let end = 0
const reading = (async () => {
  for await (const { at, bytes } of terminal.output()) end = at + bytes.length
})()
let early = 0
let most = 0
const looking = (async () => {
  // As an agent at work is looked at.
  while (!over.signal.aborted) {
    await eye.look()
    const now = memoryMB()
    if (end < Number(bytes) / 2) early = Math.max(early, now)
    most = Math.max(most, now)
    await eye.next(over.signal)
  }
})()
await terminal.exited
const took = performance.now() - began
over.abort()
await Promise.all([looking, reading])
const { user, system } = process.cpuUsage()
await terminal.close()
await host.close()
process.stdout.write(JSON.stringify({ ms: took, cpuMs: (user + system) / 1000, early, most, end }))
process.exit(0)

function memoryMB(): number {
  return (Number(readFileSync('/proc/self/statm', 'utf8').split(' ')[1]) * 4096) / 1e6
}
