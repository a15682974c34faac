import type { AgentSettings } from '../../src/settings/agent-settings.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { wallAround } from '../../src/native/agent-wall.ts'
import { ending, keptChat, program, protocols } from '../agents/kept-rig.ts'
import { noSandbox } from '../safety/no-sandbox.ts'

/** The profile of each protocol, the file in which it keeps its login, and the part of the file that is the login. */
const logins = {
  claude: { profile: 'claude', path: '.claude/.credentials.json', part: 'claudeAiOauth' },
  codex: { profile: 'codex', path: '.codex/auth.json', part: 'tokens' },
  pi: { profile: 'pi', path: '.pi/agent/auth.json', part: 'tokens' },
  acp: { profile: 'gemini', path: '.gemini/oauth_creds.json', part: 'tokens' },
}

for (const protocol of protocols)
  test(
    `${protocol}: a login that is refreshed behind a wall is back at the end of its turn`,
    { skip: noSandbox },
    async (t) => {
      const folder = realpathSync(mkdtempSync(join(tmpdir(), 'termaite-kept-')))
      t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
      const { profile, path, part } = logins[protocol]
      const [home, cwd] = [join(folder, 'home'), join(folder, 'project')]
      const login = join(home, path)
      mkdirSync(cwd)
      mkdirSync(dirname(login), { recursive: true })
      writeFileSync(login, JSON.stringify({ [part]: 'old' }))
      const env = { ...process.env, HOME: home, LOGIN: login }
      // The wall shows the folders of the programs that a command names.
      const command = `'${process.execPath}' '${program}'`
      const agent: AgentSettings = { name: 'sayer', kind: 'pipe', profile, command, wall: true }
      await using chat = keptChat(protocol, { enclose: wallAround(agent, { env }), env })
      const pids: unknown[] = []
      const tokens: string[] = []
      for (const prompt of ['Begin.', 'Now it logs in.', 'Go on.']) {
        const end = ending(await chat.take(prompt, { cwd }))
        pids.push(typeof end === 'string' ? end : end.said.split(' ')[1])
        tokens.push(JSON.parse(readFileSync(login, 'utf8'))[part])
        assert.deepEqual(await chat.running(), [])
      }
      // Each turn is the first of its process.
      assert.deepEqual(
        [pids, tokens],
        [
          ['1', '1', '1'],
          ['old', 'fresh', 'fresh'],
        ],
      )
    },
  )
