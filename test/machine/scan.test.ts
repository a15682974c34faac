import { test } from 'node:test'
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { arch } from 'node:os'
import { join } from 'node:path'
import { pathOf } from '../system-path.ts'
import { realClock } from '../../src/base/time/clock.ts'
import { HandClock } from '../hand-clock.ts'
import { processTable } from '../../src/base/process/process-table.ts'
import { quickScan } from '../../src/machine/quick-scan.ts'
import { osOf } from '../../src/machine/operating-system.ts'
import { fullScan } from '../../src/machine/full-scan.ts'
import { turning } from '../base/alive.ts'
import { until } from '../until.ts'
import { programs } from './folder.ts'

/** No program is given up before it has answered, however busy the machine is. */
const parts = (env: Record<string, string>) => ({ env, clock: realClock, root: false, limitMs: 60_000 })

test('a scan tells what is on the PATH, in the words of the programs themselves', async (t) => {
  const bin = programs(t, {
    git: '[ "$(pwd)" = / ] && [ -z "$GIT_DIR" ] && echo git version 2.40.1 && echo noise >&2',
    node: 'echo v22.1.0',
    python3: 'echo "3.12.4 True False"',
    ruby: 'echo "rbenv: version not installed" >&2; exit 127',
    rustc: 'echo rustc 1.80.0',
    bash: 'echo GNU bash, version 5.1.2',
    libreoffice: 'echo must not be run; touch "$0.ran"',
    'apt-get': 'exit 1',
    sudo: '[ "$*" = "-n true" ]',
  })
  mkdirSync(join(bin, 'docker'))
  writeFileSync(join(bin, 'jq'), 'not executable')
  const env = { PATH: `.:${bin}:/nowhere`, SHELL: '/bin/bash', GIT_DIR: '/x', https_proxy: 'http://me:pw@proxy:1' }
  const { spec, settled } = await fullScan(parts(env))
  await settled
  assert.deepEqual(spec, {
    os: await osOf(),
    shell: { type: 'bash', version: '5.1.2' },
    runtimes: {
      node: { version: '22.1.0' },
      python: { version: '3.12.4', pip: true, venv: false },
      rust: { version: '1.80.0' },
    },
    binaries: {
      bash: { path: join(bin, 'bash'), version: '5.1.2' },
      git: { path: join(bin, 'git'), version: '2.40.1' },
      libreoffice: { path: join(bin, 'libreoffice') },
    },
    packageManagers: ['apt'],
    sudoAvailable: true,
    network: { hasInternet: true, proxy: 'http://proxy:1' },
  })
  assert.equal(existsSync(join(bin, 'libreoffice.ran')), false)
})

test('a quick look starts no program, and knows the same except for facts that only a program can tell', async (t) => {
  const bin = programs(t, { git: 'touch "$0.ran"', python3: 'touch "$0.ran"', fish: 'touch "$0.ran"' })
  const { spec } = await quickScan(parts({ PATH: bin }))
  assert.deepEqual(
    { ...spec, os: undefined, network: undefined },
    {
      os: undefined,
      shell: { type: 'fish' },
      runtimes: { python: {} },
      binaries: { fish: { path: join(bin, 'fish') }, git: { path: join(bin, 'git') } },
      packageManagers: [],
      sudoAvailable: false,
      network: undefined,
    },
  )
  assert.deepEqual(
    ['git', 'python3', 'fish'].map((name) => existsSync(join(bin, `${name}.ran`))),
    [false, false, false],
  )
})

test('an environment with nothing in it is described as such', async () => {
  const { spec } = await fullScan(parts({}))
  assert.deepEqual(
    { ...spec, os: { arch: spec.os.arch }, network: undefined },
    {
      os: { arch: arch() },
      shell: { type: 'sh' },
      runtimes: {},
      binaries: {},
      packageManagers: [],
      sudoAvailable: false,
      network: undefined,
    },
  )
})

test('a program that hangs costs its time limit, delays no other, and is gone with all its processes', async (t) => {
  const bin = programs(t, {
    git: 'echo $$ > "$0.pid"; sleep 60 & wait',
    python3: 'sleep 60',
    sudo: 'cat; sleep 60',
    jq: 'until [ -e "$0.go" ]; do sleep 0.01; done; echo jq-1.7',
  })
  const clock = new HandClock()
  const scanning = fullScan({ ...parts({ PATH: pathOf(bin) }), clock, limitMs: 400 })
  // The time passes once three of them hang and the answer of the fourth has been read, whose limit nobody waits for then.
  await until(() => existsSync(join(bin, 'git.pid')) && clock.asleep === 4)
  writeFileSync(join(bin, 'jq.go'), '')
  await until(() => clock.asleep === 3)
  const { spec, settled } = await turning(clock, scanning)
  assert.deepEqual(spec.binaries.git, { path: join(bin, 'git') })
  assert.deepEqual(spec.binaries.jq, { path: join(bin, 'jq'), version: '1.7' })
  assert.deepEqual(spec.runtimes.python, {})
  assert.equal(spec.sudoAvailable, false)
  await turning(clock, settled)
  const pid = Number(readFileSync(join(bin, 'git.pid'), 'utf8'))
  assert.deepEqual(
    (await processTable()).filter(({ group }) => group === pid),
    [],
  )
})

test('a scan that is given up starts no further program, and leaves nothing behind', async (t) => {
  const bin = programs(t, { git: 'touch "$0.ran"', node: 'touch "$0.ran"' })
  const { spec, settled } = await fullScan({ ...parts({ PATH: bin }), signal: AbortSignal.abort() })
  await settled
  assert.deepEqual(spec.binaries, { git: { path: join(bin, 'git') } })
  assert.equal(existsSync(join(bin, 'git.ran')), false)
})
