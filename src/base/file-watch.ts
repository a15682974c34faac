import { watch } from 'node:fs'
import { basename, dirname } from 'node:path'

/** Rings when somebody writes a file, by the system's own word, so that waiting costs nothing; where there is none it stays silent. */
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
