import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fillingOf } from '../../../../src/native/tools/mcp/resource-mentions.ts'
import { mcpPromptsText, mcpResourcesText, promptCommand } from '../../../../src/native/tools/mcp/server-status.ts'
import { mostItems } from '../../../../src/native/tools/mcp/server-catalog.ts'
import { until } from '../../../until.ts'
import { callOf, opened, ready, scripted, use } from './rig.ts'
import { goldenOf } from '../../../golden.ts'

const golden = goldenOf(import.meta.filename)

const most = 256 * 1024
const person = () => callOf()

for (const era of ['legacy', 'modern'] as const)
  test(`resources of a ${era} server are read as text, pictures, pages or kept files`, async (t) => {
    const open = await ready(t, [scripted('s', { era, data: 'usual' })])
    const read = (uri: string) => open.read('s', uri, most, person())
    assert.deepEqual(await read('notes://today'), { text: 'Buy milk.', pictures: [] })
    assert.equal((await read('notes://all')).text, '[notes://today]\nBuy milk.\n\n[notes://old]\nBought bread.')
    assert.equal((await read('notes://bytes')).text, 'as bytes')
    const dot = await read('art://dot')
    assert.deepEqual([dot.text, dot.pictures.map(({ media }) => media)], ['', ['image/png']])
    assert.equal((await read('paper://one')).text, '--- page 1 of 1 ---\nHello page')
    assert.equal((await read('pack://zip')).text, '[a file of 6 bytes (application/zip)]')
    const long = await read('notes://long')
    assert.deepEqual([long.whole, long.text.length], [300 * 1024, most + long.text.split('\n')[1]!.length + 1])
    assert.equal(long.text.split('\n')[1], '[only the first 256.0 KB of 300.0 KB are here]')
    await assert.rejects(read('notes://none'), { message: 'Resource notes://none not found' })
  })

test('a server that cannot be asked says why, and what to do', async (t) => {
  const open = await ready(t, [
    scripted('dead', { dead: 'no database' }),
    { ...scripted('gone'), command: '/nowhere/at-all' } as ReturnType<typeof scripted>,
    scripted('plain'),
  ])
  const words = async (server: string) =>
    (await open.read(server, 'a://b', most, person()).catch((error: Error) => error.message)) as string
  golden(t, await words('dead'))
  assert.match(
    await words('gone'),
    /^the MCP server gone does not run \(.*\)\. \/mcp shows its output, and \/mcp refresh starts it again$/,
  )
  assert.equal(await words('plain'), 'it has no resources')
  golden(t, await words('plane'))
})

test('resources that can be named after an @ are listed with their help; a template is filled in with suggestions of the server', async (t) => {
  const open = await ready(t, [scripted('s', { data: 'usual' }), scripted('bare')])
  const { signal } = t
  golden(t, await open.mentions('', signal))
  const suggested = async (typed: string) => (await open.mentions(typed, signal)).slice(0, -4)
  const help = 'The notes of a day.'
  assert.deepEqual(await suggested('s:day://m'), [
    { mention: 's:day://may/', help, open: 's:day://may/' },
    { mention: 's:day://march/', help, open: 's:day://march/' },
  ])
  assert.deepEqual(await suggested('s:day://may/'), [{ mention: 's:day://may/may1', help }])
})

test('the variable of a template that is being typed is found by the text around it', () => {
  const found = (template: string, typed: string) => {
    const filling = fillingOf(template, typed)
    return filling && [filling.variable, filling.value, filling.others, filling.more]
  }
  assert.deepEqual(found('a://{x}/b/{y}', 'a://1'), ['x', '1', {}, true])
  assert.deepEqual(found('a://{x}/b/{y}', 'a://1/b/2'), ['y', '2', { x: '1' }, false])
  assert.deepEqual(found('a://{+x}', 'a://1/2'), ['x', '1/2', {}, false])
  assert.equal(found('a://{x}', 'b://1'), undefined)
  assert.equal(found('a://none', 'a://n'), undefined)
  assert.equal(found('a://{?page,size}', 'a://1'), undefined)
})

test('a model lists and reads resources by a tool of the server, which is described on demand', async (t) => {
  const open = await ready(t, [scripted('s', { data: 'usual', also: 'resources' }), scripted('bare')])
  const named = open
    .lines()[0]!
    .split(', ')
    .filter((name) => name.includes('resources'))
  assert.equal(named.length, 2)
  const [own, ours] = named as [string, string]
  assert.deepEqual([own, ours.startsWith('mcp__s__resources_')], ['mcp__s__resources', true])
  assert.equal(await use(open, own), 'I am resources.')
  assert.equal(
    open.tools().some(({ name }) => name === ours),
    false,
  )
  const tool = open.find(ours)!
  assert.deepEqual(
    [tool.risk, tool.effect!({}, '/'), tool.effect!({ uri: 'a' }, '/').does],
    ['run', { does: 'nothing' }, 'unknown'],
  )
  golden(t, await use(open, ours))
  assert.equal(await use(open, ours, { find: 'PAPER' }), '- paper://one: paper')
  golden(t, await use(open, ours, { find: 'x1' }))
  assert.equal(await use(open, ours, { uri: 'notes://today' }), 'Buy milk.')
  const dot = (await use(open, ours, { uri: 'art://dot' })) as { text: string; files: { media: string }[] }
  assert.deepEqual([dot.text, dot.files.map(({ media }) => media)], ['1 picture is attached.', ['image/png']])
  assert.equal(await use(open, ours, { uri: 'notes://none' }), '! Resource notes://none not found')
  assert.equal(await use(open, ours, { uri: 7 }), '! uri must be text.')
  assert.deepEqual(open.news(new Set(open.tools().map(({ name }) => name)))?.tools, [ours])
})

test('prompts come with their arguments, and a list that changed is read again', async (t) => {
  let told = 0
  const open = opened(t, [scripted('s', { data: 'usual' })], { changed: () => void told++ })
  await open.settled(t.signal)
  assert.deepEqual(open.prompts(), [])
  await until(() => open.prompts().length > 0)
  assert.deepEqual(
    open.prompts().map(({ server, name, arguments: given }) => [server, name, given]),
    [
      [
        's',
        'greet',
        [
          { name: 'name', description: 'Whom to greet', required: true },
          { name: 'tone', description: 'How' },
        ],
      ],
      ['s', 'talk', []],
      ['s', 'fix bugs/now', []],
    ],
  )
  assert.equal(promptCommand('my server', 'fix bugs/now'), 'my_server:fix_bugs_now')
  const ref = { type: 'ref/prompt' as const, name: 'greet' }
  const about = { ref, argument: { name: 'name', value: 'A' }, others: {} }
  assert.deepEqual(await open.suggest('s', about, t.signal), ['Ada', 'Alan Turing'])
  const [first] = await open.prompt('s', 'greet', { name: 'Ada' }, person())
  assert.deepEqual(first!.content, { type: 'text', text: 'Greet Ada warmly. See @.env' })
  await open.listed()
  const counts = () => open.status().servers.map(({ resources, prompts }) => [resources, prompts])
  assert.deepEqual(counts(), [[4, 3]])
  const before = told
  await use(open, 'mcp__s__grow')
  await until(async () => (open.prompts(), await open.listed(), counts()[0]![1] === 4))
  assert.deepEqual([counts(), told > before], [[[5, 4]], true])
  const lists = await open.listed()
  assert.equal(
    mcpPromptsText(lists),
    's  4 prompts\n  /s:greet <name> [tone]  Greets somebody.\n  /s:talk  A talk with a picture and a note.\n  /s:fix_bugs_now  Fix\n  /s:grown  Grown',
  )
  assert.equal(mcpResourcesText(lists).split('\n').at(-1), '  @s:day://{month}/{day}  day: The notes of a day.')
})

test('a hostile server is bounded and inert: endless pages, escape sequences, 50 MB, hundreds of arguments', async (t) => {
  const open = await ready(t, [scripted('evil', { data: 'hostile' })])
  const [lists] = await open.listed()
  const { resources, templates, prompts } = lists!
  assert.ok(resources.length > 4_000 && resources.length <= mostItems)
  assert.deepEqual([templates, prompts.map(({ name }) => name)], [[], ['help']])
  assert.equal(/[\x00-\x1f\x7f-\x9f\u202e]/.test(JSON.stringify(lists)), false)
  assert.deepEqual(
    [resources[0]!.uri, resources[0]!.name, resources[0]!.description!.length],
    ['evil://0/1', 'name⟨U+202E⟩1', 300],
  )
  const { text, whole } = await open.read('evil', 'evil://0/1', most, person())
  assert.ok(whole! > 50_000_000 && text.length < most + 200)
  assert.ok((await open.mentions('', t.signal)).length <= mostItems)
})
