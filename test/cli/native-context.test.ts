import type { Answer, Asked } from '../real/model-server.ts'
import { test, type TestContext } from 'node:test'
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { modelServer } from '../real/model-server.ts'
import { Machine, untimed } from './program.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const options = { timeout: 60_000 }

/** The address of each wire, our name of a model there, and the parts of a request that only its thinking and its cache bring. */
const wires = {
  anthropic: {
    ...{ model: 'anthropic/claude-sonnet-5-5', base: '/v1', key: 'ANTHROPIC_API_KEY' },
    marks: ({ cache_control, system, thinking, output_config }: any) => ({
      ...{ cache_control, thinking, output_config },
      system: system.map((block: any) => block.cache_control),
    }),
    high: {
      cache_control: { type: 'ephemeral' },
      thinking: { type: 'adaptive', display: 'summarized' },
      output_config: { effort: 'high' },
      system: [{ type: 'ephemeral' }],
    },
  },
  responses: {
    ...{ model: 'openai/gpt-5', base: '/v1', key: 'OPENAI_API_KEY' },
    marks: ({ reasoning, prompt_cache_key }: any) => ({ reasoning, cached: typeof prompt_cache_key }),
    high: { reasoning: { effort: 'high', summary: 'auto' }, cached: 'string' },
  },
  chat: {
    ...{ model: 'groq/openai/gpt-oss-120b', base: '/v1', key: 'GROQ_API_KEY' },
    marks: ({ reasoning_effort, cache_control }: any) => ({ reasoning_effort, cache_control }),
    high: { reasoning_effort: 'high', cache_control: undefined },
  },
  routed: {
    ...{ model: 'openrouter/anthropic/claude-sonnet-5.5', base: '/v1', key: 'OPENROUTER_API_KEY' },
    marks: ({ reasoning, cache_control }: any) => ({ reasoning, cache_control }),
    high: { reasoning: { effort: 'high' }, cache_control: { type: 'ephemeral' } },
  },
  gemini: {
    ...{ model: 'google/gemini-3-pro', base: '/v1beta', key: 'GEMINI_API_KEY' },
    marks: ({ generationConfig }: any) => generationConfig,
    high: { thinkingConfig: { includeThoughts: true, thinkingLevel: 'HIGH' } },
  },
} as const

type Wire = keyof typeof wires

class Talk {
  readonly machine: Machine
  readonly asked: () => Asked[]
  #env: Record<string, string>

  private constructor(machine: Machine, asked: () => Asked[], env: Record<string, string>) {
    this.machine = machine
    this.asked = asked
    this.#env = env
  }

  static async on(t: TestContext, wire: Wire, script: (asked: Asked) => Answer, more: object = {}, all: object = {}) {
    const server = await modelServer(script)
    t.after(() => server.close())
    const machine = new Machine(t)
    const { model, base, key } = wires[wire]
    const agent = { name: 'native', kind: 'native', model, baseURL: `${server.url}${base}` }
    machine.settings({ metaInstruction: false, ...all, agents: [{ contextWindowTokens: 200_000, ...agent, ...more }] })
    return new Talk(machine, () => server.turns(), { [key]: 'made-up-key' })
  }

  /** One process. */
  async run(...args: string[]): Promise<{ out: string; err: string }> {
    const { code, out, err } = await this.machine.run(args, { env: this.#env })
    assert.equal(code, 0, err)
    return { out, err }
  }

  write(path: string, text: string): void {
    const at = join(this.machine.folder, path)
    mkdirSync(dirname(at), { recursive: true })
    writeFileSync(at, text)
  }

  /** The numbers of the requests that do not begin, byte for byte, with the one before. */
  breaks(): number[] {
    const texts = this.asked().map(({ text }) => text)
    return texts.slice(1).flatMap((text, at) => (text.startsWith(texts[at]!.replace(/\]\}$/, '')) ? [] : [at + 2]))
  }

  kept(type: string): any[] {
    return this.machine.history().filter((entry) => entry.type === type)
  }
}

const count = (text: string, words: string) => text.split(words).length - 1

for (const wire of Object.keys(wires) as Wire[])
  test(
    `over ${wire}: a resumed session sends the same prefix byte for byte, also when AGENTS.md and skills change`,
    options,
    async (t) => {
      const script = ({ count }: Asked): Answer =>
        count === 1 ? { call: { tool: 'ls', input: {} } } : { text: `answer ${count}` }
      const talk = await Talk.on(t, wire, script, { effort: 'high' })
      talk.write('project/AGENTS.md', 'Indent with tabs.\n')
      talk.write('project/termaite.md', 'Say it in rhymes.\n')
      await talk.run('-p', 'one')
      talk.write('project/AGENTS.md', 'Indent with spaces.\n')
      talk.write('termaite/skills/notes/SKILL.md', '---\nname: notes\ndescription: Takes notes.\n---\nWrite.\n')
      rmSync(join(talk.machine.project, 'termaite.md'))
      const { err } = await talk.run('-p', 'two')
      golden(t, untimed(err))
      const again = wire === 'anthropic'
      if (again) await talk.run('-p', 'three')
      assert.deepEqual([talk.asked().length, talk.breaks()], [again ? 4 : 3, []])
      const told = ['Indent with tabs.', 'Indent with spaces.', 'No longer valid: ', '- notes: Takes notes.']
      assert.deepEqual(
        talk.asked().map(({ text }) => told.map((words) => count(text, words))),
        [[1, 0, 0, 0], [1, 0, 0, 0], [1, 1, 1, 1], ...(again ? [[1, 1, 1, 1]] : [])],
      )
      assert.equal(talk.kept('frame').length, 1)
      const { marks, high } = wires[wire]
      assert.deepEqual(
        talk.asked().map(({ body }) => marks(body)),
        talk.asked().map(() => high),
        'how hard to think and what to cache are in the sent bytes',
      )
    },
  )

test(
  'at half the window old outputs leave in one batch; before and after it each request begins with the last',
  options,
  async (t) => {
    const talk = await Talk.on(
      t,
      'anthropic',
      ({ body }) => {
        const last = body.messages.at(-1).content
        const name = typeof last === 'string' ? /^read (\S+)/.exec(last)?.[1] : undefined
        return name ? { call: { tool: 'file_reader', input: { file_path: name } } } : { text: 'read' }
      },
      { contextWindowTokens: 23_200 },
    )
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f'])
      talk.write(
        `project/${name}.txt`,
        Array.from({ length: 110 }, (_, at) => `line ${at} of ${name} ${'x'.repeat(80)}\n`).join(''),
      )
    for (const name of ['a', 'b', 'c', 'd', 'e']) await talk.run('-p', `read ${name}.txt`)
    const trims = talk.kept('trim')
    assert.equal(trims.length, 1)
    const [broken, ...more] = talk.breaks()
    assert.deepEqual(more, [])
    const texts = talk.asked().map(({ text }) => text)
    const raw = (text: string) =>
      ['a', 'b', 'c', 'd', 'e'].filter((name) => text.includes(`line 50 of ${name} `)).join('')
    const stubs = (text: string) => count(text, 'characters left out; call the tool again if it is needed')
    const [before, after] = [texts[broken! - 2]!, texts[broken! - 1]!]
    // A running turn keeps its prefix: the outputs leave when the next turn begins.
    assert.deepEqual([raw(before), stubs(before)], ['abcd', 0])
    assert.deepEqual([raw(after), stubs(after)], ['d', 3])
    assert.deepEqual(talk.kept('summary'), [], 'nothing was summarised')
    assert.equal(count(texts.at(-1)!, '"name":"file_reader"'), 1 + 5, 'every call is still told of')
  },
)

test('a skill that a prompt asks for is loaded at once, and neither trim nor summary takes it', options, async (t) => {
  const talk = await Talk.on(t, 'anthropic', ({ text }) =>
    text.includes('Summarise the conversation below') ? { text: 'They said hello.' } : { text: 'fine' },
  )
  const body = 'Write every word in "capitals" – always.'
  talk.write('termaite/skills/loud/SKILL.md', `---\nname: loud\ndescription: Is loud.\ntrigger: /loud\n---\n${body}\n`)
  const skill = `<skill name="loud" folder="${join(talk.machine.home, 'skills', 'loud')}">\n${body}\n</skill>`
  assert.match((await talk.run('-p', 'Use the skill loud: say hello')).err, /^The skill loud is loaded\.$/m)
  await talk.run('-p', '/loud and again')
  await talk.run('-p', 'what now?')
  await talk.run('compact')
  await talk.run('-p', 'and after that?')
  const [first, second, third, , last] = talk.asked().map(({ body }) => body.messages as { content: string }[])
  const loaded = (messages: { content: string }[]) => messages.filter(({ content }) => content === skill).length
  assert.deepEqual(
    [first, second, third].map((messages) => loaded(messages!)),
    [1, 1, 1],
    'once, however often it is asked for',
  )
  assert.deepEqual(last!.map(({ content }) => content).slice(0, 2), ['<summary>\nThey said hello.\n</summary>', skill])
})

test(
  'tools of a server that came late are announced once, and called through more_tools, also after a resume',
  options,
  async (t) => {
    const echo = { name: 'mcp__words__echo', input: { text: 'said again' } }
    const server = join(import.meta.dirname, '../native/tools/mcp/scripted.ts')
    const awaits = join(mkdtempSync(join(tmpdir(), 'termaite-late-')), 'now')
    t.after(() => rmSync(dirname(awaits), { recursive: true, force: true }))
    const talk = await Talk.on(
      t,
      'anthropic',
      ({ count }) => {
        writeFileSync(awaits, '')
        return count === 1 || count === 3 ? { call: { tool: 'more_tools', input: echo } } : { text: 'done' }
      },
      { leash: 'all' },
      { mcpServers: { words: { command: process.execPath, args: [server, JSON.stringify({ awaits })] } } },
    )
    await talk.run('-p', 'go')
    await talk.run('-p', 'go on')
    assert.deepEqual([talk.asked().length, talk.breaks()], [4, []])
    const words =
      'More tools of MCP servers are there now; more_tools describes and calls them:\\n- words: mcp__words__echo, '
    assert.deepEqual(
      talk.asked().map(({ text }) => count(text, words)),
      [0, 1, 1, 1],
    )
    assert.deepEqual(
      talk.kept('result').map(({ ok, text }) => [ok, text]),
      [
        [true, 'said again'],
        [true, 'said again'],
      ],
    )
  },
)

test(
  'a folder’s own AGENTS.md follows the result of a tool that used a file there, once for each version, also after a summary',
  options,
  async (t) => {
    const talk = await Talk.on(t, 'anthropic', ({ body, text }) => {
      if (text.includes('Summarise the conversation below')) return { text: 'They read files.' }
      const last = body.messages.at(-1).content
      const command = typeof last === 'string' ? /^run (.+)/.exec(last)?.[1] : undefined
      const name = typeof last === 'string' ? /^read (\S+)/.exec(last)?.[1] : undefined
      if (command) return { call: { tool: 'bash', input: { command } } }
      return name ? { call: { tool: 'file_reader', input: { file_path: name } } } : { text: 'read' }
    })
    talk.write('project/AGENTS.md', 'Root rule.\n')
    talk.write('project/api/AGENTS.md', 'Api rule.\n')
    talk.write('project/web/AGENTS.md', 'Web rule.\n')
    for (const name of ['api/a.ts', 'api/b.ts', 'web/c.ts']) talk.write(`project/${name}`, 'code\n')
    const { err } = await talk.run('-p', 'read api/a.ts')
    golden(t, untimed(err))
    await talk.run('-p', 'read api/b.ts')
    await talk.run('-p', 'run cat web/c.ts')
    assert.deepEqual([talk.asked().length, talk.breaks()], [6, []])
    const rules = ['Root rule.', 'Api rule.', 'Web rule.']
    const counts = () => talk.asked().map(({ text }) => rules.map((words) => count(text, words)).join(''))
    assert.deepEqual(counts(), ['100', '110', '110', '110', '110', '111'])
    const { messages } = talk.asked()[1]!.body
    assert.deepEqual(messages.map(({ content }: any) => content[0].type ?? content).slice(1), [
      'tool_use',
      'tool_result',
      `You have just used a file in api, which has instructions of its own. Follow them for the files there: they override the instructions of the folders above, and the user’s own words override them all.\n<instructions path="${join(talk.machine.project, 'api/AGENTS.md')}">\nApi rule.\n</instructions>`,
    ])
    await talk.run('compact')
    talk.write('project/api/AGENTS.md', 'Other rule.\n')
    await talk.run('-p', 'read api/a.ts')
    const [first, second] = talk.asked().slice(-2)
    assert.deepEqual(
      [first!, second!].map(({ text }) => [...rules, 'Other rule.'].map((words) => count(text, words)).join('')),
      ['1110', '1111'],
    )
  },
)

test('an unknown effort is refused with the one that was meant', options, async (t) => {
  const talk = await Talk.on(t, 'chat', () => ({ text: 'fine' }), { effort: 'hihg' })
  const { code, err } = await talk.machine.run(['-p', 'hello'])
  assert.equal(code, 2)
  assert.match(err, /agents\[0\]\.effort: found "hihg"; did you mean "high"\?/)
})

test(
  'a picture that a prompt names is seen by the model, and is the same picture in every later request',
  options,
  async (t) => {
    const talk = await Talk.on(t, 'anthropic', () => ({ text: 'a dot' }))
    const png = Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=',
      'base64',
    )
    writeFileSync(join(talk.machine.project, 'dot.png'), png)
    await talk.run('-p', 'what is on @dot.png?')
    rmSync(join(talk.machine.project, 'dot.png'))
    await talk.run('-p', 'and now?')
    const source = { type: 'base64', media_type: 'image/png', data: png.toString('base64') }
    assert.deepEqual(
      talk.asked().map(({ body }) => body.messages[0].content),
      Array(2).fill([
        { type: 'image', source },
        { type: 'text', text: 'what is on [picture 1: dot.png, 1×1]?' },
      ]),
    )
    assert.deepEqual(talk.breaks(), [])
  },
)
