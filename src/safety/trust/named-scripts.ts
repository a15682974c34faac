import { lstat, readFile, realpath, stat } from 'node:fs/promises'
import { basename, isAbsolute, join, normalize } from 'node:path'
import { isWithin } from '../../base/files/real-path.ts'
import { definitionFolders } from '../../core/profile/definition-folders.ts'

/** A file or a part of a file that a trusted command runs, by its path in the project; `part` is hashed instead of the whole file. */
type NamedScript = { path: string; part?: string }

/** Folders among the steering files that contain data and packages, and no settings. */
const dataFolders = [...definitionFolders.skills, 'node_modules']

/** Settings whose commands may run once the folder is trusted: hooks, MCP servers, and a crew's set-up command. */
const isSettings = (path: string) =>
  /\.(?:jsonc?|ya?ml|toml)$/.test(path) && !dataFolders.some((folder) => `/${path}`.includes(`/${folder}/`))

/**
 * The scripts that commands in steering files name: their content is what would run. These are files of the project that appear in a
 * command, its arguments or its environment, the files that an interpreter would start in a named folder, and the scripts of
 * `package.json` and make. A path is relative to the project and to the folder `below` in it that contains the files. Files that these
 * scripts load are not followed.
 */
export async function namedScripts(root: string, files: readonly string[], below = ''): Promise<NamedScript[]> {
  const found = new Map<string, NamedScript>()
  const bases = below === '' ? ['.'] : ['.', below]
  for (const file of files.filter(isSettings))
    for (const command of commandsIn(await valueIn(join(root, file), root), bases))
      for (const script of await scriptsOf(command, root)) found.set(script.path, script)
  return [...found.values()]
}

/** A command in any of its forms: one line for a shell, or a program with arguments. */
type WrittenCommand = { words: string[]; folders: string[] }

/** The names under which settings have commands: `bash` in hooks of Copilot CLI, `notify` in Codex, the last two in Aider. */
const keys = new Set(['command', 'args', 'env', 'environment', 'setup', 'bash', 'notify', 'lint-cmd', 'test-cmd'])

/** Every command in a settings file, at any depth. */
function commandsIn(value: unknown, bases: readonly string[]): WrittenCommand[] {
  if (typeof value !== 'object' || value === null) return []
  const own = Array.isArray(value) ? [] : Object.entries(value).filter(([key]) => keys.has(key))
  const { cwd } = value as { cwd?: unknown }
  const inside = typeof cwd === 'string' ? wordsOf(cwd) : []
  const folders = bases.flatMap((base) => [base, ...inside.map((one) => (isAbsolute(one) ? one : join(base, one)))])
  const words = own.flatMap(([, one]) => textsIn(one)).flatMap(wordsOf)
  const deeper = Object.values(value).flatMap((one) => commandsIn(one, bases))
  return words.length > 0 ? [{ words, folders }, ...deeper] : deeper
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}

/** Splits at blanks, at the shell's special characters, and around variables, because a variable's default may also be a path. */
function wordsOf(text: string): string[] {
  return text.split(/[\s"'`;|&()<>=,]+|\$\{\w+:-|\$\{\w+\}\/?|\$\w+\/?|\}/).filter((word) => word !== '')
}

/** Programs that run a file from a folder, and the file names that they look for. */
const interpreters = /^(?:node|nodejs|bun|deno|tsx|ts-node|python[\d.]*|uv|go|ruby|php)$/
const entries = ['index.js', 'index.cjs', 'index.mjs', 'index.ts', '__main__.py', 'main.py', 'main.go', 'index.php']

const packageRunners = /^(?:npm|pnpm|yarn|bun|npx|pnpx|bunx|corepack)$/
const makefiles: Record<string, readonly string[]> = {
  make: ['GNUmakefile', 'makefile', 'Makefile'],
  just: ['justfile', 'Justfile', '.justfile'],
  task: ['Taskfile.yml', 'Taskfile.yaml'],
  docker: ['compose.yaml', 'compose.yml', 'docker-compose.yml', 'docker-compose.yaml'],
  deno: ['deno.json', 'deno.jsonc'],
}

async function scriptsOf({ words, folders }: WrittenCommand, root: string): Promise<NamedScript[]> {
  const programs = words.map((word) => basename(word))
  const runsFolders = programs.some((program) => interpreters.test(program))
  const runsPackages = programs.some((program) => packageRunners.test(program))
  const paths = words.flatMap((word) => [
    word,
    // A flag may have its value attached, and `python -m a.b` names a module.
    word.replace(/^-{1,2}[\w-]*/, ''),
    ...(runsFolders && /^\w[\w.]*$/.test(word) ? modulePaths(word) : []),
    ...(runsPackages ? [`node_modules/.bin/${word}`] : []),
    ...(makefiles[basename(word)] ?? []),
  ])
  const found: NamedScript[] = []
  for (const folder of folders)
    for (const path of paths) {
      const at = inProject(folder, path)
      const kind = at === undefined ? undefined : await kindOf(join(root, at))
      if (at !== undefined && kind === 'file') found.push({ path: at })
      if (at !== undefined && kind === 'folder' && runsFolders)
        for (const entry of entries)
          if ((await kindOf(join(root, at, entry))) === 'file') found.push({ path: join(at, entry) })
    }
  for (const folder of runsPackages ? folders : []) found.push(...(await packageScripts(folder, words, root)))
  return found
}

const modulePaths = (word: string) => {
  const path = word.replaceAll('.', '/')
  return [`${path}.py`, `${path}/__main__.py`]
}

/** The scripts of `package.json` that a command names, and the files that those scripts name. */
async function packageScripts(folder: string, words: readonly string[], root: string): Promise<NamedScript[]> {
  const at = inProject(folder, 'package.json')
  const { scripts } = ((at && (await valueIn(join(root, at), root))) ?? {}) as { scripts?: Record<string, unknown> }
  if (at === undefined || typeof scripts !== 'object' || scripts === null) return []
  const named = Object.entries(scripts).filter(
    ([name, script]) => typeof script === 'string' && words.some((word) => isScript(name, word)),
  )
  const inside = await Promise.all(
    // The text of a script names the scripts that it calls; a package runner inside it is not followed further.
    named.map(([, script]) =>
      scriptsOf(
        { words: wordsOf(String(script)).filter((word) => !packageRunners.test(word)), folders: [folder] },
        root,
      ),
    ),
  )
  return [
    ...named.map(([name, script]) => ({ path: `${at} (script ${name})`, part: String(script) })),
    ...inside.flat(),
  ]
}

/** Whether a word of a command runs a script: by its name, or as the step before or after it. */
const isScript = (name: string, word: string) => name === word || name === `pre${word}` || name === `post${word}`

/** A path from the project's folder; undefined for one that leads out of it. */
function inProject(folder: string, path: string): string | undefined {
  if (path === '' || path.startsWith('-') || path.includes('://') || path.includes('\0')) return undefined
  if (isAbsolute(path) || isAbsolute(folder)) return undefined
  const at = normalize(join(folder, path)).replace(/\/$/, '')
  return at === '..' || at.startsWith('../') ? undefined : at
}

async function kindOf(path: string): Promise<'file' | 'folder' | undefined> {
  const there = await stat(path).catch(() => lstat(path).catch(() => undefined))
  if (there?.isDirectory()) return 'folder'
  // A link that leads nowhere may lead to a script later.
  return there?.isFile() || there?.isSymbolicLink() ? 'file' : undefined
}

const longest = 1024 * 1024

/** The value in a JSON or YAML file; undefined if the file has no such value or cannot be read, because nothing in it runs then. */
async function valueIn(path: string, root: string): Promise<unknown> {
  try {
    const real = await realpath(path)
    const there = await stat(real)
    if (!isWithin(root, real) || !there.isFile() || there.size > longest) return undefined
    const text = await readFile(real, 'utf8')
    if (/\.ya?ml$/.test(path)) return (await import('../../base/text/yaml-parser.ts')).parse(text) as unknown
    if (path.endsWith('.toml')) return (await import('../../base/text/toml-parser.ts')).parseToml(text)
    const { parse } = await import('jsonc-parser')
    return parse(text, [], { allowTrailingComma: true }) as unknown
  } catch {
    return undefined
  }
}
