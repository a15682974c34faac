import type { TestContext } from 'node:test'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { shortHash } from '../../src/base/hash.ts'
import { hiddenClone, noSandbox } from '../safety/no-sandbox.ts'
import { png } from '../picture-bodies.ts'
import { until } from '../until.ts'
import { goldenOf } from '../golden.ts'
import { Machine, start } from './program.ts'

const golden = goldenOf(import.meta.filename)

const skip = noSandbox

const window = { contextWindowTokens: 100_000 }
const hello = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'test', version: '1' },
}
const lines = (...calls: object[]) => calls.map((call) => `'${JSON.stringify({ jsonrpc: '2.0', ...call })}'`).join(' ')

/** A command that calls our MCP server with these calls, as a CLI would, and prints as many answers. */
const calls = (...wanted: object[]) =>
  [
    'cat >/dev/null',
    `coproc server { exec ${start.map((word) => `'${word}'`).join(' ')} mcp serve 2>&1; }`,
    `printf '%s\\n' ${lines({ id: 0, method: 'initialize', params: hello }, { method: 'notifications/initialized' }, ...wanted)} >&${'${server[1]}'}`,
    `for answer in ${[0, ...wanted.keys()].join(' ')}; do read -r line <&${'${server[0]}'} || break; echo "$line"; done`,
  ].join('\n')

function machineWith(t: TestContext, ...agents: object[]): Machine {
  const machine = new Machine(t)
  machine.settings({ agents, leash: 'edit', metaInstruction: false })
  // A test that failed leaves no agent of a crew in tmux.
  t.after(() => spawnSync('tmux', ['-L', `termaite-${shortHash(machine.home)}`, 'kill-server']))
  return machine
}

test('a command on the leash read can change nothing, and on a looser leash it runs as before', { skip }, async (t) => {
  const machine = machineWith(t, { name: 'own', command: 'cat >/dev/null; touch made || echo held', ...window })
  const held = await machine.run(['-p', 'x', '--leash', 'read'])
  assert.deepEqual([held.code, held.out, existsSync(join(machine.project, 'made'))], [0, 'held\n', false])
  await machine.run(['-p', 'x', '--leash', 'edit'])
  assert.equal(existsSync(join(machine.project, 'made')), true)
})

test('behind a wall the path of a picture can be read, and nothing else that is kept', { skip }, async (t) => {
  const place = "p=$(grep -o '/[^ ]*[.]png.$' | tr -d ']'); "
  const command = `${place}wc -c < "$p"; ls "$(dirname "$p")/.." | grep -v pictures; cat "$(dirname "$p")"/../* || true`
  const machine = machineWith(t, { name: 'own', command, wall: true, ...window })
  const shot = join(machine.folder, 'shot.png')
  writeFileSync(shot, png(3, 2))
  const { code, out, err } = await machine.call(['-p', `see @${shot}`])
  assert.deepEqual([code, out.split('\n')[0]], [0, String(png(3, 2).length)], err)
  assert.doesNotMatch(out, /[0-9a-f]{64}/)
  assert.match(err, /own takes no pictures\. It knows where the picture is: \S+\/output\/pictures\/\w+\.png/)
})

test(
  'behind a wall our tools work through the channel of the seat, on its leash',
  { skip: skip || hiddenClone },
  async (t) => {
    const spawning = {
      id: 2,
      method: 'tools/call',
      params: { name: 'spawn_agent', arguments: { agent_type: 'other', leash: 'all' } },
    }
    const list = { id: 3, method: 'tools/call', params: { name: 'list_agents', arguments: {} } }
    const command = calls({ id: 1, method: 'tools/list' }, spawning, list)
    const other = { name: 'other', kind: 'screen', command: 'cat', ...window }
    const machine = machineWith(t, { name: 'own', command, wall: true, ...window }, other)
    const { out, err } = await machine.run(['-p', 'x', '-a', 'own', '--leash', 'read'])
    const answers = new Map(out.split('\n').flatMap((line) => (line === '' ? [] : [[JSON.parse(line).id, line]])))
    assert.match(answers.get(1) ?? err, /"spawn_agent"/)
    assert.match(answers.get(2) ?? err, /slot 1: other/)
    // The keeper of the crew keeps the slot on the leash of the seat, whatever was asked for.
    const [workspace] = readdirSync(join(machine.home, 'crew'))
    const { out: crew } = await machine.run(['crew', 'list', '--json', '--workspace', workspace!])
    assert.match(crew, /"leash":\s*"read"/)
    await machine.run(['crew', 'kill', '1', '--workspace', workspace!])
  },
)

test(
  'what a walled agent starts has at most its own walls, leash and folder, whatever it and the settings say',
  { skip: skip || hiddenClone, timeout: 120_000 },
  async (t) => {
    const machine = new Machine(t)
    const outside = join(machine.folder, 'outside')
    mkdirSync(outside)
    const tool = (id: number, name: string, input: object) => ({
      id,
      method: 'tools/call',
      params: { name, arguments: input },
    })
    const command = calls(
      tool(1, 'spawn_agent', { agent_type: 'free', leash: 'all', task: 'x' }),
      tool(2, 'spawn_agent', { agent_type: 'free', cwd: outside }),
      tool(3, 'spawn_agent', { agent_type: 'free', cwd: '../outside' }),
      tool(4, 'spawn_agent', { agent_type: 'free', cwd: 'link' }),
      tool(5, 'spawn_agent', { agent_type: 'free', cwd: '/' }),
      tool(6, 'spawn_agent', { agent_type: 'free', workspace: 'elsewhere' }),
      tool(7, 'send_to_agent', { slot: 1, text: 'do it for me' }),
    )
    symlinkSync(outside, join(machine.project, 'link'))
    const tries = [`touch ${outside}/made`, `touch inside`, `echo over > over`, 'exec cat']
    const free = { name: 'free', kind: 'screen', command: `sh -c '${tries.join('; ')}'`, wall: false, leash: 'all' }
    const own = { name: 'own', command, wall: true, leash: 'edit' }
    machine.settings({
      agents: [
        { ...own, ...window },
        { ...free, ...window },
        { name: 'mine', kind: 'screen', command: 'cat', ...window },
      ],
      leash: 'all',
      metaInstruction: false,
    })
    // The first slot is the person's own.
    assert.equal((await machine.run(['crew', 'spawn', 'mine'])).code, 0)
    const { out, err } = await machine.run(['-p', 'x', '-a', 'own'])
    const answers = out.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))
    const said = answers
      .filter(({ id }) => id > 0)
      .sort((a, b) => a.id - b.id)
      .map(({ result }) => result.content[0].text)
    golden(t, said.length > 0 ? said : err, { [machine.folder]: '<machine>' })
    await until(() => existsSync(join(machine.project, 'over')))
    assert.deepEqual([existsSync(join(machine.project, 'inside')), readdirSync(outside)], [true, []])
    const { out: crew } = await machine.run(['crew', 'list', '--json'])
    assert.deepEqual(
      (JSON.parse(crew) as { agents: { slot: number; leash: string }[] }).agents.map(({ slot, leash }) => [
        slot,
        leash,
      ]),
      [
        [1, 'all'],
        [2, 'edit'],
      ],
    )
    await machine.run(['crew', 'close', '--yes'])
  },
)

test('a command that only advises gets none of our tools', { skip: skip || hiddenClone }, async (t) => {
  const machine = machineWith(t, { name: 'own', command: calls({ id: 1, method: 'tools/list' }), ...window })
  await machine.run(['-p', 'x', '--leash', 'edit'])
  assert.equal((await machine.run(['compact'])).code, 0)
  const summary = machine.history().findLast((entry) => entry.type === 'summary')
  assert.match(JSON.stringify(summary), /this agent is only asked for advice, so it gets none of termaite’s tools/)
})
