import type { Io } from './io.ts'

const patienceMs = 3_000

/** All of stdin. With `patient` false a pipe that stays silent is left alone, since nobody may ever close it. */
export async function readStdin(io: Io, patient: boolean): Promise<string | undefined> {
  if (!io.piped) return undefined
  const chunks: Buffer[] = []
  const gaveUp = new AbortController()
  const all = (async () => {
    for await (const chunk of io.in) {
      gaveUp.abort()
      chunks.push(Buffer.from(chunk))
    }
    gaveUp.abort()
    return true
  })().catch(() => true)
  if (!patient) {
    await io.clock.sleep(patienceMs, AbortSignal.any([gaveUp.signal, io.signal]))
    if (!gaveUp.signal.aborted) {
      if (!io.signal.aborted)
        io.err.write('Nothing came on stdin for 3 s; going on without it. Close it with </dev/null.\n')
      return undefined
    }
  }
  const interrupted = new Promise<false>((resolve) =>
    io.signal.addEventListener('abort', () => resolve(false), { once: true }),
  )
  await Promise.race([all, interrupted])
  return Buffer.concat(chunks).toString('utf8')
}
