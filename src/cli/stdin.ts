import type { Io } from '../core/io.ts'
import { UsageError } from '../core/io.ts'

const patienceMs = 3_000

/** All of stdin. With `patient` false a pipe that stays silent is left alone, since nobody may ever close it. */
export async function readStdin(io: Io, patient: boolean): Promise<string | undefined> {
  const chunks: Buffer[] = []
  const heard = new AbortController()
  const all = (async () => {
    for await (const chunk of io.in) {
      heard.abort()
      chunks.push(Buffer.from(chunk))
    }
  })()
  const trouble = all.then(
    () => undefined,
    (error: Error) => error,
  )
  void trouble.then(() => heard.abort())
  if (!patient) {
    await io.clock.sleep(patienceMs, AbortSignal.any([heard.signal, io.signal]))
    if (!heard.signal.aborted) {
      if (!io.signal.aborted)
        io.err.write('Nothing came on stdin for 3 s; going on without it. Close it with </dev/null.\n')
      return undefined
    }
  }
  const interrupted = new Promise<undefined>((resolve) => {
    if (io.signal.aborted) resolve(undefined)
    io.signal.addEventListener('abort', () => resolve(undefined), { once: true })
  })
  const error = await Promise.race([trouble, interrupted])
  if (error) throw new UsageError(`stdin could not be read: ${error.message}. Give it a file or a pipe.`)
  return Buffer.concat(chunks).toString('utf8')
}
