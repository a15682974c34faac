import type { TestContext } from 'node:test'
import type { SessionPlace } from '../../../src/native/loop/instructions.ts'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** A fresh project and a home, with files by their paths under `repo/`, `home/` and `outside/`. */
export function groundOf(t: Pick<TestContext, 'after'>, files: Record<string, string | Uint8Array> = {}) {
  const place = realpathSync(mkdtempSync(join(tmpdir(), 'termaite-native-')))
  t.after(() => rmSync(place, { recursive: true }))
  for (const folder of ['repo/.git', 'repo/sub', 'home', 'outside']) mkdirSync(join(place, folder), { recursive: true })
  const write = (path: string, body: string | Uint8Array) => {
    mkdirSync(dirname(join(place, path)), { recursive: true })
    writeFileSync(join(place, path), body)
  }
  for (const [path, body] of Object.entries(files)) write(path, body)
  const at = (path: string) => join(place, path)
  const ground: SessionPlace = { cwd: at('repo/sub'), root: at('repo'), home: at('home'), trusted: true }
  return { at, write, ground }
}
