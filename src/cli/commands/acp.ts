import type { Io } from '../../core/io.ts'
import { readyWatchdog } from '../../base/process/watchdog.ts'
import { say } from '../../core/io.ts'
import { homeOf } from '../../app/place.ts'
import { noteProcess } from '../../app/running-processes.ts'
import { version } from '../../app/version.ts'

/** Serves an editor over stdin and stdout, which are its alone. */
export async function run(io: Io): Promise<number> {
  if (io.in.isTTY) say(io, 'An editor speaks ACP here, over stdin and stdout; `termaite` is the chat. Ctrl+D ends it.')
  const [{ loadAcpSdk }, { serveAcp }, { ProjectEditorDesks }] = await Promise.all([
    import('../../faces/acp/acp-sdk.ts'),
    import('../../faces/acp/editor-agent.ts'),
    import('../../desk/editor-desks.ts'),
  ])
  const desks = new ProjectEditorDesks(io)
  readyWatchdog(io.env.PATH)
  const unnote = noteProcess(homeOf(io.env), { process: 'editor', project: io.cwd }, io.clock)
  await serveAcp({ sdk: await loadAcpSdk(), desks, clock: io.clock, version }, io)
  await desks.close()
  unnote()
  return 0
}
