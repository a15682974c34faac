import type { TestContext } from 'node:test'
import type { TerminalHost } from '../../src/core/screen/terminal.ts'
import { mkdtempSync, mkdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execFileSync, spawnSync } from 'node:child_process'
import { realClock } from '../../src/base/time/clock.ts'
import { ptyHost } from '../../src/terminals/pty/pty-host.ts'
import { tmuxHost } from '../../src/terminals/tmux/tmux-host.ts'

export type Ground = {
  host: TerminalHost
  cwd: string
  home: string
  folder: string
  /** The folder with the files of terminals. */
  terminals: string
  env: Record<string, string>
  socket: string
  running(what: string): string
}

/** Why tmux cannot be tried here; false when it can. */
export const noTmux = spawnSync('tmux', ['-V']).error ? 'tmux is not installed' : false

/** A host in a fresh home, of which nothing is left after the test. */
export function ground(kind: 'tmux' | 'pty', t: TestContext): Ground {
  const folder = mkdtempSync(join(tmpdir(), 'termaite-terminals-'))
  const [cwd, home] = [join(folder, "a project's"), join(folder, 'home')]
  for (const path of [cwd, home]) mkdirSync(path)
  const socket = `termaite-test-${process.pid}-${Math.random().toString(36).slice(2, 8)}`
  const env = { PATH: process.env.PATH!, HOME: home, SHELL: '/bin/bash', LANG: 'C.UTF-8', TMUX_TMPDIR: folder }
  const terminals = join(folder, 'terminals')
  const parts = { env, clock: realClock, folder: terminals, socket }
  const host = kind === 'tmux' ? tmuxHost(parts) : ptyHost(parts)
  t.after(async () => {
    await host.close()
    if (kind === 'tmux') spawnSync('tmux', ['-L', socket, 'kill-server'], { env })
    rmSync(folder, { recursive: true, force: true })
  })
  return { host, cwd, home, folder, terminals, env, socket, running }
}

/** A tmux command of the person's own. */
export function tmux({ env, socket }: Ground, ...words: string[]): string {
  return execFileSync('tmux', ['-u', '-L', socket, ...words], { env, encoding: 'utf8' })
}

const program = join(import.meta.dirname, 'program.mjs')

/** A command that runs one of the programs beside this file. */
export const running = (what: string) => `'${process.execPath}' '${program}' ${what}`

export const commands = {
  echo: running('echo'),
  exits3: 'echo bye; exit 3',
  place: 'printf "%s\\n" "$MARK" "$(basename "$PWD")"',
  lines: running('lines 100'),
}
