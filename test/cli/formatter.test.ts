import type { TestContext } from 'node:test'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { modelServer } from '../real/model-server.ts'
import { forbiddenSandbox, noSandbox } from '../safety/no-sandbox.ts'
import { Machine } from './program.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const options = { timeout: 60_000 }

/** A project whose settings name formatters, and an agent that makes the file `a.js`. */
async function project(t: TestContext, formatter: unknown, own: object = {}, more: Record<string, string> = {}) {
  const machine = new Machine(t)
  const server = await modelServer(({ count }) =>
    count % 2 === 1
      ? { call: { tool: 'file_creator', input: { file_path: `${count}.js`, content: 'one()\n' } } }
      : { text: 'Made.' },
  )
  t.after(() => server.close())
  const agent = { model: 'anthropic/claude-sonnet-4-5', baseURL: `${server.url}/v1`, contextWindowTokens: 200_000 }
  machine.settings({
    metaInstruction: false,
    diagnostics: false,
    agents: [{ name: 'native', kind: 'native', ...agent }],
    ...own,
  })
  const bin = join(machine.project, 'node_modules/.bin')
  mkdirSync(bin, { recursive: true })
  mkdirSync(join(machine.project, '.termaite'))
  writeFileSync(join(machine.project, '.termaite/settings.json'), JSON.stringify({ formatter }))
  // A formatter of the project's own, which tells what it was given.
  writeFileSync(
    join(bin, 'fmt'),
    '#!/usr/bin/env bash\n[ "$1" = --write ] && sed -i "s/$/;/" "$2" && echo "$PWD $2" >> fmt.log\n',
  )
  chmodSync(join(bin, 'fmt'), 0o755)
  const env = { ANTHROPIC_API_KEY: 'made-up', ...more }
  const run = (...args: string[]) => machine.run(args, { env })
  return {
    machine,
    run,
    text: (name: string) => readFileSync(join(machine.project, name), 'utf8'),
    async make(...flags: string[]) {
      const { code, err } = await run('-p', 'make it', '--leash', 'edit', ...flags)
      assert.equal(code, 0, err)
      return machine.history().findLast((entry) => entry.type === 'result')!.text
    },
  }
}

test('the formatter of a trusted project runs after an edit, is told, and undo takes both back', options, async (t) => {
  const { machine, run, make, text } = await project(t, { '*.{js,ts}': 'fmt --write', '*.md': 'false' })
  assert.equal(await make(), 'Wrote 1.js (1 line).', 'nothing of a folder that is not trusted runs')
  const trusted = await run('trust', '--yes')
  assert.equal(trusted.code, 0, trusted.err)
  const shown = await run('trust')
  assert.match(trusted.out + shown.out, /formatter of \*\.\{js,ts\}: fmt --write/)
  assert.equal(
    await make(),
    'Wrote 3.js (1 line). The formatter (fmt --write) then changed 3.js:\n@@ line 1\n-one()\n+one();',
  )
  assert.equal(text('3.js'), 'one();\n')
  assert.equal(text('fmt.log'), `${machine.project} ${join(machine.project, '3.js')}\n`)
  const undone = await run('undo', '--yes')
  assert.equal(undone.code, 0, undone.err)
  assert.throws(() => text('3.js'))
  assert.equal(text('1.js'), 'one()\n')
})

test('a formatter that fails or may not run fails no edit, and says why', options, async (t) => {
  const { run, make, text } = await project(t, {
    '1.js': 'fmt --write',
    '3.js': 'echo "no config for ${FILE##*/}" >&2; exit 3',
    '*': '/nowhere/fmt $FILE',
  })
  await run('trust', '--yes')
  golden(t, await make('--deny', 'bash(fmt:*)'))
  assert.equal(
    await make(),
    'Wrote 3.js (1 line). The formatter (echo "no config for ${FILE##*/}" >&2; exit 3) failed on 3.js: no config for 3.js\n[exit code 3]',
  )
  assert.match(
    await make(),
    /^Wrote 5\.js \(1 line\)\. The formatter \(\/nowhere\/fmt \$FILE\) failed on 5\.js: .*\/nowhere\/fmt: No such file or directory\n\[exit code 127\]$/,
  )
  assert.deepEqual(['1.js', '3.js', '5.js'].map(text), ['one()\n', 'one()\n', 'one()\n'])
})

test(
  'a person’s own formatter has no program of the project, and "off" turns those of projects off',
  options,
  async (t) => {
    const own = await project(t, undefined, { formatter: { '*.js': 'sed -i s/one/two/ "$FILE"' } })
    await own.run('trust', '--yes')
    assert.match(
      await own.make(),
      /\(sed -i s\/one\/two\/ "\$FILE"\) then changed 1\.js:\n@@ line 1\n-one\(\)\n\+two\(\)$/,
    )
    const off = await project(t, { '*.js': 'fmt --write' }, { formatter: 'off' })
    await off.run('trust', '--yes')
    assert.equal(await off.make(), 'Wrote 1.js (1 line).')
  },
)

test('a formatter stands behind the wall and is on record', { ...options, skip: noSandbox }, async (t) => {
  const command = '(echo x > ../outside); fmt --write'
  const { machine, run, make, text } = await project(t, { '*.js': command })
  await run('trust', '--yes')
  assert.match(await make(), /then changed 1\.js:\n@@ line 1\n-one\(\)\n\+one\(\);$/)
  assert.deepEqual([existsSync(join(machine.project, '../outside')), text('1.js')], [false, 'one();\n'])
  const acts = (await run('audit', 'export')).out.split('\n').filter((line) => line.includes('"formatter"'))
  const { tool, what, verdict } = JSON.parse(acts[0]!)
  assert.deepEqual(
    { tool, what, verdict },
    { tool: 'formatter', what: command, verdict: 'yes: this formatter is in the trusted project' },
  )
})

test(
  'without a sandbox the formatter of a project runs once its folder is trusted, and no sooner',
  options,
  async (t) => {
    const bin = mkdtempSync(join(tmpdir(), 'termaite-test-'))
    t.after(() => rmSync(bin, { recursive: true }))
    const { run, make, text } = await project(t, { '*.js': 'fmt --write' }, {}, forbiddenSandbox(bin))
    await make()
    assert.equal(text('1.js'), 'one()\n')
    assert.equal((await run('trust', '--yes')).code, 0)
    await make()
    assert.equal(text('3.js'), 'one();\n')
  },
)
