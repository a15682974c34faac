import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { edited } from '../../../base/editor.ts'

type Env = Readonly<Record<string, string | undefined>>

/** The text as it was left in the person's own editor; undefined when that could not be started or failed. */
export async function editedText(text: string, env: Env): Promise<string | undefined> {
  const folder = await mkdtemp(join(env.TMPDIR || tmpdir(), 'termaite-'))
  const file = join(folder, 'prompt.md')
  try {
    await writeFile(file, text, { mode: 0o600 })
    return (await edited(file, env)) === undefined ? await readFile(file, 'utf8') : undefined
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
