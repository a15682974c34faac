import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeAgent } from '../../src/agents/pipe/pipe-agent.ts'
import { fileStore } from '../../src/store/files/file-store.ts'
import { turnOf } from '../contract/agent.ts'

/** Takes answers of a given number of bytes in a process of its own, and prints the peak memory in MB after each. */
const home = await mkdtemp(join(tmpdir(), 'termaite-long-'))
const blobs = fileStore(home).blobs('output')
for (const bytes of process.argv.slice(2).map(Number)) {
  const command = `yes 'a line of a long answer, as an agent might write it' | head -c ${bytes}`
  const spec = { name: 'long', command, window: 1000, timeoutMs: 60_000, silenceMs: 60_000 }
  let chars = 0
  let whole = 0
  for await (const event of pipeAgent(spec, { leash: 'ask' }, { blobs, env: process.env }).turn(turnOf())) {
    if (event.type === 'text') chars += event.delta.length
    if (event.type === 'end' && event.outcome.ok) whole = event.outcome.whole?.bytes ?? event.outcome.text.length
  }
  console.log(JSON.stringify({ chars, whole, peak: Math.round(process.resourceUsage().maxRSS / 1024) }))
}
await rm(home, { recursive: true })
