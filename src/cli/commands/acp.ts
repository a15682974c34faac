import type { Io } from '../../core/io.ts'
import { readyWatchdog } from '../../base/process/watchdog.ts'
import { say } from '../../core/io.ts'
import { version } from '../../app/version.ts'

/** Serves an editor over stdin and stdout, which are its alone. */
export async function run(io: Io): Promise<number> {
  if (io.in.isTTY) say(io, 'An editor speaks ACP here, over stdin and stdout; `termaite` is the chat. Ctrl+D ends it.')
  const [{ sdk }, { serveAcp }, { EditorOffices }] = await Promise.all([
    import('../../faces/acp/sdk.ts'),
    import('../../faces/acp/serve.ts'),
    import('../../desk/acp/offices.ts'),
  ])
  const offices = new EditorOffices(io)
  readyWatchdog(io.env.PATH)
  await serveAcp({ sdk: await sdk(), offices, clock: io.clock, version }, io)
  await offices.close()
  return 0
}
