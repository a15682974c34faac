import type { Tokens } from './model/script.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ended, start } from '../cli/program.ts'
import { profileNamed } from '../../src/profiles/all.ts'
import { reviewedProject } from '../reviewed-project.ts'
import { modelServer } from './model-server.ts'
import { installed, rig } from './rig.ts'

/** How a person without termaite asks each CLI, and asks it again in the same session. */
const asked: Record<string, [first: string, second: string]> = {
  claude: ['claude -p "tell me of herons"', 'claude -p -c "and of storks"'],
  codex: [
    'codex exec --skip-git-repo-check "tell me of herons" </dev/null',
    'codex exec resume --last --skip-git-repo-check "and of storks" </dev/null',
  ],
  gemini: ['gemini --skip-trust -p "tell me of herons"', 'gemini --skip-trust -r latest -p "and of storks"'],
  qwen: ['qwen "tell me of herons"', 'qwen -c "and of storks"'],
  copilot: ['copilot -s -p "tell me of herons"', 'copilot -s --continue -p "and of storks"'],
  pi: ['pi -p "tell me of herons"', 'pi -p -c "and of storks"'],
  opencode: ['echo "tell me of herons" | opencode run', 'echo "and of storks" | opencode run -c'],
}

/** OpenCode asks for a title beside the turn, and records neither the request nor its tokens. */
const isTitle = (text: string) => /title generator/i.test(text)

type Row = { key: string; input: number; cached: number; output: number; outside?: true }

for (const [cli, commands] of Object.entries(asked))
  test(
    `${cli}: a session outside termaite is imported, found, continued, and its tokens are what the model billed`,
    {
      skip: !installed(cli),
    },
    async (t) => {
      const billed = { input: 0, cached: 0, output: 0 }
      let count = 0
      const model = await modelServer(({ text }) => {
        const usage: Tokens = { input: 1000 + ++count, cached: 900, output: 10 + count }
        if (!isTitle(text)) for (const key of ['input', 'cached', 'output'] as const) billed[key] += usage[key]
        return { text: `grey birds, answer ${count}`, usage }
      })
      const place = await rig(cli, model.url)
      t.after(async () => {
        await place[Symbol.asyncDispose]()
        await model.close()
      })
      const home = join(place.root, 'termaite')
      mkdirSync(home, { mode: 0o700 })
      const agent = { name: 'bird', profile: cli, contextWindowTokens: 200_000, silenceSeconds: 60 }
      writeFileSync(join(home, 'settings.json'), JSON.stringify({ agents: [agent], metaInstruction: false }))
      const run = async (...args: string[]) => {
        const env = { ...place.env, TERMAITE_HOME: home }
        const stdio = ['ignore', 'pipe', 'pipe'] as ['ignore', 'pipe', 'pipe']
        const ran = await ended(spawn(start[0], [...start.slice(1), ...args], { cwd: place.cwd, env, stdio }))
        assert.equal(ran.code, 0, `${args.join(' ')}: ${ran.out}${ran.err}`)
        return ran.out
      }
      for (const command of commands) {
        const env = { ...profileNamed(cli)!.env, ...place.env }
        const ran = await ended(
          spawn('bash', ['-c', command], { cwd: place.cwd, env, stdio: ['ignore', 'pipe', 'pipe'] }),
        )
        assert.equal(ran.code, 0, `${command}: ${ran.out}${ran.err}`)
      }
      // A turn of our own, in a session of its own: the CLI has a file of it too.
      await run('-p', 'and what of cranes', '-a', 'bird')

      await run('import', '--yes')
      type Session = { id: string; turns: number; cli?: string; first: string }
      const sessions = JSON.parse(await run('sessions', '--json')) as Session[]
      assert.deepEqual(sessions.map(({ turns, cli: from, first }) => [turns, from, first]).sort(), [
        [1, undefined, 'and what of cranes'],
        [2, cli, 'tell me of herons'],
      ])
      const hits = JSON.parse(await run('sessions', 'search', 'storks', '--json')) as { by: string; session: string }[]
      const imported = sessions.find((session) => session.cli === cli)!
      assert.deepEqual(
        hits.map(({ by, session }) => [by, session]),
        [['user', imported.id]],
      )

      const sum = async () => {
        const rows = JSON.parse(await run('usage', '--everywhere', '--json')) as Row[]
        const of = (key: 'input' | 'cached' | 'output') => rows.reduce((total, row) => total + row[key], 0)
        return {
          rows: rows.map(({ key, outside }) => [key, outside === true]),
          input: of('input'),
          cached: of('cached'),
          output: of('output'),
        }
      }
      const both = [
        ['bird', false],
        [cli, true],
      ]
      assert.deepEqual(await sum(), { rows: both, ...billed })

      // ccusage reads the same files. It has no records of Copilot, counts the cached tokens of Qwen Code twice and leaves out what Qwen
      // Code asks for its memory; its input is without the cached tokens.
      if (installed('ccusage') && cli !== 'copilot' && cli !== 'qwen') {
        const command = `ccusage ${cli} daily --json --offline`
        const { out } = await ended(
          spawn('bash', ['-c', command], { cwd: place.cwd, env: place.env, stdio: ['ignore', 'pipe', 'pipe'] }),
        )
        const { inputTokens, cacheReadTokens: cached, outputTokens: output } = JSON.parse(out).totals
        assert.deepEqual({ input: inputTokens + cached, cached, output }, billed)
      }

      await run('sessions', 'resume', imported.id)
      const before = model.asked.length
      await run('-p', 'once more, of all of them', '-a', 'bird', '--only')
      const last = model.asked
        .slice(before)
        .filter(({ side, text }) => !side && !isTitle(text))
        .at(-1)!
      // The CLI's own thread holds the earlier words; termaite does not repeat them.
      for (const words of ['tell me of herons', 'and of storks', 'once more, of all of them'])
        assert.equal(last.text.split(words).length, 2, `${words} is in the request once`)
      assert.deepEqual(await sum(), { rows: both, ...billed })
      await run('import', '--yes')
      assert.deepEqual(
        (JSON.parse(await run('sessions', '--json')) as Session[]).map(({ turns, cli: from }) => [turns, from]).sort(),
        [
          [1, undefined],
          [3, undefined],
        ],
      )
    },
  )

for (const cli of ['claude', 'codex', 'gemini'])
  test(
    `${cli}: the sessions in which it reviewed and advised for us are ours; only the person's own is imported`,
    { skip: !installed(cli) },
    async (t) => {
      const model = await modelServer(({ text }) => ({
        text: text.includes('findings') ? JSON.stringify({ findings: [] }) : 'grey birds',
      }))
      const place = await rig(cli, model.url)
      t.after(async () => {
        await place[Symbol.asyncDispose]()
        await model.close()
      })
      reviewedProject(place.cwd)
      const home = join(place.root, 'termaite')
      mkdirSync(home, { mode: 0o700 })
      const agent = { name: 'bird', profile: cli, contextWindowTokens: 200_000, silenceSeconds: 60 }
      writeFileSync(join(home, 'settings.json'), JSON.stringify({ agents: [agent], metaInstruction: false }))
      const run = (...args: string[]) => {
        const env = { ...place.env, TERMAITE_HOME: home }
        const stdio = ['ignore', 'pipe', 'pipe'] as ['ignore', 'pipe', 'pipe']
        return ended(spawn(start[0], [...start.slice(1), ...args], { cwd: place.cwd, env, stdio }))
      }
      const env = { ...profileNamed(cli)!.env, ...place.env }
      const stdio = ['ignore', 'pipe', 'pipe'] as ['ignore', 'pipe', 'pipe']
      const own = await ended(spawn('bash', ['-c', asked[cli]![0]], { cwd: place.cwd, env, stdio }))
      assert.equal(own.code, 0, own.err)
      const review = await run('review')
      assert.equal(review.code, 0, review.err)
      // The council's plan cannot be read, so the turn fails or goes direct; its advisors have their sessions all the same.
      await run('-p', 'find the best bird', '--think', 'consensus')
      const { out } = await run('import', cli, '--dry-run', '--json')
      const [found] = JSON.parse(out) as { own: number; sessions: { turns: number }[] }[]
      assert.deepEqual(
        found!.sessions.map(({ turns }) => turns),
        [1],
      )
      assert.ok(found!.own >= 6, `a reviewer, five advisors and more: ${found!.own}`)
    },
  )
