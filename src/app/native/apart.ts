import type { ToolParts } from '../../tools/parts.ts'
import type { NativeParts } from './parts.ts'
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bash } from '../../tools/bash.ts'
import { Background } from '../../tools/shell/background.ts'
import { findProgram } from '../found.ts'
import { sandboxOf } from './walls.ts'

/** What a program is written to, and by what it is run there. */
const languages: Record<string, { file: string; by: string }> = {
  python: { file: 'main.py', by: 'python3' },
  javascript: { file: 'main.mjs', by: JSON.stringify(process.execPath) },
  typescript: { file: 'main.mts', by: JSON.stringify(process.execPath) },
  bash: { file: 'main.sh', by: 'bash' },
  ruby: { file: 'main.rb', by: 'ruby' },
  perl: { file: 'main.pl', by: 'perl' },
  php: { file: 'main.php', by: 'php' },
  lua: { file: 'main.lua', by: 'lua' },
  go: { file: 'main.go', by: 'go run' },
}

const short: Record<string, string> = {
  py: 'python',
  python3: 'python',
  js: 'javascript',
  node: 'javascript',
  ts: 'typescript',
  sh: 'bash',
  shell: 'bash',
  rb: 'ruby',
  golang: 'go',
}

/** Runs code in an empty folder of its own, behind walls; undefined where the system is known to have none. */
export function apart(parts: NativeParts): ToolParts['sandboxed'] | undefined {
  const { env, clock, blobs, mask, home } = parts
  if (process.platform !== 'darwin' && findProgram('bwrap', env) === undefined) return undefined
  return async (language, code, call) => {
    const named = language.trim().toLowerCase()
    const how = languages[short[named] ?? named]
    if (!how) throw new Error(`${language} cannot be run here. Use one of: ${Object.keys(languages).join(', ')}.`)
    const root = await realpath(await mkdtemp(join(tmpdir(), 'termaite-apart-')))
    try {
      await writeFile(join(root, how.file), code)
      const shell = async (command: string) => {
        const fence = { root, network: false, home: env.HOME ?? home }
        const inside = await sandboxOf(parts).wrap(['bash', '-c', command], fence)
        if ('none' in inside) throw new Error(`there is no sandbox here: ${inside.none}. Do without it.`)
        return inside
      }
      // Nothing of the person's own comes along: no key in a variable, no folder of theirs as home.
      const lean = { PATH: env.PATH, LANG: env.LANG, HOME: root, TMPDIR: root, GOCACHE: root }
      const run = bash({ env: lean, clock, blobs, mask, shell }, new Background({ env: lean, clock, blobs, shell }))
      return await run.run({ command: `${how.by} ${how.file}` }, { ...call, cwd: root })
    } finally {
      await rm(root, { recursive: true, force: true })
    }
  }
}
