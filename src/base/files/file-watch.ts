import { watch } from 'node:fs'
import { basename, dirname } from 'node:path'

/** Calls `ring` when a file is written, as notified by the file system. On a system without notifications, `ring` is never called. */
export function watchFile(file: string, ring: () => void): { close(): void } {
  try {
    const watcher = watch(dirname(file), { persistent: false }, (_event, name) => {
      if (name === null || name === basename(file)) ring()
    })
    watcher.on('error', () => watcher.close())
    return watcher
  } catch {
    return { close() {} }
  }
}
