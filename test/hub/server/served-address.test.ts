import { test } from 'node:test'
import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { addressesOf, servedAddress } from '../../../src/hub/server/served-address.ts'
import { goldenOf } from '../../golden.ts'

const golden = goldenOf(import.meta.filename)

const at = { host: '127.0.0.1', port: 3456 }
const anywhere = { host: '0.0.0.0', port: 3456 }
const publicUrl = 'https://hub.example'

const said = (...args: Parameters<typeof servedAddress>) => {
  try {
    servedAddress(...args)
    return 'taken'
  } catch (error) {
    return (error as Error).message
  }
}

test('beyond loopback the hub needs a certificate, or the addresses of its proxy and the public address', (t) => {
  golden(t, said(anywhere, { hub: {} }))
  assert.match(said({ ...anywhere, publicUrl }, { hub: {} }), /^--host: 0\.0\.0\.0 can be reached/)
  golden(t, said({ ...anywhere, behindProxy: '10.0.0.7' }, { hub: {} }))
  assert.equal(said({ ...anywhere, publicUrl, behindProxy: '10.0.0.7' }, { hub: {} }), 'taken')
  assert.equal(said(anywhere, { hub: { publicUrl, behindProxy: ['10.0.0.7'] } }), 'taken')
  assert.match(
    said({ ...anywhere, publicUrl, behindProxy: 'proxy' }, { hub: {} }),
    /^--behind-proxy: found "proxy", allowed: IP/,
  )
  golden(t, said({ ...at, tlsCert: 'a.pem' }, { hub: {} }))
  assert.match(said({ ...at, tlsCert: '/none.pem', tlsKey: '/none.key' }, { hub: {} }), /ENOENT|no such file/)
})

test('the header of a proxy is believed only from named addresses, and from this machine only with a secret', (t) => {
  const sso = { header: 'X-Forwarded-User', role: 'member' as const }
  const with_ = (more: object, behindProxy?: string) =>
    said(
      { ...at, publicUrl, ...(behindProxy === undefined ? {} : { behindProxy }) },
      { hub: { sso: { ...sso, ...more } } },
    )
  golden(t, with_({}))
  assert.equal(with_({}, '192.0.2.7'), 'taken')
  assert.equal(with_({ from: ['192.0.2.7'] }), 'taken')
  golden(t, with_({ from: ['127.0.0.0/8'] }))
  golden(t, with_({}, '::1'))
  const folder = mkdtempSync(join(tmpdir(), 'termaite-sso-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const secretFile = join(folder, 'secret')
  writeFileSync(secretFile, 'short', { mode: 0o600 })
  golden(t, with_({ from: ['127.0.0.1'], secretFile }), { [folder]: '<folder>' })
  writeFileSync(secretFile, 'a-made-up-secret-of-the-proxy\n')
  assert.equal(with_({ from: ['127.0.0.1'], secretFile }), 'taken')
  chmodSync(secretFile, 0o644)
  assert.match(with_({ from: ['127.0.0.1'], secretFile }), /other users can read/)
  for (const header of ['Cookie', 'authorization', 'X-Forwarded-For', 'x-termaite-page', 'a b', 'x:y', ''])
    golden(t, with_({ header, from: ['192.0.2.7'] }))
  assert.match(with_({ from: ['192.0.2.7'], roleHeader: 'X-Groups' }), /roleHeader needs roles/)
})

test('people are shown an address that they can use, and programs of this machine a loopback one', () => {
  const listening = { port: 3456, localUrl: 'http://0.0.0.0:3456' }
  assert.deepEqual(
    addressesOf(servedAddress({ ...anywhere, publicUrl, behindProxy: '10.0.0.7' }, { hub: {} }), listening),
    {
      shown: 'http://127.0.0.1:3456',
      local: 'http://127.0.0.1:3456',
    },
  )
  assert.deepEqual(addressesOf(at, { port: 3456, localUrl: 'http://[::]:3456' }).local, 'http://[::1]:3456')
})
