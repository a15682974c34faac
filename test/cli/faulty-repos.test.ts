import type { TestContext } from 'node:test'
import type { Repo } from './repos.ts'
import type { Mistake } from './faulty-model.ts'
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { after, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { modelServer } from '../real/model-server.ts'
import { sized } from '../full.ts'
import { FaultyModel, editedFile, flawless, lineTwice, mistakes, mostExtra } from './faulty-model.ts'
import { Machine } from './program.ts'
import { allRepos, layOut, needs } from './repos.ts'

const providers = [
  { model: 'anthropic/claude-sonnet-4-5', key: 'ANTHROPIC_API_KEY', form: 'edits' },
  { model: 'openai/gpt-5', key: 'OPENAI_API_KEY', form: 'patch' },
] as const

const env = { PATH: [dirname(process.execPath), process.env.PATH].join(delimiter), PYTHONDONTWRITEBYTECODE: '1' }

type Case = { repo: Repo; mistake: Mistake; provider: (typeof providers)[number] }

function caseOf(repo: Repo, mistake: Mistake, at: number): Case {
  const isMixedUp = lineTwice(repo.files[editedFile(repo)]!) !== undefined
  return { repo, mistake, provider: mistake === 'two matches' && !isMixedUp ? providers[0] : providers[at]! }
}

const repos = allRepos().flatMap((repo) => flawless(repo) ?? [])
const every = repos.flatMap((repo, i) => mistakes.map((mistake, j) => caseOf(repo, mistake, (i + j) % 2)))
/** One repository for each mistake, over both providers in turn. */
const few = mistakes.map((mistake, i) => caseOf(repos[i * 3]!, mistake, i % 2))

describe('a model that makes the usual mistakes repairs', { concurrency: 2 }, () => {
  const extra = new Map<Mistake, number[]>()
  after(() => {
    for (const [mistake, rounds] of extra)
      console.log(`${mistake}: ${rounds.length} repositories, extra rounds ${JSON.stringify(counted(rounds))}`)
  })
  for (const { repo, mistake, provider } of sized(few, every)) {
    const missing = needs[repo.language]!.find((program) => spawnSync(program, ['--version'], { env }).error)
    const skip = missing !== undefined && `${missing} is not installed here`
    test(`${repo.name} after ${mistake}, over ${provider.model}`, { timeout: 60_000, skip }, async (t) => {
      const rounds = await repaired(t, repo, mistake, provider)
      extra.set(mistake, [...(extra.get(mistake) ?? []), rounds])
    })
  }
})

/** The number of repositories by the additional rounds that they needed. */
const counted = (rounds: readonly number[]) =>
  Object.fromEntries([...new Set(rounds)].sort().map((one) => [one, rounds.filter((each) => each === one).length]))

async function repaired(
  t: TestContext,
  repo: Repo,
  mistake: Mistake,
  provider: (typeof providers)[number],
): Promise<number> {
  const machine = new Machine(t)
  mkdirSync(machine.project, { recursive: true })
  layOut(repo, machine.project)
  const faulty = new FaultyModel(repo, mistake, provider.form, machine.project)
  const server = await modelServer((asked) => faulty.answer(asked))
  t.after(() => server.close())
  const agent = {
    name: 'native',
    kind: 'native',
    model: provider.model,
    baseURL: `${server.url}/v1`,
    contextWindowTokens: 200_000,
  }
  machine.settings({ metaInstruction: false, diagnostics: false, agents: [agent] })
  const file_path = editedFile(repo)
  const before = readFileSync(join(machine.project, file_path), 'utf8')
  const flags = mistake === 'forbidden' ? ['--deny', `Edit(${file_path})`] : []
  const { code, out, err } = await machine.run(['-p', repo.prompt, '--leash', 'all', ...flags], {
    env: { ...env, [provider.key]: 'made-up' },
  })
  if (mistake === 'forbidden') {
    assert.equal(code, 77, err)
    assert.match(
      out,
      /^I could not repair .+: (?:file_editor|apply_patch) was not allowed: the rule Edit\(.+\) denies it\./,
    )
    assert.deepEqual([faulty.gaveUp, readFileSync(join(machine.project, file_path), 'utf8')], [true, before])
    return faulty.extra
  }
  assert.deepEqual({ code, out }, { code: 0, out: `${repo.answer}\n` }, err)
  const exits = machine.history().flatMap((entry) => {
    const { exit } = (entry.type === 'result' && (entry.data as { exit?: number } | undefined)) || {}
    return exit === undefined ? [] : [exit]
  })
  assert.deepEqual([exits[0] === 0, exits.at(-1)], [false, 0], 'its tests failed, and pass now')
  assert.ok(faulty.extra > 0 && faulty.extra <= mostExtra[mistake], `${faulty.extra} extra rounds`)
  return faulty.extra
}
