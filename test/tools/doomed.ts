import { realClock } from '../../src/base/clock.ts'
import { memoryStore } from '../../src/store/memory-store.ts'
import { nativeTools } from '../../src/tools/all.ts'
import { callIn } from './seat.ts'

/** A process of its own for a test that kills it: it starts its argument in the background, says so, and waits. */
const cwd = process.cwd()
const blobs = memoryStore().blobs('output')
const { tools } = nativeTools({ root: cwd, env: process.env, clock: realClock, blobs })
const bash = tools.find(({ name }) => name === 'bash')!
await bash.run(bash.parse({ command: process.argv[2], background: true }), callIn(cwd))
process.stdout.write('started\n')
setInterval(() => {}, 60_000)
