import { readFileSync } from 'node:fs'
import { realClock } from '../../src/base/time/clock.ts'
import { start } from '../../src/base/process/run.ts'

/** A process of its own for tests that kill it: runs its argument and tells the pids of its own children. */
const script = process.argv[2]!
const run = await start({ argv: ['bash', '-c', script], cwd: '/', env: process.env, clock: realClock })
const children = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim().split(' ').map(Number)
process.stdout.write(JSON.stringify({ run: run.pid, watchdog: children.find((pid) => pid !== run.pid) }) + '\n')
for await (const _chunk of run.stdout);
await run.exited
