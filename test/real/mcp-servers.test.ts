import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Asked } from './model-server.ts'
import { ProgramWindow, keys } from '../screen/program-window.ts'
import { everything, filesystem, installedServers, lastTexts, resultOf, wrapped, withServers } from './mcp-rig.ts'

const skip = installedServers()
const options = { skip, timeout: 120_000 }
const all = { permissions: { allow: ['mcp__everything', 'mcp__files'] } }

test('filesystem: the model gets its tools, which know the roots, and read and write there', options, async (t) => {
  const { server, machine, run } = await withServers(
    t,
    { files: filesystem() },
    ({ count }) => {
      const file = join(machine.project, 'a.txt')
      if (count === 1) return { call: { tool: 'mcp__files__list_allowed_directories', input: {} } }
      if (count === 2) return { call: { tool: 'mcp__files__read_text_file', input: { path: file } } }
      if (count === 3) return { call: { tool: 'mcp__files__write_file', input: { path: file, content: 'two' } } }
      if (count === 4)
        return { call: { tool: 'mcp__files__read_text_file', input: { path: join(machine.folder, 'outside.txt') } } }
      return { text: 'Done.' }
    },
    { permissions: { allow: ['mcp__files'] } },
  )
  writeFileSync(join(machine.project, 'a.txt'), 'one')
  writeFileSync(join(machine.folder, 'outside.txt'), 'not yours')
  const { code, out, err } = await run('-p', 'use it', '--leash', 'edit')
  assert.deepEqual({ code, out }, { code: 0, out: 'Done.\n' }, err)
  // Of a server that starts within a second the first request tells, otherwise the one after its first call.
  assert.ok(server.turns()[1]!.text.includes('mcp__files__read_text_file'))
  assert.match(resultOf(server.turns()[1]!), new RegExp(`Allowed directories:\\n${machine.project}`))
  assert.match(resultOf(server.turns()[2]!), /one/)
  assert.match(resultOf(server.turns()[4]!), /Access denied/)
  assert.equal(readFileSync(join(machine.project, 'a.txt'), 'utf8'), 'two')
})

test(
  'everything: resources by @ and by the tool, once each, and a second agent has those of the first',
  options,
  async (t) => {
    const { server, machine, run } = await withServers(
      t,
      { everything },
      ({ count }) => {
        if (count === 2)
          return {
            call: { tool: 'more_tools', input: { name: 'mcp__everything__resources', input: { find: 'startup' } } },
          }
        if (count === 3) {
          const uri = 'demo://resource/static/document/startup.md'
          return { call: { tool: 'more_tools', input: { name: 'mcp__everything__resources', input: { uri } } } }
        }
        return { text: 'Read.' }
      },
      all,
    )
    const uri = 'demo://resource/dynamic/text/7'
    const first = await run('-p', `Sum up @everything:${uri}, please.`)
    assert.deepEqual([first.code, first.out], [0, 'Read.\n'], first.err)
    const [prompt] = machine.history().flatMap((entry) => (entry.type === 'prompt' ? [entry.text] : []))
    assert.match(
      prompt!,
      new RegExp(
        `^Sum up everything:${uri}, please\\.\n\n<resource server="everything" uri="${uri}">\nResource 7: This is a plaintext resource created at .*\n</resource>$`,
      ),
    )
    assert.ok(server.turns()[0]!.text.includes(JSON.stringify(prompt).slice(1, -1)))
    const second = await run('-p', 'Now look for the startup.')
    assert.equal(second.code, 0, second.err)
    assert.match(resultOf(server.turns()[2]!), /^- demo:\/\/resource\/static\/document\/startup\.md: /)
    assert.match(resultOf(server.turns()[3]!), /Startup/)
    // The second process sent the resource of the first turn as it was read then.
    assert.ok(server.turns()[1]!.text.includes(JSON.stringify(prompt).slice(1, -1)))
    const other = await withServers(t, {}, () => ({ text: 'unused' }))
    other.machine.agents({ cat: 'cat' }, { metaInstruction: false, mcpServers: { everything } })
    const piped = await other.run('-p', `Say @everything:${uri}`)
    assert.match(piped.out, /<resource server="everything" uri="demo:\/\/resource\/dynamic\/text\/7">\nResource 7: /)
  },
)

test(
  'everything: prompts with their arguments; without a required one -p exits with 2 and names it',
  options,
  async (t) => {
    const { server, run } = await withServers(t, { everything }, () => ({ text: 'Sunny.' }))
    const asked = await run('-p', '/everything:args-prompt city=Paris state="New York"')
    assert.deepEqual([asked.code, asked.out], [0, 'Sunny.\n'], asked.err)
    assert.equal(
      lastTexts(server.turns()[0]!, 'Use the prompt'),
      'Use the prompt everything:args-prompt city=Paris state="New York"\n\n<prompt server="everything">\nWhat\'s weather in Paris, New York?\n</prompt>',
    )
    const lacking = await run('-p', '/everything:completable-prompt Sales')
    assert.deepEqual(
      [lacking.code, lacking.err],
      [
        2,
        'termaite: /everything:completable-prompt needs name. Give it as in: /everything:completable-prompt <department> <name>, or name="…".\n',
      ],
    )
    const unknown = await run('-p', '/everything:nothing')
    assert.equal(unknown.code, 2)
    assert.match(
      unknown.err,
      /^termaite: the MCP server everything has no prompt \/everything:nothing; it has \/everything:/,
    )
    const embedded = await run('-p', '/everything:resource-prompt Text 3')
    assert.equal(embedded.code, 0, embedded.err)
    assert.match(
      lastTexts(server.turns()[1]!, 'Use the prompt'),
      /<resource server="everything" uri="demo:\/\/resource\/dynamic\/text\/3">\nResource 3: /,
    )
    assert.equal(server.turns().length, 2)
  },
)

test('everything: pictures, structure, progress; nobody to ask declines an elicitation', options, async (t) => {
  const calls = [
    { tool: 'mcp__everything__get-tiny-image', input: {} },
    { tool: 'mcp__everything__get-structured-content', input: { location: 'Chicago' } },
    { tool: 'mcp__everything__trigger-long-running-operation', input: { duration: 0.2, steps: 2 } },
    { tool: 'mcp__everything__trigger-elicitation-request', input: {} },
    { tool: 'mcp__everything__get-resource-links', input: { count: 2 } },
  ]
  const { server, run } = await withServers(
    t,
    { everything },
    ({ count }) => (count <= calls.length ? { call: calls[count - 1]! } : { text: 'Seen.' }),
    all,
  )
  const { code, out, err } = await run('-p', 'try all')
  assert.deepEqual([code, out], [0, 'Seen.\n'], err)
  const results = server
    .turns()
    .slice(1)
    .map((asked) => resultOf(asked))
  assert.match(server.turns()[1]!.text, /"media_type":"image\/png"/)
  assert.match(results[1]!, /temperature/)
  assert.match(results[2]!, /Long running operation completed/)
  assert.match(results[3]!, /declined/i)
  assert.match(results[4]!, /demo:\/\/resource\/dynamic/)
})

test('a server that starts late is told of in a message, and the prefix stays as it was', options, async (t) => {
  const { server, machine, settings, run } = await withServers(t, {}, ({ count, text }) => {
    if (text.includes('Echo: hello')) return { text: 'Heard.' }
    if (text.includes('mcp__late__echo'))
      return { call: { tool: 'more_tools', input: { name: 'mcp__late__echo', input: { message: 'hello' } } } }
    return { call: { tool: 'bash', input: { command: `sleep 1; echo ${count}` } } }
  })
  const late = wrapped(`sleep 5; exec ${everything.command} ${everything.args.join(' ')}`)
  machine.settings({ ...settings, mcpServers: { late }, permissions: { allow: ['mcp__late', 'bash'] } })
  const { code, out, err } = await run('-p', 'wait for it', '--leash', 'edit')
  assert.deepEqual([code, out], [0, 'Heard.\n'], err)
  const told = server.turns().findIndex(({ text }) => text.includes('mcp__late__echo'))
  assert.ok(told > 0)
  assert.match(server.turns()[told]!.text, /More tools of MCP servers are there now[^"]*mcp__late__echo/)
  const frame = ({ body }: Asked) => {
    const { system, tools } = body as { system: unknown; tools: unknown }
    return JSON.stringify([system, tools])
  }
  assert.deepEqual([...new Set(server.turns().map(frame))], [frame(server.turns()[0]!)])
})

test(
  'a server that dies in a call or at its start fails with words, is started again, and is told of once',
  options,
  async (t) => {
    const long = { tool: 'mcp__frail__trigger-long-running-operation', input: { duration: 60, steps: 120 } }
    const sum = { tool: 'mcp__frail__get-sum', input: { a: 1, b: 2 } }
    const { server, machine, settings, run } = await withServers(t, {}, (asked) => {
      if (asked.count === 1) return { call: long }
      if (resultOf(asked).includes('is 3')) return { text: 'Enough.' }
      const pause = { tool: 'bash', input: { command: `sleep 1; echo ${asked.count}` } }
      return asked.count < 40 ? { call: asked.count % 2 ? sum : pause } : { text: 'Never.' }
    })
    const script = join(import.meta.dirname, 'mcp-fixture/frail.ts')
    const frail = { command: process.execPath, args: [script, join(machine.project, 'started'), ...everything.args] }
    const dead = wrapped('echo "no licence" >&2; exit 4')
    machine.settings({ ...settings, mcpServers: { frail, dead }, permissions: { allow: ['mcp__frail', 'bash'] } })
    const { code, out, err } = await run('-p', 'go on', '--leash', 'edit')
    assert.deepEqual([code, out], [0, 'Enough.\n'], err)
    assert.match(
      resultOf(server.turns()[1]!),
      /the MCP server frail stopped during this call \(.*it ended with 3\)\. It is being restarted; termaite does not know whether the call had an effect/,
    )
    const told = (words: string) => err.split('\n').filter((line) => line.includes(words)).length
    assert.deepEqual(
      [
        told('The MCP server dead does not run: no licence; it ended with 4.'),
        told('The MCP server frail does not run'),
      ],
      [1, 1],
      err,
    )
  },
)

test('the servers of a project without trust give no resource and no prompt', options, async (t) => {
  const { server, machine, run } = await withServers(t, {}, () => ({ text: 'ok' }))
  mkdirSync(join(machine.project, '.git'), { recursive: true })
  const ran = join(machine.project, 'ran')
  const evil = wrapped(`touch ${ran}; exec ${everything.command} ${everything.args.join(' ')}`)
  writeFileSync(join(machine.project, '.mcp.json'), JSON.stringify({ mcpServers: { evil } }))
  const named = await run('-p', 'See @evil:demo://resource/dynamic/text/1')
  assert.equal(named.code, 0)
  assert.match(
    named.err,
    /@evil:demo:\/\/resource\/dynamic\/text\/1: there is no MCP server evil; no MCP server is configured\. The servers of this folder are used only after you trust it: type \/trust, or run termaite trust/,
  )
  await run('-p', '/evil:simple-prompt')
  assert.deepEqual([existsSync(ran), lastTexts(server.turns()[1]!, '/evil')], [false, '/evil:simple-prompt'])
})

test('everything in a real terminal: @ and / are completed, and its forms and pages are cards', options, async (t) => {
  const page = { url: 'https://example.com/pay', message: 'Pay first.', elicitationId: 'one' }
  const calls = [
    { tool: 'mcp__everything__trigger-elicitation-request', input: {} },
    { tool: 'mcp__everything__trigger-url-elicitation', input: page },
    { tool: 'mcp__everything__trigger-url-elicitation', input: { ...page, elicitationId: 'two', errorPath: true } },
  ]
  const { server, machine, env } = await withServers(
    t,
    { everything },
    ({ count }) => (count >= 3 && count <= 5 ? { call: calls[count - 3]! } : { text: `Answer ${count}.` }),
    all,
  )
  const window = new ProgramWindow(machine, { size: { cols: 100, rows: 40 }, env })
  t.after(() => window.end())
  await window.shows('next native')
  window.type('Look at @features')
  await window.shows('› everything:demo://resource/static/document/features.md')
  window.type(keys.tab)
  await window.shows('Look at @everything:demo://resource/static/document/features.md')
  window.type(keys.enter)
  await window.shows('Answer 1.')
  assert.match(
    lastTexts(server.turns()[0]!, 'Look at'),
    /^Look at everything:demo:\/\/resource\/static\/document\/features\.md\s*\n\n<resource server="everything" uri="demo:\/\/resource\/static\/document\/features\.md">\n# Everything Server - Features\n/,
  )
  window.type('/everything:completable-prompt Sa')
  await window.shows('› Sales')
  window.type(keys.tab)
  await window.shows(/completable-prompt Sales$/m)
  window.type(' ')
  await window.shows('› Sales David')
  window.type(keys.tab)
  await window.shows(/completable-prompt Sales David$/m)
  window.type(keys.enter)
  await window.shows('Answer 2.')
  assert.match(lastTexts(server.turns()[1]!, 'Use the prompt'), /Please promote David to the head of the Sales team\./)

  window.type('ask me')
  window.type(keys.enter)
  // The form: its first field is a name in free words, and the rest is skipped.
  await window.shows(/The MCP server everything asks: [^]*Enter answers/)
  window.type('Ada')
  window.type(keys.enter)
  for (let field = 0; field < 20; field++) {
    const screen = await window.shows(/Enter answers|open a page/)
    if (screen.includes('open a page')) break
    const skip = /(\d) (?:Skip|Keep [^\n]*?) *$/m.exec(screen)?.[1] ?? '1'
    const asked = /The MCP server everything asks:[^]*?\n ([^\n]*?) *\n/.exec(screen)?.[1]
    window.type(/\[[ x]\]/.test(screen) ? keys.enter : skip)
    await window.shows(
      (next) => !next.includes('Enter answers') || !next.includes(asked ?? '\0') || next.includes('open a page'),
    )
  }
  const card = await window.shows(
    /asks you to open a page of example\.com: Pay first\.[^]*https:\/\/example\.com\/pay[^]*Enter answers/,
  )
  assert.match(card, /1 Yes, open it in the browser[^]*2 No, do not open it[^]*3 I open the page myself/)
  window.type('3')
  await window.shows((screen) => !screen.includes('Enter answers'))
  // The same by the protocol's error: the call is made again after the yes.
  await window.shows(/asks you to open a page[^]*Enter answers/)
  window.type('3')
  await window.shows((screen) => !screen.includes('Enter answers'))
  await window.shows(/asks you to open a page[^]*Enter answers|Answer 6\./)
  window.type('3')
  await window.shows('Answer 6.')
  assert.match(resultOf(server.turns()[3]!), /Ada/)
  assert.match(resultOf(server.turns()[4]!), /accept/i)
})
