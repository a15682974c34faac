import type { TestContext } from 'node:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'

/** A fresh folder that is gone after the test, or after the file's tests. */
export function tempFolder(t?: TestContext, release = () => {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'termaite-store-'))
  const remove = () => {
    release()
    rmSync(folder, { recursive: true, force: true })
  }
  if (t) t.after(remove)
  else after(remove)
  return folder
}
