import type { Io } from '../../core/io.ts'
import type { Program } from '../../base/process/own-program.ts'
import { spawn } from 'node:child_process'
import { shellWord } from '../../base/text/shell-word.ts'
import { withoutProject } from '../../base/process/program-path.ts'
import { withoutModelKeys } from '../../core/profile/key-variables.ts'

/** One agent of a crew, as `termaite crew attach` names it. */
type ShownSlot = { workspace: string; id: number; cwd: string }

/** The command line that shows a slot in a desktop window: our command replaces `{command}` in the setting, or follows the setting. */
export function windowCommand(setting: string, { workspace, id, cwd }: ShownSlot, program: Program): string {
  const attach = [...program, 'crew', 'attach', String(id), `--workspace=${workspace}`, `--cwd=${cwd}`]
  const command = attach.map(shellWord).join(' ')
  return setting.includes('{command}') ? setting.replaceAll('{command}', command) : `${setting} ${command}`
}

/** How long a window's command may take to fail and still be reported. */
const startMs = 2_000

/** Opens a desktop window on a slot's terminal. The window is the person's: it outlives this process. */
export function openDesktopWindow(io: Io, line: string, warn: (words: string) => void): void {
  const child = spawn('/bin/sh', ['-c', line], {
    env: withoutModelKeys(withoutProject(io.env)),
    stdio: 'ignore',
    detached: true,
  })
  const failed = (why: string) =>
    warn(`terminals.desktop_window: no window was opened: ${why}. The command was: ${line}`)
  const began = io.clock.elapsed()
  child.once('error', (error) => failed(error.message))
  child.once('exit', (code) => {
    if (code !== 0 && io.clock.elapsed() - began < startMs) failed(`the command ended with code ${code}`)
  })
  child.unref()
}
