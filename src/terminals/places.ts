import { statSync } from 'node:fs'

/** The system would say of a missing folder that the program is missing. */
export function needFolder(cwd: string): void {
  if (statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) return
  throw new Error(`no terminal can be opened in ${cwd}: there is no such folder`)
}
