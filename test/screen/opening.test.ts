import { test } from 'node:test'
import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Machine } from '../cli/program.ts'
import { until } from '../until.ts'
import { Glass } from './glass.ts'

test(
  'the chat opens without what takes long to make, and makes it when a text needs it',
  { timeout: 120_000 },
  async (t) => {
    const machine = new Machine(t)
    machine.agents({ a: 'cat >/dev/null; echo "It is done."' })
    const [preload, made] = [join(machine.folder, 'preload.cjs'), join(machine.folder, 'made')]
    writeFileSync(
      preload,
      `const { Segmenter } = Intl
    Intl.Segmenter = class extends Segmenter {
      constructor(...how) {
        super(...how)
        require('fs').appendFileSync(${JSON.stringify(made)}, how[1].granularity + '\\n')
      }
    }`,
    )
    const glass = new Glass(machine, { env: { NODE_OPTIONS: `--require=${preload}` } })
    t.after(() => glass.end())
    await glass.shows('Ask anything')
    glass.type('Do it – now → “please”\r')
    await glass.shows('It is done.')
    assert.equal(existsSync(made), false)
    glass.type('漢字 👩‍👧')
    await glass.shows('漢字 👩‍👧')
    await until(() => existsSync(made))
    assert.equal(readFileSync(made, 'utf8'), 'grapheme\n')
  },
)
