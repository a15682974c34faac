import type { SystemSpec } from '../../src/core/profile/system-spec.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { projectChecks } from '../../src/think/project-checks.ts'
import { machines } from './machines.ts'

const there = { path: '/usr/bin/it' }
const able: SystemSpec = {
  ...machines.bare,
  runtimes: { ...machines.bare.runtimes, go: {}, rust: {}, ruby: {} },
  binaries: Object.fromEntries(
    ['make', 'pnpm', 'yarn', 'bun', 'deno', 'uv', 'php', 'java'].map((name) => [name, there]),
  ),
}

async function checksOf(files: Record<string, string>, spec = able) {
  const tools = { read: async (path: string) => files[path], use: () => assert.fail('nothing is run') }
  const { checks, missing } = await projectChecks({ tools, machine: { spec, description: '' } })
  const commands = checks.map((check) => (check.kind === 'command' ? check.command : check.kind))
  return missing.length > 0 ? { commands, missing } : commands
}

const scripts = (all: Record<string, string>, more = {}) => JSON.stringify({ scripts: all, ...more })

const projects: [what: string, files: Record<string, string>, commands: string[]][] = [
  ['nothing', {}, []],
  ['npm', { 'package.json': scripts({ test: 'node --test', build: 'tsc' }) }, ['npm run build', 'npm test']],
  [
    'npm without a build',
    { 'package.json': scripts({ typecheck: 'tsc', test: 'x' }) },
    ['npm run typecheck', 'npm test'],
  ],
  ["npm's own empty test", { 'package.json': scripts({ test: 'echo "Error: no test specified" && exit 1' }) }, []],
  ['tests that wait for keys', { 'package.json': scripts({ test: 'vitest --watch' }) }, []],
  ['tests that do not', { 'package.json': scripts({ test: 'jest --watch=false' }) }, ['npm test']],
  ['no scripts', { 'package.json': '{"name":"x"}' }, []],
  ['a broken package.json', { 'package.json': '{"scripts": {"test"' }, []],
  ['scripts of a strange kind', { 'package.json': '{"scripts":{"test":["a"]}}' }, []],
  ['a lock of pnpm', { 'package.json': scripts({ test: 'x' }), 'pnpm-lock.yaml': '' }, ['pnpm test']],
  ['a lock of yarn', { 'package.json': scripts({ build: 'x' }), 'yarn.lock': '' }, ['yarn run build']],
  ['a lock of bun', { 'package.json': scripts({ test: 'x' }), 'bun.lock': '' }, ['bun run test']],
  [
    'a named manager',
    { 'package.json': scripts({ test: 'x' }, { packageManager: 'pnpm@10.1.0' }), 'yarn.lock': '' },
    ['pnpm test'],
  ],
  [
    'a manager that would be a command',
    { 'package.json': scripts({ test: 'x' }, { packageManager: 'rm -rf /;@1' }) },
    ['npm test'],
  ],
  ['make', { Makefile: 'CC := gcc\nbuild: main.o\n\tcc\ntest: build\n\t./t\n' }, ['make build', 'make test']],
  ['make check', { GNUmakefile: 'all:\n\ttrue\ncheck :\n\ttrue\n' }, ['make check']],
  ['make that only sets', { Makefile: 'test := 1\ntests = 2\nretest:\n\ttrue\n' }, []],
  ['make over npm', { Makefile: 'test:\n\tnpm test\n', 'package.json': scripts({ test: 'x' }) }, ['make test']],
  ['just', { justfile: 'build:\n  x\ntest filter="":\n  y\n' }, ['just build', 'just test']],
  ['cargo', { 'Cargo.toml': '[package]\nname = "x"\n' }, ['cargo build', 'cargo test']],
  ['a cargo workspace', { 'Cargo.toml': '[workspace]\n' }, ['cargo build --workspace', 'cargo test --workspace']],
  ['go', { 'go.mod': 'module x\n' }, ['go build ./...', 'go test ./...']],
  ['pytest', { 'pyproject.toml': '[tool.pytest.ini_options]\n' }, ['python3 -m pytest']],
  ['python without pytest', { 'pyproject.toml': '[project]\nname = "x"\n' }, []],
  ['pytest in a venv', { 'pytest.ini': '', '.venv/pyvenv.cfg': '' }, ['.venv/bin/python -m pytest']],
  ['uv', { 'tests/conftest.py': '', 'uv.lock': '' }, ['uv run pytest']],
  ['poetry', { 'setup.cfg': '[metadata]\n[tool:pytest]\n', 'poetry.lock': '' }, ['poetry run pytest']],
  ['unittest', { 'tests/__init__.py': '' }, ['python3 -m unittest discover']],
  ['django', { 'manage.py': '' }, ['python3 manage.py test']],
  ['composer', { 'composer.json': scripts({ test: 'phpunit' }) }, ['composer test']],
  ['phpunit', { 'composer.json': '{}', 'phpunit.xml.dist': '' }, ['vendor/bin/phpunit']],
  ['deno', { 'deno.json': '{"tasks":{"test":"deno test -A"}}' }, ['deno task test']],
  ['rspec', { '.rspec': '' }, ['bundle exec rspec']],
  ['maven', { 'pom.xml': '', mvnw: '' }, ['./mvnw compile', './mvnw test']],
  ['gradle', { 'build.gradle.kts': '' }, ['gradle assemble', 'gradle test']],
  [
    'two languages',
    { 'go.mod': '', 'package.json': scripts({ test: 'x' }) },
    ['npm test', 'go build ./...', 'go test ./...'],
  ],
]

for (const [what, files, commands] of projects)
  test(`the commands that build and test a project: ${what}`, async () => {
    assert.deepEqual(await checksOf(files), commands)
  })

test('a check whose program this machine lacks is reported, and not run', async () => {
  const files = { 'Cargo.toml': '', 'package.json': scripts({ test: 'x' }) }
  assert.deepEqual(await checksOf(files, machines.bare), { commands: ['npm test'], missing: ['cargo'] })
  assert.deepEqual(await checksOf(files, machines.nothing), { commands: [], missing: ['npm', 'cargo'] })
})
