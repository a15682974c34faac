import { realClock } from '../../src/base/time/clock.ts'
import { memoryStore } from '../../src/store/memory-store.ts'
import { nativeTools } from '../../src/native/tools/all-tools.ts'
import { callIn } from './seat.ts'

/**
 * A process of its own for a test that kills it: it starts its argument in the background, says so, and waits. With the word
 * "moved" after it, the command is started in the foreground and sent to the background.
 */
const cwd = process.cwd()
const blobs = memoryStore().blobs('output')
const { tools, jobs } = nativeTools({ root: cwd, env: process.env, clock: realClock, blobs })
const bash = tools.find(({ name }) => name === 'bash')!
const moved = process.argv[3] === 'moved'
const running = bash.run(bash.parse({ command: process.argv[2], background: !moved }), callIn(cwd))
while (moved && !jobs.front?.move()) await realClock.sleep(10)
await running
process.stdout.write('started\n')
setInterval(() => {}, 60_000)
