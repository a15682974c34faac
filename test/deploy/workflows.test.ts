import { test } from 'node:test'
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'

type Step = { uses?: string; run?: string; name?: string }
type Job = { needs?: string[]; uses?: string; steps?: Step[]; permissions?: Record<string, string> }
type Workflow = { on: Record<string, unknown>; permissions: Record<string, string>; jobs: Record<string, Job> }

const root = join(import.meta.dirname, '..', '..')
const text = (path: string) => readFileSync(join(root, path), 'utf8')
const manifest = JSON.parse(text('package.json')) as { version: string; scripts: Record<string, string> }
const files = globSync('.github/workflows/*.yml', { cwd: root }).sort()
const workflows = new Map(files.map((file) => [file, parse(text(file)) as Workflow]))

test('every script, file and job that a workflow names exists', () => {
  assert.deepEqual(files, ['.github/workflows/check.yml', '.github/workflows/release.yml'])
  for (const [file, { jobs, permissions }] of workflows) {
    assert.deepEqual(permissions, { contents: 'read' }, file)
    const words = JSON.stringify(jobs)
    for (const [, name] of words.matchAll(/npm run ([\w:]+)/g)) assert.ok(manifest.scripts[name!], `${file}: ${name}`)
    for (const [path] of words.matchAll(/\b(?:scripts|bin|test)\/[\w./-]+\.\w+/g))
      assert.ok(existsSync(join(root, path)), `${file}: ${path}`)
    for (const [name, { needs = [], uses, steps = [] }] of Object.entries(jobs)) {
      assert.deepEqual(
        needs.filter((one) => !(one in jobs)),
        [],
        `${file}: ${name}`,
      )
      if (uses !== undefined) assert.ok(existsSync(join(root, uses)), `${file}: ${uses}`)
      for (const step of steps) {
        assert.equal((step.uses === undefined) !== (step.run === undefined), true, `${file}: ${name}`)
      }
    }
  }
})

test('every action is pinned by the hash of a commit, with its version beside it, and each action has one pin', () => {
  const pins = files.flatMap((file) =>
    text(file)
      .split('\n')
      .flatMap((line) => /^\s*(?:- )?uses: (?!\.\/)(.*)$/.exec(line)?.[1] ?? []),
  )
  assert.ok(pins.length > 0)
  for (const pin of pins) assert.match(pin, /^actions\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
  const actions = [...new Set(pins)].map((pin) => pin.split('@')[0])
  assert.deepEqual([...new Set(actions)], actions)
})

test('the job that npm trusts checks nothing out, installs nothing and runs no script of the package', () => {
  const { jobs } = workflows.get('.github/workflows/release.yml')!
  const trusted = Object.values(jobs).filter(({ permissions }) => permissions?.['id-token'] === 'write')
  assert.equal(trusted.length, 1)
  const steps = trusted[0]!.steps!
  assert.deepEqual(
    steps.flatMap(({ uses }) => uses?.split('@')[0] ?? []),
    ['actions/setup-node', 'actions/download-artifact'],
  )
  const programs = steps.flatMap(({ run = '' }) =>
    run
      .replaceAll('\\\n', ' ')
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line) => line.trim().split(/\s+/).slice(0, 2).join(' ')),
  )
  assert.deepEqual(programs, ['npm publish', 'sha256sum --check', 'cat ./*.sha256', 'gh release'])
  assert.match(steps.find(({ run }) => run?.startsWith('npm publish'))!.run!, / --ignore-scripts /)
})

test('a release publishes only after the whole check, and only the last job may write', () => {
  const { on, jobs } = workflows.get('.github/workflows/release.yml')!
  assert.deepEqual(on, { push: { tags: ['v*'] } })
  const check = workflows.get('.github/workflows/check.yml')!
  assert.ok('workflow_call' in check.on)
  assert.deepEqual(
    Object.entries(jobs).map(([name, { needs, uses, permissions }]) => ({ name, needs, uses, permissions })),
    [
      { name: 'check', needs: undefined, uses: './.github/workflows/check.yml', permissions: undefined },
      { name: 'notes', needs: undefined, uses: undefined, permissions: undefined },
      { name: 'binaries', needs: ['check', 'notes'], uses: undefined, permissions: undefined },
      { name: 'package', needs: ['check', 'notes'], uses: undefined, permissions: undefined },
      {
        name: 'publish',
        needs: ['binaries', 'package'],
        uses: undefined,
        permissions: { contents: 'write', 'id-token': 'write' },
      },
    ],
  )
})

const notes = (tag: string) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, 'scripts/release-notes.ts'), tag], {
    encoding: 'utf8',
  })
  return { status, stdout, stderr }
}

test('the notes of a release are its part of the changelog, and a tag with another version makes none', () => {
  const [, own] = new RegExp(`^## ${manifest.version}.*\\n([^]*?)(?=^## |$(?![^]))`, 'm').exec(text('CHANGELOG.md'))!
  assert.deepEqual(notes(`v${manifest.version}`), { status: 0, stdout: `${own!.trim()}\n`, stderr: '' })
  assert.deepEqual(notes('v0.0.9'), {
    status: 1,
    stdout: '',
    stderr: `release-notes: package.json has the version ${manifest.version}, not 0.0.9\n`,
  })
})
