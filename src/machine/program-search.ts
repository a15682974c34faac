import type { Clock } from '../base/time/clock.ts'
import { readdir, stat } from 'node:fs/promises'
import { delimiter, isAbsolute, join } from 'node:path'
import { existsSync } from 'node:fs'

/** How long listing a folder may take: one on a lost network share would never answer. */
const folderMs = 300

/** Finds programs on the PATH, as a shell would. Folders that do not answer are skipped. */
export async function programsOn(
  path: string,
  names: readonly string[],
  clock: Clock,
  platform: NodeJS.Platform = process.platform,
): Promise<Map<string, string>> {
  const endings = platform === 'win32' ? ['.exe', '.cmd'] : ['']
  // Relative folders are skipped: their content depends on the working directory, and may be planted.
  const folders = [...new Set(path.split(delimiter))].filter((folder) => isAbsolute(folder))
  const listings = await Promise.all(folders.map((folder) => within(clock, readdir(folder))))
  const found = new Map<string, string>()
  await Promise.all(
    names.map(async (name) => {
      for (const [at, folder] of folders.entries())
        for (const ending of endings) {
          const file = join(folder, `${name}${ending}`)
          if (!listings[at]?.has(`${name}${ending}`) || !(await isProgram(file))) continue
          found.set(name, file)
          return
        }
    }),
  )
  return found
}

async function within(clock: Clock, names: Promise<string[]>): Promise<Set<string> | undefined> {
  const done = new AbortController()
  const listing = names.then(
    (all) => new Set(all),
    () => undefined,
  )
  const first = await Promise.race([listing, clock.sleep(folderMs, done.signal).then(() => undefined)])
  done.abort()
  return first
}

async function isProgram(file: string): Promise<boolean> {
  const found = await stat(file).catch(() => undefined)
  // Windows has no execute permission: there, the extension makes a file a program.
  return found?.isFile() === true && (process.platform === 'win32' || (found.mode & 0o111) !== 0)
}

/** macOS has these programs in /usr/bin even if they are not installed; running one opens a dialog to install it. */
const tools = ['git', 'python3', 'gcc', 'clang', 'make', 'gdb'].map((name) => `/usr/bin/${name}`)

const homes = ['/Library/Developer/CommandLineTools/usr/bin', '/Applications/Xcode.app']

/** Returns the programs that only look installed. */
export function stubs(platform: NodeJS.Platform = process.platform, exists: (path: string) => boolean = existsSync) {
  if (platform !== 'darwin') return new Set<string>()
  return new Set([...(homes.some(exists) ? [] : tools), '/usr/bin/java'])
}
