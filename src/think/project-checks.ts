import type { SystemSpec } from '../core/profile/system-spec.ts'
import type { Check } from './goal-check.ts'
import type { FrameworkTools, Resources } from './resources.ts'

/** The commands that build and test a project, build first; `missing`: programs for them that this machine lacks. */
type ProjectChecks = { checks: (Check & { kind: 'command' })[]; missing: string[] }

/** Finds the checks by the files in the folder: a make file covers everything below it, otherwise each language is handled separately. */
export async function projectChecks({ tools, machine }: Pick<Resources, 'tools' | 'machine'>): Promise<ProjectChecks> {
  const commands = (await found(umbrellas)).slice(0, 1).flat()
  if (commands.length === 0) commands.push(...(await found(languages)).flat())
  const able = commands.filter((command) => isInstalled(programOf(command), machine.spec))
  const missing = commands.filter((command) => !able.includes(command)).map(programOf)
  return { checks: able.map((command) => ({ kind: 'command', command })), missing: [...new Set(missing)] }

  function read(path: string) {
    return tools.read(path).catch(() => undefined)
  }

  async function found(kinds: typeof languages): Promise<string[][]> {
    const all = await Promise.all(kinds.map((kind) => kind(read)))
    return all.filter((some) => some.length > 0)
  }
}

/** One kind of project: returns the commands with which its users build and test it, build first; empty for other projects. */
type ProjectKind = (read: FrameworkTools['read']) => Promise<string[]>

/** Files that say how everything in a folder is built and tested, in any language; such a file only counts if it has a test target. */
const umbrellas: readonly ProjectKind[] = [
  async (read) => targets('make', '[^:=\\n]', await firstOf(read, 'GNUmakefile', 'makefile', 'Makefile')),
  async (read) => targets('just', '[^:\\n]', await firstOf(read, 'justfile', 'Justfile', '.justfile')),
]

/** `before`: the text that may be between a target's name and its colon. */
function targets(program: string, before: string, text = ''): string[] {
  const has = (name: string) => new RegExp(`^${name}(?:[ \\t]${before}*)?:(?!=)`, 'm').test(text)
  const test = ['test', 'tests', 'check'].find(has)
  if (test === undefined) return []
  return [...(has('build') ? [`${program} build`] : []), `${program} ${test}`]
}

const byFile = (path: string, ...commands: string[]): ProjectKind => {
  return async (read) => ((await read(path)) === undefined ? [] : commands)
}

const cargo: ProjectKind = async (read) => {
  const text = await read('Cargo.toml')
  const all = text !== undefined && /^\[workspace\]/m.test(text) ? ' --workspace' : ''
  return text === undefined ? [] : [`cargo build${all}`, `cargo test${all}`]
}

const composer: ProjectKind = async (read) => {
  if (wordsIn(objectIn(await read('composer.json')), 'scripts')['test'] !== undefined) return ['composer test']
  return (await firstOf(read, 'phpunit.xml', 'phpunit.xml.dist')) === undefined ? [] : ['vendor/bin/phpunit']
}

const deno: ProjectKind = async (read) => {
  const text = await firstOf(read, 'deno.json', 'deno.jsonc')
  if (text === undefined) return []
  return [wordsIn(objectIn(text), 'tasks')['test'] === undefined ? 'deno test' : 'deno task test']
}

const gradle: ProjectKind = async (read) => {
  if ((await firstOf(read, 'build.gradle', 'build.gradle.kts')) === undefined) return []
  const program = (await read('gradlew')) === undefined ? 'gradle' : './gradlew'
  return [`${program} assemble`, `${program} test`]
}

const maven: ProjectKind = async (read) => {
  if ((await read('pom.xml')) === undefined) return []
  const program = (await read('mvnw')) === undefined ? 'mvn' : './mvnw'
  return [`${program} compile`, `${program} test`]
}

const locks = [
  ['pnpm-lock.yaml', 'pnpm'],
  ['yarn.lock', 'yarn'],
  ['bun.lock', 'bun'],
  ['bun.lockb', 'bun'],
] as const

/** The placeholder that npm writes, and test runners that wait for keystrokes. */
const noCheck = /no test specified|--watch(?!=false)|react-scripts test/

const packageJson: ProjectKind = async (read) => {
  const own = objectIn(await read('package.json'))
  const scripts = wordsIn(own, 'scripts')
  const runner = runnerIn(own) ?? (await runnerBy(read))
  const build = ['build', 'typecheck'].find((name) => scripts[name] !== undefined)
  const isTested = scripts['test'] !== undefined && !noCheck.test(scripts['test'])
  return [
    ...(build !== undefined && !noCheck.test(scripts[build]!) ? [`${runner} run ${build}`] : []),
    // `bun test` is a separate program, not the script of that name.
    ...(isTested ? [runner === 'bun' ? 'bun run test' : `${runner} test`] : []),
  ]
}

function runnerIn({ packageManager }: Record<string, unknown>): string | undefined {
  return typeof packageManager === 'string' ? /^(npm|pnpm|yarn|bun)@/.exec(packageManager)?.[1] : undefined
}

async function runnerBy(read: Parameters<ProjectKind>[0]): Promise<string> {
  for (const [file, runner] of locks) if ((await read(file)) !== undefined) return runner
  return 'npm'
}

/** Files in which a project says that pytest tests it. */
const configured = [
  ['pytest.ini', /^/],
  ['conftest.py', /^/],
  ['tests/conftest.py', /^/],
  ['pyproject.toml', /pytest/],
  ['setup.cfg', /^\[tool:pytest\]/m],
  ['tox.ini', /^\[pytest\]/m],
  ['requirements-dev.txt', /^pytest\b/m],
  ['requirements.txt', /^pytest\b/m],
] as const

/** Package managers by their lock file, and how each runs a program with the project's packages. */
const among = [
  ['uv.lock', 'uv run'],
  ['poetry.lock', 'poetry run'],
  ['pdm.lock', 'pdm run'],
  ['Pipfile.lock', 'pipenv run'],
  ['.venv/pyvenv.cfg', '.venv/bin/python -m'],
  ['venv/pyvenv.cfg', 'venv/bin/python -m'],
] as const

const python: ProjectKind = async (read) => {
  const files = await Promise.all(configured.map(([path]) => read(path)))
  if (!configured.some(([, says], at) => files[at] !== undefined && says.test(files[at]))) return unconfigured(read)
  for (const [path, run] of among) if ((await read(path)) !== undefined) return [`${run} pytest`]
  return ['python3 -m pytest']
}

/** The test runner of the language, or of Django. */
const unconfigured: ProjectKind = async (read) => {
  if ((await read('manage.py')) !== undefined) return ['python3 manage.py test']
  return (await read('tests/__init__.py')) === undefined ? [] : ['python3 -m unittest discover']
}

/** Each language, recognized by the file that its projects have. */
const languages: readonly ProjectKind[] = [
  packageJson,
  deno,
  cargo,
  byFile('go.mod', 'go build ./...', 'go test ./...'),
  python,
  composer,
  byFile('.rspec', 'bundle exec rspec'),
  byFile('mix.exs', 'mix compile', 'mix test'),
  maven,
  gradle,
  byFile('Package.swift', 'swift build', 'swift test'),
]

/** The text of the first of these files that exists. */
async function firstOf(read: FrameworkTools['read'], ...paths: string[]): Promise<string | undefined> {
  for (const path of paths) {
    const text = await read(path)
    if (text !== undefined) return text
  }
  return undefined
}

/** Parses a JSON object; broken JSON counts as an empty one. */
function objectIn(text: string | undefined): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text ?? '')
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}

/** The text properties of the object in a field. */
function wordsIn(object: Record<string, unknown>, field: string): Record<string, string> {
  const inner = object[field]
  if (typeof inner !== 'object' || inner === null) return {}
  return Object.fromEntries(Object.entries(inner).filter(([, value]) => typeof value === 'string'))
}

const programOf = (command: string) => command.split(' ')[0]!

/** The part of the machine spec that shows whether a program is installed; programs that are not listed are simply tried. */
const needs: Readonly<Record<string, (spec: SystemSpec) => unknown>> = {
  npm: ({ runtimes }) => runtimes.node,
  pnpm: ({ binaries }) => binaries['pnpm'],
  yarn: ({ binaries }) => binaries['yarn'],
  bun: ({ binaries }) => binaries['bun'],
  deno: ({ binaries }) => binaries['deno'],
  make: ({ binaries }) => binaries['make'],
  cargo: ({ runtimes }) => runtimes.rust,
  go: ({ runtimes }) => runtimes.go,
  python3: ({ runtimes }) => runtimes.python,
  uv: ({ binaries }) => binaries['uv'],
  bundle: ({ runtimes }) => runtimes.ruby,
  composer: ({ binaries }) => binaries['php'],
  'vendor/bin/phpunit': ({ binaries }) => binaries['php'],
  mvn: ({ binaries }) => binaries['java'],
  './mvnw': ({ binaries }) => binaries['java'],
  gradle: ({ binaries }) => binaries['java'],
  './gradlew': ({ binaries }) => binaries['java'],
}

function isInstalled(program: string, spec: SystemSpec): boolean {
  const need = needs[program]
  return need === undefined || need(spec) !== undefined
}
