import type { ChildProcess } from 'node:child_process'
import { spawnSync } from 'node:child_process'
import type { TestContext } from 'node:test'
import type { Entry } from '../../src/core/talk/entry.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { shortHash } from '../../src/base/hash.ts'
import { sized } from '../full.ts'
import { until } from '../until.ts'
import { Machine, shownTexts } from './program.ts'

const fake = join(import.meta.dirname, '..', 'fixtures', 'fake-cli.cjs')

const rounds = sized(6, 100)
const lanes = 3

/** How an answer is cut off: by Ctrl+C, by `kill -9` of termaite, or by the death of the agent. */
type Way = 'cancel' | 'kill' | 'death'

/** Says `r<round>w1 r<round>w2 …` without end, or dies after its prompt's number of words. */
const pipe = `r=$(grep -o 'round [0-9]* until [0-9]*' | tail -1); set -- $r; i=0
while i=$((i+1)); do echo "r$2w$i"; [ $i = "$4" ] && kill -9 $$; sleep 0.01; done`

/** The same over ACP, with only as much of the protocol as a turn needs. */
const acp = `
import { createInterface } from 'node:readline'
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n')
let over
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line)
  if (method === 'initialize') send({ id, result: { protocolVersion: 1, agentCapabilities: {} } })
  else if (method === 'session/new') send({ id, result: { sessionId: 's' } })
  else if (method === 'session/cancel') over()
  else if (method === 'session/prompt') {
    const asked = params.prompt.map(({ text }) => text).join('')
    const [, round, last] = [...asked.matchAll(/round (\\d+) until (\\d+)/g)].at(-1)
    let word = 0
    const timer = setInterval(() => {
      const content = { type: 'text', text: 'r' + round + 'w' + ++word + ' ' }
      send({ method: 'session/update', params: { sessionId: 's', update: { sessionUpdate: 'agent_message_chunk', content } } })
      if (word === Number(last)) process.kill(process.pid, 'SIGKILL')
    }, 10)
    over = () => (clearInterval(timer), send({ id, result: { stopReason: 'cancelled' } }))
  } else if (id !== undefined) send({ id, result: {} })
}
process.exit()
`

/** The same as a model on loopback; it "dies" by closing its connection. */
async function model(t: TestContext): Promise<string> {
  const server = createServer(async (request, response) => {
    const [, round, last] = [...(await text(request)).matchAll(/round (\d+) until (\d+)/g)].at(-1)!
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    let word = 0
    const timer = setInterval(() => {
      const choices = [{ index: 0, delta: { content: `r${round}w${++word} ` }, finish_reason: null }]
      const dies = word === Number(last)
      if (dies) clearInterval(timer)
      response.write(`data: ${JSON.stringify({ choices })}\n\n`, () => dies && response.destroy())
    }, 10)
    response.on('close', () => clearInterval(timer))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
}

/** The words of a round in some text, in their order. */
const wordsIn = (round: number, found: string) => found.match(new RegExp(`\\br${round}w\\d+\\b`, 'g')) ?? []

/** Gathers the words that a process prints as its agent says them. */
function printed(child: ChildProcess, round: number) {
  let out = ''
  child.stderr!.resume()
  child.stdout!.setEncoding('utf8').on('data', (chunk: string) => (out += chunk))
  const closed = new Promise((resolve) => child.on('close', resolve))
  const lines = () =>
    out
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Entry | { type: 'text'; delta: string })
  return {
    closed,
    turn: () => lines().flatMap((event) => (event.type === 'prompt' ? [event.turn] : []))[0],
    words: () =>
      wordsIn(
        round,
        lines()
          .map((event) => (event.type === 'text' ? event.delta : ''))
          .join(''),
      ),
  }
}

type Round = { round: number; way: Way; kind: string; turn: string; seen: string[] }

/** Cuts one answer off after a number of words; returns the words that must be in the history. */
async function cutOff(machine: Machine, round: number, kinds: readonly string[]): Promise<Round> {
  const way = (['cancel', 'kill', 'death'] as const)[round % 3]!
  const kind = kinds[Math.floor(round / 3) % kinds.length]!
  const moment = 1 + ((round * 37) % 53)
  const asked = `round ${round} until ${way === 'death' ? moment : 0}`
  const child = machine.start(['-p', asked, '-a', kind, '--output-format', 'stream-json'], {
    env: { GROQ_API_KEY: 'made-up' },
  })
  child.stdin!.on('error', () => {}).end()
  const { closed, turn, words } = printed(child, round)
  if (way !== 'death') await until(() => words().length >= moment)
  if (way !== 'death') child.kill(way === 'kill' ? 'SIGKILL' : 'SIGINT')
  await closed
  return { round, way, kind, turn: turn()!, seen: words() }
}

test('words that were shown before a kill -9 are in sessions show, export and search at once', async (t) => {
  const machine = new Machine(t)
  machine.settings({ metaInstruction: false, agents: [{ name: 'pipe', command: pipe, contextWindowTokens: 400_000 }] })
  const { seen, turn } = await cutOff(machine, 1, ['pipe'])
  const found = async (...args: string[]) => {
    const { code, out, err } = await machine.run(['sessions', ...args])
    assert.equal(code, 0, err)
    return out
  }
  const [{ session }] = JSON.parse(await found('search', seen.at(-1)!, '--json'))
  assert.deepEqual(wordsIn(1, await found('show', session)), seen)
  assert.deepEqual(wordsIn(1, await found('export', session)), seen)
  const own = machine.history().filter((entry) => entry.turn === turn)
  assert.deepEqual(
    own.map(({ type }) => type),
    ['prompt', 'words', 'end'],
  )
})

const cut = { cancel: ['person', 'by the user'], kill: ['crash', 'by a crash'], death: ['crash', ''] } as const

test(
  `${rounds} answers that are cancelled, killed or die at any moment: every word that was shown is in the history, once, and the next agent reads it`,
  { timeout: 600_000 },
  async (t) => {
    const machine = new Machine(t)
    const prompts = join(machine.folder, 'prompts')
    const acpFile = join(machine.folder, 'acp.mjs')
    writeFileSync(acpFile, acp)
    const agent = { contextWindowTokens: 400_000 }
    const keeps = `p=$(cat); r=$(printf %s "$p" | grep -o 'round [0-9]*' | tail -1 | tr -dc 0-9); printf %s "$p" > ${prompts}-$r; echo ok`
    machine.settings({
      metaInstruction: false,
      cooldown: { failures: 1000 },
      agents: [
        { name: 'keeps', command: keeps, ...agent },
        { name: 'pipe', command: pipe, ...agent },
        { name: 'acp', kind: 'acp', command: `${process.execPath} ${acpFile}`, ...agent },
        { name: 'native', kind: 'native', model: 'groq/openai/gpt-oss-120b', baseURL: await model(t), ...agent },
      ],
    })
    const next = Array.from({ length: rounds }, (_, at) => at + 1)
    const cuts: Round[] = []
    const lane = async () => {
      for (let round = next.shift(); round !== undefined; round = next.shift())
        cuts.push(await cutOff(machine, round, ['pipe', 'acp', 'native']))
    }
    await Promise.all(Array.from({ length: lanes }, lane))
    const last = await machine.run(['-p', 'round 0', '-a', 'keeps'])
    assert.equal(last.code, 0, last.err)
    const told = readFileSync(`${prompts}-0`, 'utf8')
    const history = machine.history()
    for (const { round, way, kind, turn, seen } of cuts) {
      const about = `round ${round}: ${way} of ${kind}`
      const facts = history.filter((entry) => entry.turn === turn)
      const kept = facts.flatMap((entry) => (entry.type === 'words' ? [entry] : []))
      assert.deepEqual(
        kept.map(({ by, cut, from }) => ({ by, cut, from })),
        [{ by: kind, cut: cut[way][0], from: undefined }],
        about,
      )
      const words = wordsIn(round, kept[0]!.text)
      assert.deepEqual(
        words,
        words.map((_, at) => `r${round}w${at + 1}`),
        `${about}: each word once, and none is missing`,
      )
      assert.deepEqual(words.slice(0, seen.length), seen, `${about}: every word that was shown`)
      assert.equal(facts.filter(({ type }) => type === 'end').length, 1, about)
      if (way === 'death') {
        assert.ok(
          readFileSync(`${prompts}-${round}`, 'utf8').includes(words.at(-1)!),
          `${about}: the next agent of the turn reads it`,
        )
        assert.ok(told.includes(words.at(-1)!), `${about}: and so does the next turn`)
      } else {
        const message = `<message from="${kind}" cut_off="${cut[way][1]}">\n${kept[0]!.text}\n</message>`
        assert.equal(told.split(message).length, 2, `${about}: the next turn reads it once`)
      }
    }
    assert.deepEqual(readdirSync(machine.file('shown')), [], 'no side log is left')
    t.diagnostic(`${cuts.reduce((sum, { seen }) => sum + seen.length, 0)} words were shown`)
  },
)

/** Cuts off the answer of an agent whose words are in the side log. */
async function killed(machine: Machine, args: readonly string[], words: RegExp): Promise<void> {
  const child = machine.start(args)
  child.stdin!.on('error', () => {}).end()
  child.stdout!.resume()
  child.stderr!.resume()
  const closed = new Promise((resolve) => child.on('close', resolve))
  await until(() => words.test(shownTexts(machine.home).join('')))
  child.kill('SIGKILL')
  await closed
}

test('words that were cut off are in sessions show, search and export, and another vendor reads them without their secrets', async (t) => {
  const machine = new Machine(t)
  const half = 'cat >/dev/null; echo "The key is $DEPLOY_TOKEN and"; sleep 60'
  machine.agents({ half, reads: 'cat' }, { metaInstruction: false })
  const env = { DEPLOY_TOKEN: 'planted-41a7c09e' }
  const child = machine.start(['-p', 'which key?', '-a', 'half', '--output-format', 'stream-json'], { env })
  child.stdin!.end()
  child.stderr!.resume()
  const { closed, turn } = printed(child, 0)
  await until(() => turn() !== undefined && existsSync(machine.file(join('shown', `${turn()}.jsonl`))))
  child.kill('SIGINT')
  await closed
  const told = (await machine.call(['-p', 'go on', '-a', 'reads'], { env })).out
  const key = /The key is (.*) and/.exec(told)?.[1]
  assert.deepEqual([key, told.includes('cut_off="by the user"')], ['[masked $DEPLOY_TOKEN]', true], told)
  const { out: shown } = await machine.call(['sessions', 'show'], { env })
  assert.match(shown, /half: The key is planted-41a7c09e and\n\(cut off by you\)\n/)
  assert.match((await machine.call(['sessions', 'search', 'key'], { env })).out, /half/)
  const { out: listed } = await machine.call(['sessions', 'list', '--json'], { env })
  const [session] = JSON.parse(listed) as { id: string }[]
  const { out: file } = await machine.call(['sessions', 'export', session!.id], { env })
  assert.match(file, /The key is \[masked \$DEPLOY_TOKEN\] and\n\n> cut off by you\n/)
})

for (const host of ['tmux', 'pty'] as const)
  test(
    `${host}: words that an agent in a terminal had shown are kept when termaite is killed`,
    { skip: host === 'tmux' && spawnSync('tmux', ['-V']).status !== 0 && 'there is no tmux here', timeout: 60_000 },
    async (t) => {
      const machine = new Machine(t)
      t.after(() => spawnSync('tmux', ['-L', `termaite-${shortHash(machine.home)}`, 'kill-server']))
      const command = [process.execPath, fake, '/dev/null', 'scroll', 'never'].join(' ')
      const screen = {
        kind: 'screen',
        command,
        idle_pattern: '^> ?$',
        response_fence: true,
        contextWindowTokens: 100_000,
      }
      machine.settings({
        terminals: { host },
        metaInstruction: false,
        agents: [
          { name: 'screen', ...screen },
          { name: 'reads', command: 'cat', contextWindowTokens: 100_000 },
        ],
      })
      await killed(machine, ['-p', 'what is wrong?', '-a', 'screen'], /half/)
      const { out, err } = await machine.call(['-p', 'go on', '-a', 'reads'])
      assert.match(out, /<message from="screen" cut_off="by a crash">\n[^<]*half[^<]*\n<\/message>/, err)
      const words = machine.history().filter(({ type }) => type === 'words')
      assert.deepEqual(
        words.map(({ by }) => by),
        ['screen'],
      )
    },
  )
