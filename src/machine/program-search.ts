import type { Clock } from '../base/clock.ts'
import { readdir, stat } from 'node:fs/promises'
import { delimiter, isAbsolute, join } from 'node:path'
import { existsSync } from 'node:fs'

/** A folder on a network that is gone would be waited for without end. */
const folderMs = 300

/** Where each of these programs is, as a shell would find it; a folder that does not answer is passed over. */
export async function programsOn(
  path: string,
  names: readonly string[],
  clock: Clock,
  platform: NodeJS.Platform = process.platform,
): Promise<Map<string, string>> {
  const endings = platform === 'win32' ? ['.exe', '.cmd'] : ['']
  // What a folder named by a relative path holds depends on where one stands, and may be planted.
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
  // Windows knows a program by its ending, and gives no such right.
  return found?.isFile() === true && (process.platform === 'win32' || (found.mode & 0o111) !== 0)
}

/** On macOS these stand in /usr/bin whether or not they are installed, and open a window to install them when they are run. */
const tools = ['git', 'python3', 'gcc', 'clang', 'make', 'gdb'].map((name) => `/usr/bin/${name}`)

const homes = ['/Library/Developer/CommandLineTools/usr/bin', '/Applications/Xcode.app']

/** Programs that only pretend to be there. */
export function stubs(platform: NodeJS.Platform = process.platform, exists: (path: string) => boolean = existsSync) {
  if (platform !== 'darwin') return new Set<string>()
  return new Set([...(homes.some(exists) ? [] : tools), '/usr/bin/java'])
}
