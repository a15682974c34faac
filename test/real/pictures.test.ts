import type { TestContext } from 'node:test'
import type { Script } from './model-server.ts'
import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { collect } from '../../src/base/process/collect.ts'
import { png } from '../picture-bodies.ts'
import { start } from '../cli/program.ts'
import { modelServer } from './model-server.ts'
import { rig } from './rig.ts'
import { skipped } from './turns.ts'

const shot = png(64, 48)

/** The base64 bodies of PNG pictures anywhere in what a model was sent. */
const picturesIn = (body: unknown) => [...new Set(JSON.stringify(body).match(/iVBORw0KGgo[A-Za-z0-9+/=]+/g))]

/** A project with a picture, and termaite with one real CLI in it, on a scripted model. */
async function withPicture(
  t: TestContext,
  cli: string,
  kind: string,
  script: Script = () => ({ text: 'A grey box.' }),
) {
  const server = await modelServer(script)
  t.after(() => server.close())
  const place = await rig(cli, server.url)
  t.after(() => place[Symbol.asyncDispose]())
  await writeFile(join(place.cwd, 'shot.png'), shot)
  await mkdir(join(place.env.HOME!, '.termaite'), { recursive: true })
  await writeFile(
    join(place.env.HOME!, '.termaite', 'settings.json'),
    JSON.stringify({
      metaInstruction: false,
      thinking: 'off',
      agents: [{ name: cli, profile: cli, kind, contextWindowTokens: 100_000 }],
    }),
  )
  const ask = async (...args: string[]) => {
    // Qwen Code sends pictures only to models that it knows to see.
    const env = { ...place.env, OPENAI_MODEL: 'qwen3-vl-plus' }
    const ran = await collect(start[0], [...start.slice(1), ...args], { cwd: place.cwd, env })
    return { code: ran.code, out: ran.out.toString(), err: ran.err }
  }
  return { ask, server, place }
}

describe('a picture reaches the model of the real CLI byte for byte', { concurrency: 2 }, () => {
  for (const [cli, kind] of [
    ['claude', 'pipe'],
    ['codex', 'pipe'],
    ['gemini', 'acp'],
    ['qwen', 'acp'],
    ['copilot', 'acp'],
  ] as const)
    test(`${cli}`, { timeout: 120_000, skip: skipped(cli) }, async (t) => {
      const { ask, server } = await withPicture(t, cli, kind)
      const { code, out, err } = await ask('-p', 'what is on @shot.png?', '--leash', 'read')
      assert.deepEqual({ code, out: out.trim() }, { code: 0, out: 'A grey box.' }, err)
      const asked = server.turns().find(({ text }) => text.includes('[picture 1: shot.png, 64×48]'))
      assert.ok(
        asked,
        server
          .turns()
          .map(({ text }) => text)
          .join('\n'),
      )
      assert.deepEqual(picturesIn(asked.body), [shot.toString('base64')])
      assert.doesNotMatch(err, /takes no pictures/)
    })

  test(
    'a CLI that takes no pictures is told the path of one, and so is the person',
    { timeout: 120_000, skip: skipped('gemini') },
    async (t) => {
      const { ask, server, place } = await withPicture(t, 'gemini', 'pipe')
      const { code, err } = await ask('-p', 'what is on @shot.png?', '--leash', 'read')
      assert.equal(code, 0, err)
      const path = join(place.cwd, 'shot.png')
      assert.match(err, new RegExp(`gemini takes no pictures\\. It knows where the picture is: ${path}`))
      const asked = server
        .turns()
        .map(({ body }) => JSON.stringify(body))
        .join('\n')
      assert.ok(asked.includes(`[picture 1: shot.png, 64×48; the picture is at ${path}]`), asked)
    },
  )
})
