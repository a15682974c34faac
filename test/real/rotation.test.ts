import { test } from 'node:test'
import assert from 'node:assert/strict'
import { machine } from './three.ts'

test('a rotation over Claude Code, Gemini CLI and Codex has one history; each resumes its own thread and gets the turns it missed', async (t) => {
  const says: Record<string, string> = {
    anthropic: 'claude was here',
    gemini: 'gemini was here',
    responses: 'codex was here',
  }
  const { model, run, history } = await machine(t, ({ wire }) => ({ text: says[wire]! }))
  const said = []
  for (const word of ['one', 'two', 'three', 'four', 'five', 'six']) said.push((await run('-p', `${word}, please`)).out)
  assert.deepEqual(
    said,
    ['claude', 'gemini', 'codex', 'claude', 'gemini', 'codex'].map((name) => `${name} was here\n`),
  )
  assert.deepEqual(
    history()
      .filter(({ type }) => type === 'prompt' || type === 'reply')
      .map((entry) => [entry.by, 'text' in entry && entry.text]),
    ['one', 'two', 'three', 'four', 'five', 'six'].flatMap((word, index) => {
      const agent = ['claude', 'gemini', 'codex'][index % 3]!
      return [
        ['user', `${word}, please`],
        [agent, `${agent} was here`],
      ]
    }),
  )
  const asked = model.turns().map(({ text }) => text)
  // The agent's own first turn is in its thread; the words of the others meanwhile were handed to it, once.
  for (const [index, own] of [
    [3, 'one'],
    [4, 'two'],
    [5, 'three'],
  ] as const) {
    assert.ok(asked[index]!.includes(`${own}, please`), `turn ${index + 1} is on the thread of its first turn`)
    const others = ['one', 'two', 'three', 'four', 'five'].slice(0, index).filter((word) => word !== own)
    for (const word of others)
      assert.equal(asked[index]!.split(`${word}, please`).length, 2, `${word} was handed over once`)
  }
  const usage = JSON.parse((await run('usage', '--json', '--by', 'agent')).out) as {
    key: string
    source: string
    count: number
    input: number
    output: number
  }[]
  assert.deepEqual(
    usage.map(({ key, source, count, output }) => ({ key, source, count, output })),
    ['claude', 'codex', 'gemini'].map((key) => ({ key, source: 'reported', count: 2, output: 68 })),
  )
})

test('a spent quota parks Gemini, and Claude goes on with the same turn', async (t) => {
  const { run, history } = await machine(t, ({ wire }) =>
    wire === 'gemini' ? { error: 'quota' } : { text: 'claude goes on' },
  )
  const first = await run('-p', 'hello', '-a', 'gemini', '--output-format', 'json')
  const { ok, agent, text, attempts } = JSON.parse(first.out) as {
    ok: boolean
    agent: string
    text: string
    attempts: { agent: string; failure?: { kind: string } }[]
  }
  assert.deepEqual(
    { ok, agent, text, attempts: attempts.map((one) => [one.agent, one.failure?.kind]) },
    {
      ok: true,
      agent: 'claude',
      text: 'claude goes on',
      attempts: [
        ['gemini', 'quota'],
        ['claude', undefined],
      ],
    },
  )
  const second = await run('-p', 'again', '-a', 'gemini')
  assert.equal(second.out, 'claude goes on\n')
  assert.match(second.err, /^Skipped gemini: out of quota until /m)
  assert.equal(history().filter(({ type }) => type === 'attempt').length, 1)
})

test('a refused key shows the login, and the next agent answers', async (t) => {
  const { run } = await machine(t, ({ wire }) => (wire === 'responses' ? { text: 'codex answers' } : { error: 'key' }))
  const { code, out, err } = await run('-p', 'hello')
  assert.deepEqual({ code, out }, { code: 0, out: 'codex answers\n' })
  assert.match(err, /^claude (is not logged in: )?.+\ngemini (is not logged in: )?.+/m)
})

test('a denied tool: the answer is printed, and the exit code is 77', async (t) => {
  const act = { tool: 'Bash', input: { command: 'touch made.txt', description: 'makes a file' } }
  const { run } = await machine(t, ({ count }) => (count === 1 ? { call: act } : { text: 'I may not.' }))
  const { code, out } = await run('-p', 'make a file', '-a', 'claude', '--output-format', 'json')
  const { ok, text, denials } = JSON.parse(out) as { ok: boolean; text: string; denials: string[] }
  assert.deepEqual(
    { code, ok, text, denials },
    { code: 77, ok: true, text: 'I may not.', denials: ['Bash: touch made.txt'] },
  )
})

test('changes that an agent made by its own tools can be seen and undone', async (t) => {
  const act = { tool: 'Bash', input: { command: 'echo hi > made.txt', description: 'makes a file' } }
  const { run } = await machine(t, ({ count }) => (count === 1 ? { call: act } : { text: 'Made.' }))
  assert.equal((await run('-p', 'make a file', '-a', 'claude', '--leash', 'all')).out, 'Made.\n')
  const { stat } = JSON.parse((await run('diff', '--json')).out) as { stat: { file: string; status: string }[] }
  assert.deepEqual(
    stat.map(({ file, status }) => [file, status]),
    [['made.txt', 'added']],
  )
  assert.equal((await run('undo', '--yes')).code, 0)
  assert.match((await run('diff', '--list')).out, /make a file/)
})
