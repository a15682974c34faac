import { test } from 'node:test'
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { withQuietGit } from '../../src/base/files/git.ts'
import { isSecretName, keyPathspecs, secretFilesIn } from '../../src/safety/secret-files.ts'
import { until } from '../until.ts'
import { give, groundsOf, runBehindWall, wallUsers } from './behind-wall.ts'

test('the files with keys of a project are found by their names, at any depth, but not in other people’s folders', async (t) => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'termaite-keys-')))
  t.after(() => rmSync(root, { recursive: true }))
  for (const path of [
    '.env',
    '.env.example',
    'a/b/c/id_rsa',
    'a/tls.pem',
    'a/app.ts',
    'node_modules/x/.env',
    '.git/x.key',
  ]) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), 'x')
  }
  symlinkSync('.env', join(root, 'c.pem'))
  assert.deepEqual(
    (await secretFilesIn(root)).toSorted(),
    ['.env', 'a/b/c/id_rsa', 'a/tls.pem'].map((path) => join(root, path)),
  )
})

test('many new files and folders do not uncover the files with keys that were there before', async (t) => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'termaite-keys-')))
  t.after(() => rmSync(root, { recursive: true }))
  mkdirSync(join(root, 'packages/api'), { recursive: true })
  writeFileSync(join(root, 'packages/api/.env'), 'x')
  writeFileSync(join(root, 'zz.pem'), 'x')
  const { birthtimeMs } = statSync(join(root, 'zz.pem'))
  // Files count as new once the clock of the disk has moved on.
  await until(() => {
    writeFileSync(join(root, 'now'), '')
    const { birthtimeMs: now } = statSync(join(root, 'now'))
    rmSync(join(root, 'now'))
    return now > birthtimeMs
  })
  for (let at = 0; at < 1_100; at++) mkdirSync(join(root, `a${at}`))
  for (let at = 0; at < 250; at++) writeFileSync(join(root, `a${at}.pem`), 'x')
  const found = await secretFilesIn(root)
  assert.deepEqual(
    [found.length, found.includes(join(root, 'packages/api/.env')), found.includes(join(root, 'zz.pem'))],
    [200, true, true],
  )
})

for (const user of wallUsers)
  test(
    `a hidden file stays hidden when a command moves the folders around it, as ${user.name}`,
    { skip: user.skip },
    async (t) => {
      const { root, home } = groundsOf(t, user)
      mkdirSync(join(root, 'packages/api/src'), { recursive: true })
      mkdirSync(join(root, '.claude/deep'), { recursive: true })
      const hidden = ['packages/api/.env', '.claude/deep/x.pem'].map((path) => join(root, path))
      for (const path of hidden) writeFileSync(path, 'a made-up key')
      if (user.id) give(root, user.id)
      const results = await runBehindWall(user, { root, home, hidden }, [
        'mv packages/api moved; mv packages moved; mkdir node_modules; mv packages node_modules/x; mv packages/api/.env e; echo x > .claude/deep/new',
        'mv packages/api/src packages/api/lib && echo made > packages/api/lib/code && rm packages/api/lib/code',
        'grep -rhs made-up .; true',
      ])
      assert.deepEqual(
        results.map(({ code, out }) => [code, out]),
        [
          [1, ''],
          [0, ''],
          [0, ''],
        ],
      )
      assert.deepEqual(readdirSync(join(root, '.claude/deep')), ['x.pem'])
    },
  )

/** Names of files with keys, and names that only look like them. */
const keys = [
  ...[
    '.env',
    '.env.local',
    '.env.production.local',
    '.env-prod',
    '.env_staging',
    '.ENV',
    '.envrc',
    '.env~',
    '.env.bak',
  ],
  ...['prod.env', 'tls.pem', 'server.key', 'cert.P12', 'app.p8', 'host.keytab', 'office.ovpn', 'tls.pem.bak'],
  ...['id_rsa', 'id_ed25519', 'id_ecdsa_sk', 'id_github', 'id_work-laptop', 'id_rsa.old'],
  ...['kubeconfig', 'kubeconfig.yaml', 'kubeconfig-prod', 'prod.kubeconfig', '.netrc', '.npmrc', '.s3cfg'],
  ...['credentials.json', 'secrets.yml', 'service-account-prod.json', 'terraform.tfstate', '.git-credentials'],
]
const others = [
  ...['.env.example', '.env.sample', '.env-template', '.env.dist', '.envoy', 'environment.ts', 'env.ts', 'id_rsa.pub'],
  ...['id_map.ts', 'id_generator.py', 'ids', 'identity', 'kubeconfigs', 'keys.ts', 'keyboard.tsx', 'monkey'],
  ...['secretary.md', 'credentials.ts', 'package.json', 'pem.go'],
]

test('files with keys are known by the patterns of their names, and files that only look like them are not', () => {
  assert.deepEqual(
    keys.filter((name) => !isSecretName(`/p/${name}`)),
    [],
  )
  assert.deepEqual(
    others.filter((name) => isSecretName(`/p/${name}`)),
    [],
  )
})

test('git leaves out the same files by the same list, in every folder, and shows the others', (t) => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'termaite-keys-')))
  t.after(() => rmSync(root, { recursive: true }))
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: root, env: withQuietGit({ PATH: process.env.PATH, HOME: root }, root) }).toString()
  // Folders that are named like a file with keys hold sources.
  const inside = ['secrets/a.ts', 'credentials/b.ts', 'kubeconfig/c.go', 'id_rsa/d.ts', 'deep/secret/e.ts']
  const there = [...keys, ...others].flatMap((name) => [`here/${name}`, `at/a/depth/${name}`, `top-${name}`])
  git('init', '-q')
  for (const path of [...there, ...inside, ...keys.filter((name) => name !== 'kubeconfig' && name !== 'id_rsa')]) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), 'x')
  }
  git('add', '-A')
  const shown = git('ls-files', '-z', '--', ':(top)', ...keyPathspecs()).split('\0')
  assert.deepEqual(
    shown.filter((path) => isSecretName(path)),
    [],
  )
  const all = git('ls-files', '-z').split('\0')
  assert.deepEqual(
    all.filter((path) => !isSecretName(path) && !shown.includes(path)).toSorted(),
    // Git knows no exception in an exception.
    all.filter((path) => /(?:^|\/)\.env[.-](?:example|sample|template|dist)$/.test(path)).toSorted(),
  )
})
