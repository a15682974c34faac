import assert from 'node:assert/strict'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { writeFileSync } from 'node:fs'
import { TrustBook } from '../../src/safety/trust/folder-trust.ts'
import { eventsOf, turnOf } from '../contract/agent.ts'
import { modelServer } from '../real/model-server.ts'
import { goldenOf } from '../golden.ts'
import { nativeRig } from './native-rig.ts'

const golden = goldenOf(import.meta.filename)

test('instruction files above a project are followed once their folder is trusted, before those of the project', async (t) => {
  const server = await modelServer(() => ({ text: 'Done.' }))
  t.after(() => server.close())
  const { opened, parts, root } = await nativeRig(t, `${server.url}/v1`)
  const above = dirname(root)
  writeFileSync(join(above, 'AGENTS.md'), 'Use tabs everywhere.')
  writeFileSync(join(root, 'AGENTS.md'), 'Use two spaces here.')
  const files = () =>
    [...JSON.stringify(server.turns().at(-1)!.body.system).matchAll(/<instructions path=\\"([^"\\]*)/g)].map(
      ([, path]) => path,
    )
  await eventsOf(opened, turnOf({ cwd: root }))
  assert.deepEqual(files(), [join(root, 'AGENTS.md')])
  golden(t, parts.state.notes.waiting.splice(0), { [above]: '<above>' })
  const book = new TrustBook(parts.store, { own: parts.home })
  await book.trust(above, (await book.of(above)).mark)
  await eventsOf(opened, turnOf({ cwd: root }))
  assert.deepEqual([files(), parts.state.notes.waiting], [[join(above, 'AGENTS.md'), join(root, 'AGENTS.md')], []])
})
