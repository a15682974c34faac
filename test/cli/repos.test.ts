import type { Entry, FileChange } from '../../src/core/talk/entry.ts'
import type { Asked } from '../real/model-server.ts'
import type { Repo, Told } from './repos.ts'
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import assert from 'node:assert/strict'
import { modelServer, tokens } from '../real/model-server.ts'
import { Machine } from './program.ts'
import { allRepos, layOut, needs, rewrite } from './repos.ts'
import { sized } from '../full.ts'

type Provider = { model: string; base: string; key: string }

const providers: readonly Provider[] = [
  { model: 'anthropic/claude-sonnet-4-5', base: '/v1', key: 'ANTHROPIC_API_KEY' },
  { model: 'openai/gpt-4o', base: '/v1', key: 'OPENAI_API_KEY' },
  { model: 'groq/openai/gpt-oss-120b', base: '/v1', key: 'GROQ_API_KEY' },
  { model: 'google/gemini-3-pro', base: '/v1beta', key: 'GEMINI_API_KEY' },
]

// A repository's own tests run on the Node that runs these; Python leaves nothing beside the files.
const env = { PATH: [dirname(process.execPath), process.env.PATH].join(delimiter), PYTHONDONTWRITEBYTECODE: '1' }

const repos = allRepos()
const languages = [...new Set(repos.map(({ language }) => language))]
const firstOfEach = languages.map((language) => repos.find((repo) => repo.language === language)!)
const chosen = process.env.UPDATE_GOLDEN === '1' ? repos : sized(firstOfEach.slice(0, providers.length), repos)

describe('our own agent repairs', { concurrency: 2 }, () => {
  for (const [index, repo] of chosen.entries()) {
    const missing = needs[repo.language]!.find((program) => spawnSync(program, ['--version'], { env }).error)
    const skip = missing !== undefined && `${missing} is not installed here`
    const provider = providers[index % providers.length]!
    test(`${repo.name}, over ${provider.model}`, { timeout: 60_000, skip }, (t) => repairs(t, repo, provider))
  }
})

async function repairs(t: TestContext, repo: Repo, provider: Provider) {
  const machine = new Machine(t)
  const first = await afresh(t, machine, repo, provider)
  await first.ask(repo.prompt)
  const kept = machine.history()
  if (process.env.UPDATE_GOLDEN === '1') return rewrite(repo, results(kept, machine))

  assert.deepEqual(
    results(kept, machine),
    repo.story.map(({ told }) => told),
  )
  assert.deepEqual(kept.map(shortened(kept)), storyOf(repo))
  const [before, ...exits] = kept.flatMap((entry) => (entry.type === 'result' ? exitOf(entry.data) : []))
  assert.deepEqual([before === 0, exits.at(-1)], [false, 0], 'its tests failed, and pass now')
  for (const { path, after } of lastChanges(kept))
    assert.equal(readFileSync(join(machine.project, path), 'utf8'), after)

  const replay = await afresh(t, machine, repo, provider)
  await replay.ask(repo.prompt)
  assert.deepEqual(replay.sent(), first.sent(), 'the same story sends the same bytes')

  await replay.ask('Say it again.')
  const [last, resumed] = replay.turns().slice(-2).map(conversation)
  assert.equal(resumed!.slice(0, last!.length), last, 'a resumed session begins with all that was sent before')
}

/** The repository as it was, at the same place, for an agent that was never here, on a model that begins its story. */
async function afresh(t: TestContext, machine: Machine, repo: Repo, { model, base, key }: Provider) {
  const { story, answer } = repo
  const server = await modelServer(({ count }) => (story[count - 1] ? { call: story[count - 1]! } : { text: answer }))
  t.after(() => server.close())
  for (const folder of [machine.home, machine.project]) rmSync(folder, { recursive: true, force: true })
  mkdirSync(machine.project)
  layOut(repo, machine.project)
  const agent = { name: 'native', kind: 'native', model, baseURL: `${server.url}${base}`, contextWindowTokens: 200_000 }
  machine.settings({ metaInstruction: false, agents: [agent] })
  return {
    turns: server.turns,
    sent: () => server.turns().map(({ text }) => withoutSession(text)),
    async ask(prompt: string) {
      const keyed = { ...env, [key]: 'made-up' }
      const { code, out, err } = await machine.run(['-p', prompt, '--leash', 'all'], { env: keyed })
      assert.deepEqual({ code, out }, { code: 0, out: `${answer}\n` }, err)
    },
  }
}

/** The result of each call as the model was told it, wherever the repository lies and whatever tools there are. */
function results(kept: readonly Entry[], { project }: Machine): Told[] {
  return kept.flatMap((entry) => {
    if (entry.type !== 'result') return []
    const text = entry.text.replaceAll(project, '<project>').replace(/(?<=Use one of: ).+(?=\.$)/, '<tools>')
    return [{ ok: entry.ok, text }]
  })
}

const usage = { type: 'usage', by: 'native', ...tokens, source: 'reported' }

/** The whole of what is to be kept of a repair, in its order. */
function storyOf({ prompt, story, answer }: Repo): object[] {
  return [
    { type: 'prompt', by: 'user', text: prompt },
    { type: 'frame', by: 'native' },
    ...story.flatMap(({ tool, input, told: { ok } }, index) => [
      usage,
      { type: 'call', by: 'native', call: index + 1, tool, input, step: index + 1 },
      { type: 'result', by: 'native', call: index + 1, ok },
    ]),
    { type: 'reply', by: 'native', text: answer, step: story.length + 1 },
    usage,
    { type: 'end', by: 'rotation', outcome: { ok: true, text: '' } },
  ]
}

/** Without what is another's each time: ids, times, prices, a provider's seals, and what `results` says. */
function shortened(kept: readonly Entry[]) {
  const calls = kept.flatMap((entry) => (entry.type === 'call' ? [entry.call] : []))
  const numbered = (call: string) => ({ call: calls.indexOf(call) + 1 })
  return (entry: Entry): object => {
    const { type, by } = entry
    if (entry.type === 'prompt' || entry.type === 'note') return { type, by, text: entry.text }
    if (entry.type === 'call')
      return { type, by, ...numbered(entry.call), tool: entry.tool, input: entry.input, step: entry.step }
    if (entry.type === 'result') return { type, by, ...numbered(entry.call), ok: entry.ok }
    if (entry.type === 'reply') return { type, by, text: entry.text, step: entry.step }
    if (entry.type === 'end') return { type, by, outcome: entry.outcome }
    if (entry.type !== 'usage') return { type, by }
    const { input, output, cached, source } = entry
    return { type, by, input, cached, output, source }
  }
}

function exitOf(data: unknown): unknown[] {
  return data !== null && typeof data === 'object' && 'exit' in data ? [data.exit] : []
}

/** The files as the history says that they were left. */
function lastChanges(kept: readonly Entry[]): FileChange[] {
  const all = kept.flatMap((entry) => (entry.type === 'result' && Array.isArray(entry.data) ? entry.data : []))
  return [...new Map((all as FileChange[]).map((change) => [change.path, change])).values()]
}

/** OpenAI is told the session's name, so that it finds its cache again; everything else is the same. */
const withoutSession = (body: string) => body.replace(/"prompt_cache_key":"\w+"/, '"prompt_cache_key":""')

/** The messages of a request, up to where the next may go on; where a cache begins is marked anew in each. */
function conversation({ body }: Asked): string {
  const messages = body.messages ?? body.input ?? body.contents
  return JSON.stringify(messages, (name, value) => (name === 'cache_control' ? undefined : value)).slice(0, -1)
}
