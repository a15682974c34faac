import { copyFileSync, linkSync, statSync, utimesSync } from 'node:fs'
import { isMissing } from '../../base/files.ts'

/**
 * Gives a take its own name for the last index, whose memory of file times makes it fast.
 * Git replaces an index and never writes into one, so a second link is as good as a copy.
 */
export function borrowIndex(shared: string, own: string): void {
  try {
    linkSync(shared, own)
  } catch (error) {
    if (isMissing(error)) return
    copyFileSync(shared, own)
    // A file as old as its index is looked at again: a copy that seemed younger would hide a change of that moment.
    const { mtimeMs } = statSync(shared)
    utimesSync(own, Math.floor(mtimeMs / 1000), Math.floor(mtimeMs / 1000))
  }
}
