import type { Row } from './measure.ts'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { modelServer } from '../test/real/model-server.ts'
import { rig } from '../test/real/rig.ts'
import { start, time } from './measure.ts'

const turns = 10
const claude = join(import.meta.dirname, '../test/real/clis/node_modules/.bin/claude')
const prompt = (n: number) => `Question ${n}: what does the parser do with a line that never ends?`
const answer = 'It reads on until the buffer is full, then it cuts the line and says where the rest is. '.repeat(12)

/** Measures the tokens that a ten-turn conversation sends to the model through termaite, against the same CLI resumed by hand. */
export async function tokens(): Promise<Row[]> {
  if (!existsSync(claude)) {
    console.log('tokens: skipped, the real CLIs are not installed; npm run test:real installs them')
    return []
  }
  const alone = await sent(async (cwd, env) => {
    let session = ''
    for (let n = 1; n <= turns; n++) {
      const args = ['-p', prompt(n), '--output-format', 'json', ...(session ? ['--resume', session] : [])]
      // Beside our own event loop, which serves the model.
      const asked = promisify(execFile)(claude, args, { cwd, env })
      asked.child.stdin?.end()
      session = (JSON.parse((await asked).stdout) as { session_id: string }).session_id
    }
  })
  const ours = await sent(async (cwd, env, root) => {
    const home = join(root, 'termaite')
    mkdirSync(home)
    writeFileSync(
      join(home, 'settings.json'),
      JSON.stringify({ agents: [{ name: 'claude', profile: 'claude', contextWindowTokens: 200_000 }] }),
    )
    for (let n = 1; n <= turns; n++)
      await time([...start, '-p', prompt(n)], {
        cwd,
        env: { ...env, TERMAITE_KEYCHAIN: 'off', TERMAITE_HOME: home },
      })
  })
  return [
    {
      what: 'bytes sent in a ten-turn conversation over Claude Code against Claude Code alone',
      value: ours / alone,
      unit: 'ratio',
      bar: 1.1,
      detail: `${ours} against ${alone} bytes`,
    },
  ]
}

/** The bytes that reach a scripted model while `talk` runs. */
async function sent(talk: (cwd: string, env: Record<string, string>, root: string) => Promise<void>): Promise<number> {
  const model = await modelServer(() => ({ text: answer }))
  await using place = await rig('claude', model.url)
  try {
    await talk(place.cwd, place.env as Record<string, string>, place.root)
    return model.turns().reduce((sum, { raw }) => sum + raw.length, 0)
  } finally {
    await model.close()
  }
}
