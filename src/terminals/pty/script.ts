import { printEndMark } from '../end-mark.ts'
import { programScript } from '../shell.ts'

/** Says that all that was drawn has been read. */
export const seenSignal = 'SIGUSR1'

/** A PTY loses what was not read soon after its shell has ended, so the shell waits for that. */
export function embeddedScript(id: string): string {
  return programScript('', `trap 'kill $!; exit $code' USR1\n${printEndMark(id)}sleep 60 & wait\n`)
}
