import type { ChildProcess } from 'node:child_process'
import type { TestContext } from 'node:test'
import { spawn } from 'node:child_process'
import { after, before } from 'node:test'
import { sized } from '../full.ts'

/** How often a scene of a terminal is played. */
const times = sized(1, Number(process.env.TIMES ?? 50))

/** How many scenes are played at once: in a full run few, because they would be a load to each other. */
export const atOnce = sized(18, Number(process.env.AT_ONCE ?? 6))

/** With `LOAD=8`, eight processes that never rest run beside the scenes. */
const loops: ChildProcess[] = []
before(() => {
  for (let loop = 0; loop < Number(process.env.LOAD ?? 0); loop++)
    loops.push(spawn(process.execPath, ['-e', 'for(;;);'], { stdio: 'ignore' }))
})
after(() => loops.forEach((loop) => loop.kill('SIGKILL')))

/** Plays a scene again and again, also after a failure, and tells how often it went well. */
export async function often(t: TestContext, play: () => Promise<void>): Promise<void> {
  const faults: unknown[] = []
  for (let time = 0; time < times; time++) await play().catch((fault) => faults.push(fault))
  t.diagnostic(`${times - faults.length} of ${times}: ${t.name}`)
  for (const fault of faults.slice(1)) t.diagnostic(String(fault))
  if (faults.length > 0) throw faults[0]
}
