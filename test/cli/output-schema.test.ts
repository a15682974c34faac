import { test } from 'node:test'
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { modelServer } from '../real/model-server.ts'
import { Machine } from './program.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const options = { timeout: 60_000 }
const schema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: { name: { type: 'string' }, files: { type: 'integer', minimum: 0 } },
  required: ['name', 'files'],
  additionalProperties: false,
}
const good = '{"name":"demo","files":3}'

/** A machine whose agent gives these answers one after another, and keeps the prompts that it was given. */
function talker(machine: Machine, answers: readonly string[]) {
  writeFileSync(join(machine.project, 'schema.json'), JSON.stringify(schema))
  answers.forEach((answer, at) => writeFileSync(join(machine.folder, `answer-${at + 1}`), answer))
  const count = join(machine.folder, 'count')
  writeFileSync(count, '')
  machine.agents(
    {
      mine: `echo x >> ${count}; n=$(wc -l < ${count} | tr -d ' '); cat > ${machine.folder}/prompt-$n; cat ${machine.folder}/answer-$n`,
    },
    { metaInstruction: false },
  )
  return {
    run: (...more: string[]) => machine.run(['-p', 'count them', '--output-schema', 'schema.json', ...more]),
    prompt: (number: number) => readFileSync(join(machine.folder, `prompt-${number}`), 'utf8'),
  }
}

test(
  'an answer of any agent is asked for again with what is wrong, and stdout is the JSON alone',
  options,
  async (t) => {
    const { run, prompt } = talker(new Machine(t), [
      'There are three files.',
      `Here it is:\n\n\`\`\`json\n${JSON.stringify({ name: 'demo', files: -1 })}\n\`\`\`\n`,
      `Sure.\n\`\`\`json\n${good}\n\`\`\``,
    ])
    const { code, out, err } = await run()
    assert.deepEqual({ code, out }, { code: 0, out: `${good}\n` }, err)
    golden(t, err.match(/^.*Asking again.*$/gm))
    golden(t, prompt(1))
    golden(t, prompt(2))
  },
)

test('the object of --output-format json has the answer as a field', options, async (t) => {
  const { run } = talker(new Machine(t), [good])
  const { code, out } = await run('--output-format', 'json')
  const { ok, text, output } = JSON.parse(out)
  assert.deepEqual({ code, ok, text, output }, { code: 0, ok: true, text: good, output: { name: 'demo', files: 3 } })
})

test('an answer that never holds is exit code 1, with what is wrong and the last answer', options, async (t) => {
  const machine = new Machine(t)
  const { run } = talker(machine, ['one', 'two', '{"name":"demo"}'])
  const { code, out } = await run('--output-format', 'json')
  const { ok, text, failure, output } = JSON.parse(out)
  golden(t, { code, ok, text, failure, output })
  const replies = machine.history().flatMap((entry) => (entry.type === 'reply' ? [entry.text] : []))
  assert.deepEqual(replies, ['one', 'two', '{"name":"demo"}'], 'every answer is kept')
})

test('a file that is no schema is bad usage, and nobody is asked', options, async (t) => {
  const machine = new Machine(t)
  const { run } = talker(machine, [good])
  const cases: string[] = ['{', '[]', '{"type":"nothing"}', '{"prefixItems":[]}']
  for (const text of cases) {
    writeFileSync(join(machine.project, 'schema.json'), text)
    const { code, out, err } = await run()
    assert.deepEqual({ code, out }, { code: 2, out: '' }, err)
    golden(t, err)
  }
  const missing = await machine.run(['-p', 'x', '--output-schema', 'none.json'])
  assert.deepEqual([missing.code, /none\.json cannot be read: ENOENT/.test(missing.err)], [2, true])
  assert.equal(readFileSync(join(machine.folder, 'count'), 'utf8'), '')
})

/** The place of the schema in the requests of each wire. */
const wires: [string, string, string, (body: any) => unknown][] = [
  ['anthropic/claude-sonnet-4-5', '/v1', 'ANTHROPIC_API_KEY', (body) => body.output_config?.format?.schema],
  ['openai/gpt-5', '/v1', 'OPENAI_API_KEY', (body) => body.text?.format?.schema],
  ['groq/openai/gpt-oss-120b', '/v1', 'GROQ_API_KEY', (body) => body.response_format?.json_schema?.schema],
  ['google/gemini-3-pro', '/v1beta', 'GEMINI_API_KEY', (body) => body.generationConfig?.responseJsonSchema],
]

for (const [model, base, key, schemaOf] of wires)
  test(
    `our own agent on ${model} is held to the schema by its provider when its own words do not hold`,
    options,
    async (t) => {
      const server = await modelServer(({ count }) => ({ text: count === 1 ? 'Three files.' : good }))
      t.after(() => server.close())
      const machine = new Machine(t)
      writeFileSync(join(machine.project, 'schema.json'), JSON.stringify(schema))
      const agent = {
        name: 'native',
        kind: 'native',
        model,
        baseURL: `${server.url}${base}`,
        contextWindowTokens: 200_000,
      }
      machine.settings({ metaInstruction: false, agents: [agent] })
      const { code, out, err } = await machine.run(['-p', 'count', '--output-schema', 'schema.json'], {
        env: { [key]: 'made-up' },
      })
      assert.deepEqual({ code, out }, { code: 0, out: `${good}\n` }, err)
      assert.deepEqual(
        server.turns().map(({ body }) => schemaOf(body)),
        [undefined, schema],
      )
    },
  )
