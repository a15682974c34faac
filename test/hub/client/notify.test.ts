import type { TestContext } from 'node:test'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { HandClock } from '../../hand-clock.ts'
import { desktopBytes, openNotify } from '../../../src/hub/client/notify.ts'
import { faultWords, faultsIn } from '../../../src/core/data/shape.ts'
import { listForm } from '../../../src/settings/settings-schema.ts'
import { goldenOf } from '../../golden.ts'

const golden = goldenOf(import.meta.filename)

const notice = { event: 'asking', agent: 'claude', workspace: '/w', text: 'May I; \u001b[31mrun\u0007 it?' } as const

type Ways = Parameters<typeof openNotify>[0]['notify']

function notifier(context: TestContext, notify: Ways, env: Record<string, string | undefined> = {}) {
  const cwd = mkdtempSync(join(tmpdir(), 'termaite-notify-'))
  context.after(() => rmSync(cwd, { recursive: true, force: true }))
  const err = Object.assign(new PassThrough().setEncoding('utf8'), { isTTY: true })
  const warned: string[] = []
  const io = { env: { PATH: process.env.PATH, ...env }, err, clock: new HandClock(0) }
  const tell = openNotify({ notify }, { io, cwd, mask: (text) => text, warn: (words) => warned.push(words) })
  return { tell, warned, file: (name: string) => readFileSync(join(cwd, name), 'utf8'), shown: () => err.read() }
}

test('a command is given the event as JSON, and only those it is for', async (t) => {
  const { tell, file, warned } = notifier(t, [{ command: 'cat >> told', on: ['asking', 'gave-up'] }])
  await tell(notice)
  await tell({ ...notice, event: 'done' })
  assert.deepEqual(JSON.parse(file('told')), { ...notice, at: '1970-01-01T00:00:00.000Z' })
  assert.deepEqual(warned, [])
})

test('a desktop is told in the two ways that terminals know, and nothing in a text can say more', async (t) => {
  const { tell, shown } = notifier(t, ['desktop', 'bell'])
  await tell(notice)
  const words = 'claude asks something'
  assert.equal(
    shown(),
    `\u001b]9;${words}: May I run it?\u0007\u001b]777;notify;${words};May I run it?\u0007\u0007\u0007`,
  )
  const wrapped = desktopBytes({ ...notice, text: 'x', at: '' }, { TMUX: '/tmp/tmux,1,0' })
  assert.equal(
    wrapped,
    `\u001bPtmux;\u001b\u001b]9;${words}: x\u0007\u001b\\\u001bPtmux;\u001b\u001b]777;notify;${words};x\u0007\u001b\\\u0007`,
  )
})

test('ntfy gets the words, the title and its token; a failure is reported once and breaks nothing', async (t) => {
  const asked: unknown[] = []
  const server = createServer(async (request, response) => {
    const { title, tags, priority, authorization } = request.headers
    asked.push({ url: request.url, title, tags, priority, authorization, body: await text(request) })
    response.writeHead(asked.length > 1 ? 500 : 200).end()
  }).listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as { port: number }).port}/mine`
  const { tell, warned } = notifier(t, [{ ntfy: url }, { command: 'echo no >&2; exit 3' }], { NTFY_TOKEN: 'tk_x' })
  for (let n = 0; n < 3; n++) await tell({ ...notice, text: 'May I?' })
  const title = `=?UTF-8?B?${Buffer.from('claude asks something').toString('base64')}?=`
  const one = { url: '/mine', title, tags: 'asking', priority: 'high', authorization: 'Bearer tk_x', body: 'May I?' }
  assert.deepEqual(asked, [one, one, one])
  golden(t, warned)
})

test('a value that is no notifier is refused in the words of the settings', (t) => {
  const words = (notify: unknown) => {
    const [fault] = faultsIn(listForm, { notify })
    return fault && faultWords(fault)
  }
  assert.equal(words(['desktop', { ntfy: 'https://ntfy.sh/x' }, { command: 'x', on: ['done'] }]), undefined)
  assert.equal(words(['desktp']), 'found "desktp"; did you mean "desktop"?')
  golden(t, words([{}]))
  assert.match(words([{ ntfy: 'mine' }])!, /allowed: the http\(s\) address of a topic/)
  assert.match(words([{ command: 'x', on: ['askin'] }])!, /did you mean "asking"/)
})

test('a notice names the address of its subject on the page, without a secret, and rings the terminal alone when the hub tells', async (t) => {
  const cwd = mkdtempSync(join(tmpdir(), 'termaite-notify-'))
  t.after(() => rmSync(cwd, { recursive: true, force: true }))
  const err = Object.assign(new PassThrough().setEncoding('utf8'), { isTTY: true })
  const io = { env: { PATH: process.env.PATH }, err, clock: new HandClock(0) }
  let page: string | undefined = 'https://hub.example'
  const notify: Ways = ['desktop', { command: 'cat >> told', on: ['done'] }]
  const tell = openNotify({ notify }, { io, cwd, mask: (text) => text, warn: assert.fail, page: () => page })
  const done = { event: 'done', agent: 'claude', workspace: '/w', text: 'Fine.' } as const
  await tell({ ...done, task: '01ab' })
  await tell({ ...done, event: 'review', view: 'agents/a%20b' })
  await tell({ ...done, event: 'failed' })
  page = undefined
  await tell(done)
  await tell(done, true)
  const told = readFileSync(join(cwd, 'told'), 'utf8').trim().split('\n')
  assert.deepEqual(
    told.map((line) => (JSON.parse(line) as { event: string; url?: string }).url),
    [
      'https://hub.example/#/tasks/01ab',
      'https://hub.example/#/agents/a%20b',
      'https://hub.example/#/inbox',
      undefined,
    ],
  )
  const rung = String(err.read()).match(/\]9;[^\u0007]*/g)
  assert.deepEqual(rung, [
    ']9;claude is done: Fine. https://hub.example/#/tasks/01ab',
    ']9;claude wants a review: Fine. https://hub.example/#/agents/a%20b',
    ']9;claude failed: Fine. https://hub.example/#/inbox',
    ']9;claude is done: Fine.',
    ']9;claude is done: Fine.',
  ])
})
