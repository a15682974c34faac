import { lstat, readFile } from 'node:fs/promises'
import { isAbsolute, join, normalize } from 'node:path'

/** Where a project says what is run by itself. */
const settings = ['.termaite/settings.json', '.claude/settings.json', '.claude/settings.local.json']

const longest = 1024 * 1024

/** The project's own files that the commands of its hooks and its crew name: what they hold is what would run. */
export async function namedScripts(root: string, isOurs: (path: string) => boolean): Promise<string[]> {
  const texts = await Promise.all(settings.filter(isOurs).map((file) => textAt(join(root, file))))
  const words = texts.flatMap(commandsIn).flatMap((command) => command.split(/[\s"'`;|&()<>=]+/))
  const paths = new Set(
    words
      .map((word) => word.replace(folder, ''))
      .filter(isPath)
      .map(normalize),
  )
  return [...paths].filter((path) => !path.startsWith('..'))
}

/** The project, as those who write hooks call it. */
const folder = /^(?:\$\{?(?:CLAUDE|TERMAITE)_PROJECT_DIR\}?\/|\.\/)/

const isPath = (word: string) => /[./]/.test(word) && !isAbsolute(word) && !word.includes('://')

/** Found without a parser, so that comments are no hindrance. */
function commandsIn(text: string): string[] {
  return [...text.matchAll(/"(?:command|setup)"\s*:\s*("(?:\\.|[^"\\])*")/g)].flatMap(([, written]) => {
    try {
      return [String(JSON.parse(written!))]
    } catch {
      return []
    }
  })
}

async function textAt(path: string): Promise<string> {
  const there = await lstat(path).catch(() => undefined)
  return there?.isFile() && there.size <= longest ? readFile(path, 'utf8').catch(() => '') : ''
}
