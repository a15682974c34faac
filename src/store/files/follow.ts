import type { FSWatcher } from 'node:fs'
import { watch } from 'node:fs'
import { basename, dirname } from 'node:path'
import type { Clock } from '../../base/clock.ts'
import type { Line } from '../../core/talk/store.ts'
import type { Bell } from '../bell.ts'
import { isMissing } from '../../base/files.ts'
import { linesOn } from './lines.ts'
import { parseLine } from './parse.ts'
import { Source } from './source.ts'

/** File systems exist that never tell of a change: nobody waits longer than this for one. */
export const pollMs = 1_000

type Ears = { signal: AbortSignal; clock: Clock; bell: Bell }

/** Yields what a log holds from a position on, then what is appended, until the signal aborts. */
export async function* follow<T>(path: string, after: number, { signal, clock, bell }: Ears): AsyncGenerator<Line<T>> {
  let at = after
  let inside: boolean | undefined
  let source: Source | undefined
  let watcher: FSWatcher | undefined
  signal.addEventListener('abort', bell.ring)
  try {
    while (!signal.aborted) {
      if (source && !(await source.isCurrent())) {
        await source.close()
        source = undefined
        at = 0
      }
      if (!source) {
        watcher?.close()
        watcher = listen(path, dirname(path), bell)
      }
      source ??= await Source.open(path)
      const size = (await source?.size()) ?? 0
      if (size < at) at = 0
      // A position may be inside a line that another process was just writing: that one began before it.
      if (source) inside ??= !(await source.beginsLine(at))
      if (at === 0) inside = false
      for await (const line of source ? linesOn(source.read, at, size) : []) {
        const found = inside ? [] : parseLine<T>(line)
        // The last line may still be under way; if it is whole, only its newline is missing.
        if (line.open && (inside || found.at(-1)?.item === undefined)) break
        inside = false
        at = line.at + line.bytes.length + (line.open ? 0 : 1)
        for (const one of found) {
          yield one
          if (signal.aborted) return
        }
      }
      const nap = new AbortController()
      if (!signal.aborted) await Promise.race([bell.heard(), clock.sleep(pollMs, nap.signal)])
      nap.abort()
    }
  } finally {
    signal.removeEventListener('abort', bell.ring)
    watcher?.close()
    await source?.close()
  }
}

/** Rings when something happens to the file, or, before its folder is there, to the nearest one that is. */
function listen(path: string, folder: string, bell: Bell): FSWatcher | undefined {
  try {
    const watcher = watch(folder, (_event, name) => {
      if (name === null || folder !== dirname(path) || name === basename(path)) bell.ring()
    })
    return watcher.on('error', () => watcher.close())
  } catch (error) {
    // Where watching cannot be had, the poll is enough.
    return isMissing(error) && folder !== dirname(folder) ? listen(path, dirname(folder), bell) : undefined
  }
}
