import { spawn } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { editFile } from '../../../base/editor.ts'

type Env = Readonly<Record<string, string | undefined>>

/** Programs that own the clipboard of this machine; a remote one is reached by the terminal alone. */
const programs: readonly { argv: readonly [string, ...string[]]; needs?: string }[] = [
  { argv: ['pbcopy'] },
  { argv: ['wl-copy'], needs: 'WAYLAND_DISPLAY' },
  { argv: ['xclip', '-selection', 'clipboard'], needs: 'DISPLAY' },
  { argv: ['xsel', '--clipboard', '--input'], needs: 'DISPLAY' },
]

/** Terminals drop longer ones. */
const longest = 74_000

/** Puts text on the clipboard, by the terminal and by the machine's own program; the words say how, or why not. */
export async function copyText(text: string, env: Env, write: (data: string) => void): Promise<string> {
  const encoded = Buffer.from(text).toString('base64')
  const byTerminal = encoded.length <= longest
  if (byTerminal) write(`\x1b]52;c;${encoded}\x07`)
  const program = programs.find(
    ({ argv, needs }) => (needs === undefined || env[needs]) && isInstalled(argv[0], env.PATH ?? ''),
  )
  if (program && (await fed(program.argv, text, env))) return `Copied, by ${program.argv[0]}.`
  if (byTerminal) return 'Copied, by the terminal.'
  return 'Too long for the terminal to copy, and no clipboard program is installed (wl-copy, xclip, xsel or pbcopy).'
}

function isInstalled(name: string, path: string): boolean {
  return path.split(delimiter).some((folder) => {
    if (folder === '') return false
    try {
      accessSync(join(folder, name), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}

/** Whether it took the text. Some stay as long as they own the clipboard, so nothing waits for their end. */
function fed([command, ...args]: readonly [string, ...string[]], text: string, env: Env): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { env, stdio: ['pipe', 'ignore', 'ignore'], detached: true })
    child.once('error', () => resolve(false))
    child.once('exit', (code) => resolve(code === 0))
    child.stdin.once('error', () => resolve(false))
    child.stdin.end(text, () => resolve(true))
    child.unref()
  })
}

/** The text as it was left in the person's own editor; undefined when that could not be started or failed. */
export async function editInEditor(text: string, env: Env): Promise<string | undefined> {
  const folder = await mkdtemp(join(env.TMPDIR || tmpdir(), 'termaite-'))
  const file = join(folder, 'prompt.md')
  try {
    await writeFile(file, text, { mode: 0o600 })
    return (await editFile(file, env)) === undefined ? await readFile(file, 'utf8') : undefined
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
