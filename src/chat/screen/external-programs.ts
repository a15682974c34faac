import type { Env } from '../../base/env.ts'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { editFile } from '../../base/process/editor.ts'
import { withoutProject } from '../../base/process/program-path.ts'
import { isInstalled } from '../input/clipboard.ts'
import { withoutModelKeys } from '../../core/profile/key-variables.ts'

/** Programs that own the clipboard of this machine; over a remote connection only the terminal can reach it. */
const programs: readonly { argv: readonly [string, ...string[]]; needs?: string }[] = [
  { argv: ['pbcopy'] },
  { argv: ['wl-copy'], needs: 'WAYLAND_DISPLAY' },
  { argv: ['xclip', '-selection', 'clipboard'], needs: 'DISPLAY' },
  { argv: ['xsel', '--clipboard', '--input'], needs: 'DISPLAY' },
]

/** Terminals drop longer texts. */
const longestEncoded = 74_000

/** Puts text on the clipboard, through the terminal and a program of the machine. Returns a message that says how, or why not. */
export async function copyText(text: string, env: Env, write: (data: string) => void): Promise<string> {
  const encoded = Buffer.from(text).toString('base64')
  const byTerminal = encoded.length <= longestEncoded
  if (byTerminal) write(`\x1b]52;c;${encoded}\x07`)
  const program = programs.find(
    ({ argv, needs }) => (needs === undefined || env[needs]) && isInstalled(argv[0], withoutProject(env).PATH ?? ''),
  )
  if (program && (await runWithInput(program.argv, text, env))) return `Copied with ${program.argv[0]}.`
  if (byTerminal) return 'Copied by the terminal.'
  return 'Too long for the terminal to copy, and no clipboard program is installed (wl-copy, xclip, xsel or pbcopy).'
}

/** Whether the program accepted the text. Some programs keep running while they own the clipboard, so this does not wait for their exit. */
function runWithInput([command, ...args]: readonly [string, ...string[]], text: string, env: Env): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      env: withoutModelKeys(withoutProject(env)),
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
    })
    child.once('error', () => resolve(false))
    child.once('exit', (code) => resolve(code === 0))
    child.stdin.once('error', () => resolve(false))
    child.stdin.end(text, () => resolve(true))
    child.unref()
  })
}

/** Opens a text in the person's own editor; undefined when the editor could not be started or failed. */
export async function editInEditor(text: string, env: Env): Promise<string | undefined> {
  const folder = await mkdtemp(join(env.TMPDIR || tmpdir(), 'termaite-'))
  const file = join(folder, 'prompt.md')
  try {
    await writeFile(file, text, { mode: 0o600 })
    return (await editFile(file, withoutModelKeys(env))) === undefined ? await readFile(file, 'utf8') : undefined
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
