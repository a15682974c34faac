import { test } from 'node:test'
import assert from 'node:assert/strict'
import {
  cloneAddress,
  folderIn,
  folderKey,
  hasWorkspace,
  remoteAddress,
  repositoryIn,
  repositoryKey,
  repositoryKeys,
  wholeName,
  workspaceName,
} from '../../../src/hub/model/tasks/workspace.ts'

const first = ['1f2e3d4c5b6a7988']
const keyOf = (remote: string) => repositoryKey({ remote, first })

test('every address of one repository gives one key', () => {
  const same = [
    [
      'git:github.com/acme/shop#1f2e3d4c5b6a',
      'https://github.com/acme/shop',
      'https://GitHub.com/Acme/Shop.git/',
      'https://anna:secret@github.com:443/acme/shop.git',
      'http://github.com/acme/shop',
      'git@github.com:acme/shop.git',
      'github.com:/acme/shop',
      'ssh://git@github.com/acme/shop.git',
      'ssh://git@ssh.github.com:443/acme/shop.git',
      'git+ssh://git@github.com/acme/shop',
      'git://github.com/acme//shop.git',
    ],
    [
      'git:git.example/Acme/shop#1f2e3d4c5b6a',
      'ssh://git@git.example:2222/Acme/shop',
      'https://git.example:8443/Acme/shop.git',
    ],
    [
      'git:dev.azure.com/org/proj/repo#1f2e3d4c5b6a',
      'git@ssh.dev.azure.com:v3/org/proj/repo',
      'https://org@dev.azure.com/org/proj/_git/repo',
    ],
    ['git:xn--bcher-kva.example/a/b#1f2e3d4c5b6a', 'https://bücher.example/a/b', 'git@BÜCHER.example:a/b'],
    ['git:[::1]/a/b#1f2e3d4c5b6a', 'ssh://git@[::1]:22/a/b', '[::1]:a/b'],
  ]
  for (const [key, ...remotes] of same)
    assert.deepEqual(
      remotes.map(keyOf),
      remotes.map(() => key),
    )
  assert.notEqual(
    keyOf('https://git.example/acme/shop'),
    keyOf('https://git.example/Acme/shop'),
    'a host of its own may tell cases apart',
  )
  assert.notEqual(keyOf('https://github.com/acme/shop'), keyOf('https://github.com/forked/shop'))
  assert.notEqual(
    repositoryKey({ remote: 'a.example:x', first: ['aa'] }),
    repositoryKey({ remote: 'a.example:x', first: ['bb'] }),
    'another history under the same address is another repository',
  )
})

test('an address that another machine cannot use, or that would start a program, is no identity', () => {
  const refused = [
    '',
    '/srv/git/shop.git',
    '../shop',
    'file:///srv/git/shop.git',
    'ext::sh -c "touch /tmp/x"',
    'ext::sh',
    'fd::17/foo',
    'transport::https://github.com/a/b',
    '--upload-pack=touch /tmp/x',
    '-oProxyCommand=x:a',
    'ssh://-oProxyCommand=x/a',
    'https://-evil.example/a',
    'git@-evil.example:a/b',
    'host:-x',
    'https://github.com/a/../b',
    'https://github.com/a/%2e%2e/b',
    'https://github.com/a/%2fb%00c',
    'https://github.com/a b/c',
    'https://github.com/a/b?x=1',
    'https://github.com/a/b#c',
    'https://github.com/a/*',
    'https://github.com/',
    'ftp://github.com/a/b',
    'x/a:b',
    'C:\\x',
    'a.example:x\ny',
  ]
  assert.deepEqual(
    refused.filter((remote) => remoteAddress(remote) !== undefined),
    [],
  )
})

test('a clone address keeps its form and loses its login', () => {
  assert.deepEqual(
    [
      'https://anna:secret@GitHub.com/acme/shop.git',
      'ssh://anna:secret@git.example:2222/acme/shop',
      'git@github.com:acme/shop.git',
      'ext::sh',
    ].map(cloneAddress),
    [
      'https://GitHub.com/acme/shop.git',
      'ssh://anna@git.example:2222/acme/shop',
      'git@github.com:acme/shop.git',
      undefined,
    ],
  )
})

test('an agent has a workspace by its history, or takes all of a remote, a host or everything', () => {
  const remote = 'git@github.com:acme/shop.git'
  const shop = keyOf(remote)!
  const unknown = repositoryKey({ remote, first: [] })!
  const full = repositoryKeys({ remote, first: ['0000aaaabbbbcccc', ...first] })
  const shallow = repositoryKeys({ remote, first: [] })
  assert.deepEqual(
    [full, shallow],
    [
      ['git:github.com/acme/shop#0000aaaabbbb', 'git:github.com/acme/shop#1f2e3d4c5b6a', 'git:github.com/acme/shop#'],
      ['git:github.com/acme/shop#*'],
    ],
  )
  const table = [
    [full, shop, true],
    [full, unknown, true],
    [shallow, shop, true],
    [shallow, unknown, true],
    [full, repositoryKey({ remote, first: ['99'] }), false],
    [['git:*'], shop, true],
    [['git:github.com/acme/*'], shop, true],
    [['git:github.com/acm/*'], shop, false],
    [['git:gitlab.com/*'], shop, false],
    [['git:*'], '/shop', false],
    [['git:*'], 'at:desk:/shop', false],
    [['/*'], '/shop', false],
    [['/shop'], '/shop', true],
  ] as const
  assert.deepEqual(
    table.map(([keys, workspace]) => hasWorkspace(keys, workspace!)),
    table.map(([, , has]) => has),
  )
})

test('screens name a repository by its owner and name, and a folder by its path and machine', () => {
  const keys = [
    'git:github.com/acme/shop#1f2e3d4c5b6a',
    'git:git.example/a/b/c#',
    folderKey('build-7', '/srv/a:b'),
    '/srv/shop',
  ]
  assert.deepEqual(keys.map(workspaceName), ['acme/shop', 'b/c', '/srv/a:b on build-7', '/srv/shop'])
  assert.deepEqual(keys.map(wholeName), [
    'github.com/acme/shop',
    'git.example/a/b/c',
    '/srv/a:b on build-7',
    '/srv/shop',
  ])
  assert.deepEqual(keys.map(repositoryIn), [
    { host: 'github.com', path: 'acme/shop', first: '1f2e3d4c5b6a' },
    { host: 'git.example', path: 'a/b/c', first: '' },
    undefined,
    undefined,
  ])
  assert.deepEqual(keys.map(folderIn), [
    undefined,
    undefined,
    { machine: 'build-7', path: '/srv/a:b' },
    { path: '/srv/shop' },
  ])
})
