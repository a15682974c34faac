import { test, type TestContext } from 'node:test'
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { closeNative } from '../../src/native/native-parts.ts'
import { hiddenClone } from '../safety/no-sandbox.ts'
import { opened, scripted } from '../native/tools/mcp/rig.ts'
import { Web } from '../native/tools/mcp/web.ts'
import { plain, seated, type Seat } from '../app/seat.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const agents = [{ name: 'own', kind: 'native', contextWindowTokens: 100_000 }]
const native = { agents }
const none = 'no native agent is configured. Add one with /setup, or with /config (kind "native" and a model).'

function write(seat: Seat, path: string, text: string): void {
  const file = join(seat.folder, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

const skill = (name: string, more = '') => `---\nname: ${name}\ndescription: About ${name}.\n${more}---\nDo it.\n`

/** A server that runs the tests' own program. */
const server = {
  command: process.execPath,
  args: ['--disable-warning=ExperimentalWarning', join(import.meta.dirname, '../native/tools/mcp/scripted.ts'), '{}'],
}

async function serving(t: TestContext, settings: object): Promise<Seat> {
  const seat = await seated(t, settings)
  t.after(() => closeNative(seat.app.native))
  return seat
}

test(
  '/mcp starts the servers, and shows their state, their tools and what is wrong',
  { skip: hiddenClone },
  async (t) => {
    const seat = await serving(t, { agents, mcpServers: { demo: server, broken: { nothing: true } } })
    const [starting, status] = await seat.type('/mcp')
    assert.deepEqual(starting, ['note', 'Starting demo…'])
    assert.match(
      status![1],
      /^```text\n● demo {2}connected, \d+ tools, [^\n]*\n[^\n]*\(settings\)\n! [^\n]*broken[^\n]*\n```$/,
    )
    assert.deepEqual(await seat.type('/mcp status'), [status])
    const [tools, ...more] = await seat.type('/mcp tools')
    assert.deepEqual(more, [])
    assert.match(tools![1], /^```text\ndemo {2}connected, [^\n]*\n {2}mcp__demo__\w+/)
  },
)

test('/mcp refresh ends them and begins with what is configured now', { skip: hiddenClone }, async (t) => {
  const seat = await serving(t, native)
  const words =
    'No MCP server is configured. Add servers to .mcp.json, termaite.mcp.yaml or the settings, then type /mcp refresh.'
  assert.deepEqual(await seat.type('/mcp'), [['note', words]])
  seat.app.settings.mcpServers = { demo: server }
  assert.deepEqual(await seat.type('/mcp'), [['note', words]], 'what runs is what was configured when it began')
  assert.match((await seat.type('/mcp refresh')).at(-1)![1], /\n● demo /)
  const first = await seat.app.native.state.mcp.servers
  seat.app.settings.mcpServers = { later: server }
  assert.match((await seat.type('/mcp refresh')).at(-1)![1], /^```text\n● later [^\n]*\n[^\n]*\n```$/)
  assert.equal(await seat.app.native.state.mcp.servers, first, 'a turn at work has them too')
  seat.app.settings.mcpServers = {}
  assert.deepEqual(await seat.type('/mcp refresh'), [['note', words]])
})

test('/mcp login shows the page, and the server is connected once a person has logged in there', async (t) => {
  const seat = await seated(t, native)
  const web = await new Web('modern').open(t)
  web.tokens = new Set()
  seat.app.native.state.mcp.servers = Promise.resolve(opened(t, [web.config(), scripted('demo')]))
  golden(t, (await seat.type('/mcp')).at(-1)![1], { [web.url]: '<url>' })
  const { say } = seat.world
  const pages: Promise<unknown>[] = []
  seat.world.say = (text, how) => {
    const [, url] = /^Log in to web in a browser: (http\S+)$/.exec(text) ?? []
    if (url) pages.push(fetch(url).then((page) => page.text()))
    say(text, how)
  }
  assert.match((await seat.type('/mcp login web')).at(-1)![1], /\n● web {2}connected, /)
  await Promise.all(pages)
  assert.equal(pages.length, 1)
  golden(t, await seat.type('/mcp login'))
  golden(t, await seat.type('/mcp login wbe'))
  golden(t, await seat.type('/mcp login demo'))
})

test(
  '/mcp uses nothing of a folder that is not trusted, and corrects a mistyped name',
  { skip: hiddenClone },
  async (t) => {
    // A project's server runs in the sandbox, which does not show this checkout.
    const seat = await serving(t, { ...native, sandbox: { show: [join(import.meta.dirname, '../..')] } })
    write(seat, 'project/.mcp.json', JSON.stringify({ mcpServers: { demo: server } }))
    const [[how, words] = ['', '']] = await seat.type('/mcp')
    assert.equal(how, 'note')
    assert.match(words, /The servers of this folder are used only after you trust it: type \/trust\.$/)
    assert.deepEqual(await seat.type('/mcp tolls'), [
      ['error', 'there is no subcommand "tolls"; did you mean "tools"?'],
    ])
    assert.deepEqual(await seat.type('/mcp tools all'), [['error', '/mcp tools takes no further words.']])
    seat.answers.push(['trust'])
    await seat.type('/trust')
    assert.match((await seat.type('/mcp')).at(-1)![1], /\n● demo [^\n]*\n[^\n]*\(\.mcp\.json\)\n/)
    const other = await seated(t, plain({ amber: 'true' }))
    assert.deepEqual(await other.type('/mcp'), [['error', none]])
  },
)

test('/skills lists the person’s own and, once it is trusted, the project’s', async (t) => {
  const seat = await seated(t, native)
  const [[, words] = ['', '']] = await seat.type('/skills')
  golden(t, words)
  write(seat, 'termaite/skills/notes/SKILL.md', skill('notes'))
  write(seat, 'project/.skills/pdf/SKILL.md', skill('pdf'))
  golden(t, await seat.type('/skills'))
  seat.answers.push(['trust'])
  await seat.type('/trust')
  assert.deepEqual(await seat.type('/skills'), [
    ['text', '- notes · your own: About notes.\n- pdf · of the project: About pdf.'],
  ])
})

test('a skill is a command by its trigger or its name, where no other has that; a project’s once it is trusted', async (t) => {
  const seat = await seated(t, native)
  const all = seat.commands()
  const typed = (name: string) => all.find((command) => command.name === name)
  const ofSkills = () => all.flatMap(({ name, help }) => (help.startsWith('Skill: ') ? [name] : []))
  write(seat, 'termaite/skills/notes/SKILL.md', skill('notes', 'trigger: /note\n'))
  write(seat, 'termaite/skills/other/SKILL.md', skill('other', 'trigger: /note\n'))
  write(seat, 'termaite/skills/helping/SKILL.md', skill('helping', 'trigger: /help\n'))
  write(seat, 'termaite/skills/words/SKILL.md', skill('words', 'trigger: when asked for words\n'))
  write(seat, 'termaite/skills/undo/SKILL.md', skill('undo'))
  write(seat, 'termaite/skills/style/SKILL.md', skill('style', 'user-invocable: false\n'))
  write(seat, 'project/.skills/pdf/SKILL.md', skill('pdf'))
  await typed('skills')!.run('', seat.world)
  assert.deepEqual(ofSkills(), ['helping', 'note', 'other', 'words'])
  await typed('note')!.run('what was said', seat.world)
  await typed('note')!.run('', seat.world)
  assert.deepEqual(seat.turned, [
    ['aim', 'own'],
    ['send', 'Use the skill notes: what was said'],
    ['aim', 'own'],
    ['send', 'Use the skill notes: do what it says.'],
  ])
  seat.answers.push(['trust'])
  await typed('trust')!.run('', seat.world)
  assert.deepEqual(ofSkills(), ['helping', 'note', 'other', 'pdf', 'words'])
})

test('/skill lets our own agent load one: with a request it is sent, without one it is typed on', async (t) => {
  const seat = await seated(t, native)
  assert.match((await seat.type('/skill pdf'))[0]![1], /^there are no skills\. /)
  for (const name of ['notes', 'pdf']) write(seat, `termaite/skills/${name}/SKILL.md`, skill(name))
  golden(t, await seat.type('/skill'))
  assert.deepEqual(await seat.type('/skill pfd'), [['error', 'there is no skill "pfd"; did you mean "pdf"?']])
  assert.deepEqual(seat.turned, [])
  golden(t, await seat.type('/skill pdf'))
  assert.deepEqual(await seat.type('/skill notes read it\nall'), [])
  const load = (name: string) => `Use the skill ${name}: `
  assert.deepEqual(seat.turned, [
    ['aim', 'own'],
    ['fill', load('pdf')],
    ['aim', 'own'],
    ['send', `${load('notes')}read it\nall`],
  ])
  assert.deepEqual(await seat.complete('skill', 'p'), ['pdf'])
  const other = await seated(t, plain({ amber: 'true' }))
  golden(t, await other.type('/skill pdf'))
})

test('/permissions shows the mode and every rule, and takes back rules of this project', async (t) => {
  const permissions = {
    mode: 'acceptEdits',
    allow: ['bash(npm test:*)'],
    ask: ['web_fetch'],
    deny: ['file_reader(.env)'],
  }
  const seat = await seated(t, { agents, permissions, sandbox: { enabled: false } })
  await seat.app.project.doc.update((doc) => ({ ...doc, rules: ['bash(make:*)', 'bash(ls)'] }))
  golden(t, await seat.type('/permissions'))
  seat.answers.push(['bash(make:*)'], undefined)
  golden(t, await seat.type('/permissions remove'))
  assert.deepEqual(await seat.type('/permissions remove'), [])
  assert.deepEqual(
    seat.asked.map(({ options }) => options.map(({ id }) => id)),
    [['bash(make:*)', 'bash(ls)'], ['bash(ls)']],
  )
  assert.deepEqual((await seat.app.project.doc.read()).rules, ['bash(ls)'])
})

test('/permissions shows what was answered about keys, and takes it back', async (t) => {
  const seat = await seated(t, { agents, sandbox: { enabled: false } })
  await seat.app.project.doc.update((doc) => ({ ...doc, keys: 'shown' }))
  golden(t, await seat.type('/permissions'))
  seat.answers.push(['the answer about keys'])
  golden(t, await seat.type('/permissions remove'))
  assert.equal((await seat.app.project.doc.read()).keys, undefined)
})

test('/permissions shows the places that commands read by an answer, and takes one back', async (t) => {
  const seat = await seated(t, { agents, sandbox: { enabled: false } })
  await seat.app.project.doc.update((doc) => ({ ...doc, shown: ['/srv/data', '/srv/more'] }))
  golden(t, await seat.type('/permissions'))
  seat.answers.push(['shown /srv/data'])
  golden(t, await seat.type('/permissions remove'))
  assert.deepEqual((await seat.app.project.doc.read()).shown, ['/srv/more'])
})

test('/permissions shows every lasting yes of this project, and takes each back', async (t) => {
  const seat = await seated(t, { agents, leash: 'all', sandbox: { enabled: false } })
  write(seat, 'more/notes', '')
  const folder = join(seat.folder, 'more')
  await seat.app.project.doc.update((doc) => ({ ...doc, folders: [folder], allAgreed: true, thinkingAgreed: true }))
  seat.app.native.folders.add(folder)
  seat.app.thinking.agreed = true
  golden(t, await seat.type('/permissions'), { [seat.folder]: '<seat>' })
  const grants = [`folder ${folder}`, 'the answer about thinking', 'the leash all']
  for (const grant of grants) {
    seat.answers.push([grant])
    golden(t, await seat.type('/permissions remove'), { [seat.folder]: '<seat>' })
  }
  assert.deepEqual(
    seat.asked.map(({ options }) => options.map(({ id }) => id)),
    [grants, grants.slice(1), grants.slice(2)],
  )
  const { folders, allAgreed, thinkingAgreed } = await seat.app.project.doc.read()
  assert.deepEqual(
    { folders, allAgreed, thinkingAgreed },
    { folders: [], allAgreed: undefined, thinkingAgreed: undefined },
  )
  assert.deepEqual([seat.app.native.folders.now, seat.app.thinking.agreed], [[], false])
})

test('/permissions without rules, and with a word that it does not know', async (t) => {
  const seat = await seated(t, { agents, sandbox: { enabled: false } })
  golden(t, await seat.type('/permissions'))
  golden(t, await seat.type('/permissions remove'))
  assert.deepEqual(await seat.type('/permissions remov'), [
    ['error', 'there is no subcommand "remov"; did you mean "remove"?'],
  ])
})

test('/trust shows what there is, trusts it as it was seen, and forgets it', async (t) => {
  const seat = await seated(t, native)
  golden(t, await seat.type('/trust'))
  assert.deepEqual(await seat.type('/trust me'), [['error', '/trust takes no arguments.']])
  write(seat, 'project/.mcp.json', '{}')
  golden(t, await seat.type('/trust'))
  seat.answers.push(['trust'], undefined, ['forget'])
  golden(t, await seat.type('/trust'))
  assert.deepEqual(await seat.type('/trust'), [], 'a card that is left changes nothing')
  golden(t, await seat.type('/trust'), { [seat.folder]: '<seat>' })
  assert.deepEqual(
    seat.asked.map(({ about, shows, options }) => [about, shows, options.map(({ id }) => id)]),
    [
      ['trust', undefined, ['no', 'trust']],
      ['trust', [{ type: 'text', text: '.mcp.json' }], ['no', 'trust']],
      ['trust', [{ type: 'text', text: '.mcp.json' }], ['no', 'trust']],
      ['choice', [{ type: 'text', text: '.mcp.json' }], ['forget', 'keep']],
      ['choice', [{ type: 'text', text: '.mcp.json' }], ['forget', 'keep']],
    ],
  )
  const { ask } = seat.world
  seat.world.ask = async (...question) => {
    write(seat, 'project/.mcp.json', '{"mcpServers":{}}')
    return ask(...question)
  }
  seat.answers.push(['trust'])
  golden(t, await seat.type('/trust'))
})

test('/todos shows the tasks of the folder', async (t) => {
  const seat = await seated(t, native)
  assert.deepEqual(await seat.type('/todos'), [['note', 'There are no tasks.']])
  golden(t, await seat.type('/todos add'))
  const items = [
    { task: 'read', status: 'completed' },
    { task: 'write', status: 'in_progress' },
  ]
  write(seat, 'project/.todos.json', JSON.stringify({ items }))
  assert.deepEqual(await seat.type('/todos'), [['text', '```text\n[x] read\n[>] write\n```']])
  write(seat, 'project/.todos.json', 'hello')
  golden(t, await seat.type('/todos'))
})

test('/context draws what fills the window of our own agent', async (t) => {
  const seat = await seated(t, native)
  const { conversation, blobs } = seat.app
  golden(t, await seat.type('/context own'))
  assert.deepEqual(await seat.type('/context owl'), [['error', 'there is no native agent "owl"; did you mean "own"?']])
  const tool = (name: string, length: number) => ({ name, description: 'x'.repeat(length), schema: {} })
  const frame = { system: 's'.repeat(40_000), tools: [tool('bash', 4000), tool('ls', 400)] }
  const ref = await blobs.put(JSON.stringify({ key: 'agent x', frame, told: [] }), 'application/json')
  await conversation.append({ type: 'frame', ref }, 'own', 't1')
  await conversation.append({ type: 'prompt', text: 'hello' }, 'user', 't1')
  await conversation.append({ type: 'end', outcome: { ok: true, text: '' } }, 'own', 't1')
  const [[how, words] = ['', '']] = await seat.type('/context own')
  assert.equal(how, 'text')
  const lines = words.split('\n')
  assert.match(lines[0]!, /^own: [\d,]+ of 100,000 tokens are used \(estimated\), \d+ %\.$/)
  assert.deepEqual(
    lines.slice(2, -1).map((line) => /^(\S+) +([█░]{24}) /.exec(line)?.slice(1)),
    [
      ['system', `${'█'.repeat(2)}${'░'.repeat(22)}`],
      ['tools', `█${'░'.repeat(23)}`],
      ['messages', `█${'░'.repeat(23)}`],
      ['free', `${'█'.repeat(21)}${'░'.repeat(3)}`],
    ],
  )
  assert.match(lines[3]!, / bash [\d,]+, ls [\d,]+$/)
  const usage = { type: 'usage' as const, output: 5, source: 'reported' as const }
  await conversation.append({ ...usage, input: 1000, written: 800 }, 'own', 't1')
  await conversation.append({ ...usage, input: 1200, cached: 800, written: 200 }, 'own', 't1')
  const [[, told] = ['', '']] = await seat.type('/context own')
  golden(t, told.split('\n').slice(-2))
})

test('/context of another program’s agent shows the conversation against the windows', async (t) => {
  const seat = await seated(t, plain({ amber: 'cat >/dev/null; echo fine' }))
  const [size] = await seat.type('/context_size')
  assert.deepEqual(await seat.type('/context'), [size])
  golden(t, await seat.type('/context amber'))
})
