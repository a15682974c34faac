import { realClock } from '../../src/base/time/clock.ts'
import { memoryStore } from '../../src/store/memory-store.ts'
import { replTool } from '../../src/native/tools/repl.ts'
import { callIn } from './seat.ts'

/** A process of its own for a test that kills it: its interpreter has left a child in a session of its own. */
const { tool } = replTool({ env: process.env, clock: realClock, blobs: memoryStore().blobs('output') })
const code = "void require('node:child_process').spawn('sleep', ['77'], { detached: true, stdio: 'ignore' }).unref()"
await tool.run(tool.parse({ language: 'node', code }), callIn(process.cwd()))
process.stdout.write('started\n')
setInterval(() => {}, 60_000)
