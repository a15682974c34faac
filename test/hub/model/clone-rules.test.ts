import { test } from 'node:test'
import assert from 'node:assert/strict'
import { allowedAddress, cloneKeys, cloneRule, mayClone } from '../../../src/hub/model/tasks/clone-rules.ts'
import { hasWorkspace, remoteAddress } from '../../../src/hub/model/tasks/workspace.ts'

const may = (rule: string, remote: string) => {
  const address = remoteAddress(remote)
  return address !== undefined && mayClone([rule], address)
}

test('a machine clones what its rules allow, over protocols that encrypt unless a rule names another', () => {
  const table: [string, string, boolean][] = [
    ['*', 'https://github.com/acme/shop', true],
    ['*', 'git@github.com:acme/shop.git', true],
    ['*', 'http://github.com/acme/shop', false],
    ['*', 'git://github.com/acme/shop', false],
    ['github.com/acme/*', 'git@github.com:Acme/Shop.git', true],
    ['github.com/acme/*', 'https://github.com/acme-evil/shop', false],
    ['github.com/acme/*', 'https://github.com.evil.example/acme/shop', false],
    ['github.com/acme/*', 'https://evil.example/github.com/acme/shop', false],
    ['github.com/acme/*', 'https://github.com@evil.example/acme/shop', false],
    ['github.com/acme/*', 'https://github.com:8443/acme/shop', false],
    ['github.com/acme/*', 'https://github.com/acme/../evil/shop', false],
    ['github.com/acme/*', 'https://github.com/acme/%2e%2e/evil/shop', false],
    ['github.com/acme/shop', 'https://github.com/acme/shop.git', true],
    ['github.com/acme/shop', 'https://github.com/acme/shop2', false],
    ['https://git.example:8443/*', 'https://git.example:8443/a/b', true],
    ['https://git.example:8443/*', 'https://git.example:9443/a/b', false],
    ['https://git.example:8443/*', 'ssh://git@git.example:8443/a/b', false],
    ['git://10.0.0.3/*', 'git://10.0.0.3/shop', true],
    ['*', 'ext::sh -c id', false],
    ['*', 'file:///etc', false],
    ['*', '--upload-pack=id', false],
  ]
  assert.deepEqual(
    table.map(([rule, remote]) => [rule, remote, may(rule, remote)]),
    table,
  )
  const wrong = [
    '',
    'github.com',
    'github.com/',
    '*/acme',
    'github.com/*/shop',
    'ext::sh/*',
    'file:///*',
    '/srv/*',
    '-x/*',
    'a b/*',
    'github.com/../*',
  ]
  assert.deepEqual(
    wrong.filter((rule) => cloneRule(rule) !== undefined),
    [],
  )
})

test('the keys that an agent registers are those of the repositories that it may clone', () => {
  const shop = 'git:github.com/acme/shop#1f2e3d4c5b6a'
  const rules = [
    ['*'],
    ['github.com/acme/*'],
    ['github.com/Acme/shop'],
    ['https://github.com/acme/other'],
    ['github.com/acm/*'],
  ]
  assert.deepEqual(
    rules.map((rule) => hasWorkspace(cloneKeys(rule), shop)),
    [true, true, true, false, false],
  )
})

test('a task cannot lead a clone to another repository than its own', () => {
  const shop = 'git:github.com/acme/shop#1f2e3d4c5b6a'
  const from = (remote?: string) => allowedAddress(['github.com/acme/*'], shop, remote)
  assert.deepEqual(
    [
      from('git@github.com:acme/shop.git'),
      from(),
      from('https://evil.example/acme/shop'),
      from('ext::sh -c id'),
      from('git://github.com/acme/shop'),
    ],
    ['git@github.com:acme/shop.git', ...Array<string>(4).fill('https://github.com/acme/shop')],
  )
  assert.equal(allowedAddress(['gitlab.com/*'], shop, undefined), undefined)
  assert.equal(allowedAddress(['*'], '/srv/shop', 'https://github.com/acme/shop'), undefined)
})
