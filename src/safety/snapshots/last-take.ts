import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { ensureFile } from './repository.ts'

/** What the last take found, so that one of an unchanged project asks git only once. */
export type LastTake = { index: string; tree: string; userIndex: string }

/** Only as long as the index is the one it was made with, and its tree is still there. */
export function lastTake(dir: string, index: string): LastTake | undefined {
  try {
    const last = JSON.parse(readFileSync(join(dir, 'last'), 'utf8')) as LastTake
    const object = join(dir, 'objects', last.tree.slice(0, 2), last.tree.slice(2))
    return last.index === fileMark(index) && last.index !== '' && existsSync(object) ? last : undefined
  } catch {
    return undefined
  }
}

export function rememberTake(dir: string, take: Omit<LastTake, 'index'>): void {
  ensureFile(join(dir, 'last'), JSON.stringify({ index: fileMark(join(dir, 'index')), ...take }))
}

/** Changes whenever a file does; empty when there is none. */
export function fileMark(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false, bigint: true })
  return stat ? `${stat.ino} ${stat.size} ${stat.mtimeNs}` : ''
}
