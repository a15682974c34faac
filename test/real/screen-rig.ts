import type { Rig } from './rig.ts'
import { execFileSync } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { rig } from './rig.ts'

/** Files that a CLI must find below its home, because it would look for its vendor before it shows anything. */
const seeds: Record<string, Record<string, string>> = {
  // Qwen's own ripgrep is not executable in every install, and the error on the screen has its path.
  qwen: {
    '.qwen/settings.json': JSON.stringify({ tools: { useRipgrep: false }, general: { enableAutoUpdate: false } }),
  },
  claude: { '.claude.json': JSON.stringify({ hasCompletedOnboarding: true, theme: 'dark' }) },
}

/** A fresh home for a CLI in a terminal: nobody has trusted its folder or agreed to its key yet. */
export async function screenRig(cli: string, url: string): Promise<Rig> {
  const place = await rig(cli, url)
  for (const [path, text] of Object.entries(seeds[cli] ?? {})) {
    await mkdir(dirname(join(place.env.HOME!, path)), { recursive: true })
    await writeFile(join(place.env.HOME!, path), text)
  }
  await writeFile(join(place.cwd, 'a.txt'), 'hi\n')
  // A login shell makes a PATH of its own, and a person's own file puts theirs back.
  await writeFile(join(place.env.HOME!, '.profile'), `PATH='${place.env.PATH}'\n`)
  // Codex asks whether it may trust a repository, and nothing else.
  execFileSync('git', ['init', '-q', place.cwd], { env: place.env })
  return { ...place, env: { ...place.env, SHELL: '/bin/sh' } }
}
