import { existsSync } from 'node:fs'

/** On macOS these stand in /usr/bin whether or not they are installed, and open a window to install them when they are run. */
const tools = ['git', 'python3', 'gcc', 'clang', 'make', 'gdb'].map((name) => `/usr/bin/${name}`)

const homes = ['/Library/Developer/CommandLineTools/usr/bin', '/Applications/Xcode.app']

/** Programs that only pretend to be there. */
export function stubs(platform: NodeJS.Platform = process.platform, exists: (path: string) => boolean = existsSync) {
  if (platform !== 'darwin') return new Set<string>()
  return new Set([...(homes.some(exists) ? [] : tools), '/usr/bin/java'])
}
