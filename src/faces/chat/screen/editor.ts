import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

type Env = Readonly<Record<string, string | undefined>>

/** The text as it was left in the person's own editor; undefined when that could not be started or failed. */
export async function editedText(text: string, env: Env): Promise<string | undefined> {
  const folder = await mkdtemp(join(env.TMPDIR || tmpdir(), 'termaite-'))
  const file = join(folder, 'prompt.md')
  try {
    await writeFile(file, text, { mode: 0o600 })
    return (await ranWell(env.EDITOR || 'vi', file, env)) ? await readFile(file, 'utf8') : undefined
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** By a shell: people put words and options into $EDITOR. */
function ranWell(editor: string, file: string, env: Env): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn('/bin/sh', ['-c', `${editor} "$1"`, 'sh', file], { env, stdio: 'inherit' })
    child.once('error', () => resolve(false))
    child.once('exit', (code) => resolve(code === 0))
  })
}
