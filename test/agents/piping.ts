import { readFile, readdir } from 'node:fs/promises'
import type { PipeParts, PipeSpec } from '../../src/agents/pipe/pipe.ts'
import type { Blobs } from '../../src/core/talk/store.ts'
import { newId } from '../../src/base/id.ts'
import { pipeAgent } from '../../src/agents/pipe/pipe.ts'

/** Carried by every process of this test file, so that none of another one is taken for ours. */
const label = newId(Date.now())

export const env = { ...process.env, TEST_LABEL: label }

/** Commands of ours that still run. */
export async function running(mark = label): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const found = await Promise.all(
    pids.map(async (pid) => {
      const environ = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '')
      return environ.includes(mark)
        ? [(await readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => '')).replaceAll('\0', ' ')]
        : []
    }),
  )
  return found.flat()
}

/** For agents whose answers stay short. */
export const noBlobs = new Proxy({} as Blobs, {
  get() {
    throw new Error('no blob is expected here')
  },
})

export function saying(command: string, over: Partial<PipeSpec> = {}, parts: Partial<PipeParts> = {}) {
  const spec = { name: 'sayer', command, window: 1000, timeoutMs: 60_000, silenceMs: 30_000, ...over }
  return pipeAgent(spec, { leash: 'ask' }, { blobs: noBlobs, env, ...parts })
}
