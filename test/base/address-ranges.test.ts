import { test } from 'node:test'
import assert from 'node:assert/strict'
import { AddressRanges, networkOf, plainAddress } from '../../src/base/http/address-ranges.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

test('an address is in a range by its bits, in both families, however a socket writes it', () => {
  const ranges = AddressRanges.read('10.0.0.7, 10.1.0.0/16,fd00::/8, 2001:db8::5')
  const inside = ['10.0.0.7', '10.1.255.255', 'fd12::1', '2001:db8:0:0::5', '::ffff:10.0.0.7']
  const outside = ['10.0.0.8', '10.2.0.0', 'fe80::1', '2001:db8::6', '', 'unknown', '10.0.0.7 ', '10.0.0.07', '_hidden']
  assert.deepEqual(
    inside.map((each) => ranges.has(each)),
    inside.map(() => true),
  )
  assert.deepEqual(
    outside.map((each) => ranges.has(each)),
    outside.map(() => false),
  )
  assert.equal(plainAddress('::ffff:10.0.0.7'), '10.0.0.7')
  assert.equal(networkOf('2001:db8:1:2:3::9'), '2001:db8:1:2')
})

test('a word that is no address is refused and named, and so is a range that holds everybody', (t) => {
  for (const word of ['', 'proxy', '10.0.0.0/33', '10.0.0/8', 'fd00::/129', '10.0.0.1/', '10.0.0.1/x', 'fe80::1%eth0'])
    assert.throws(
      () => AddressRanges.read(`127.0.0.1,${word}`),
      (error: Error) => error.message.startsWith(`found "${word}", allowed:`),
      word,
    )
  for (const word of ['0.0.0.0/0', '::/0']) golden.throws(t, () => AddressRanges.read(word))
})
