import { test } from 'node:test'
import { faultAnswer } from '../../../src/hub/http/access/hub-router.ts'
import { goldenOf } from '../../golden.ts'

const golden = goldenOf(import.meta.filename)

test('a request that fails on a full disk is answered with what to do', (t) => {
  const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
  golden(t, [faultAnswer(full), faultAnswer(new Error('fatal: unable to write file x: No space left on device'))])
})
