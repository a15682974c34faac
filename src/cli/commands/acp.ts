import type { Io } from '../../core/io.ts'
import { readyWatchdog } from '../../base/process/watchdog.ts'
import { say } from '../../core/io.ts'
import { homeOf } from '../../home/place.ts'
import { noteProcess } from '../../border/running-processes.ts'
import { version } from '../../base/version.ts'

/** Serves an editor over stdin and stdout; nothing else may write to stdout. */
export async function run(io: Io): Promise<number> {
  if (io.in.isTTY)
    say(
      io,
      'This command is for editors, which start it and speak ACP over stdin and stdout. Ctrl+D ends it. For the chat, run: termaite',
    )
  const [{ loadAcpSdk }, { serveAcp }, { ProjectEditorDesks }] = await Promise.all([
    import('../../acp/acp-sdk.ts'),
    import('../../acp/editor-agent.ts'),
    import('../../desk/screens/editor-desks.ts'),
  ])
  const since = io.clock.now()
  const note = (sessions: string[]) =>
    noteProcess(homeOf(io.env), { process: 'editor', project: io.cwd, sessions, since }, io.clock)
  const desks = new ProjectEditorDesks(io, note)
  readyWatchdog(io.env)
  const unnote = note([])
  await serveAcp({ sdk: await loadAcpSdk(), desks, clock: io.clock, version }, io)
  await desks.close()
  unnote()
  return 0
}
