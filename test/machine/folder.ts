import type { TestContext } from 'node:test'
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A folder of programs that are shell scripts, gone after the test. */
export function programs(t: TestContext, scripts: Record<string, string>): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'termaite-machine-')))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  for (const [name, script] of Object.entries(scripts))
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  return folder
}
