import type { Clock } from '../base/clock.ts'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { openIndex } from '../store/index/index.ts'

/** Takes a project out of the index; its log is gone before, or it would come back. */
export async function forgetInIndex(home: string, slug: string, clock: Clock): Promise<void> {
  if (!existsSync(join(home, 'termaite.db'))) return
  const index = openIndex(home, { clock })
  try {
    await index.forget(slug)
  } finally {
    await index.close()
  }
}
