import { test } from 'node:test'
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { execFileSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from '../../cases.ts'
import { longestAttachment, safeFileName, safeFileNames } from '../../../src/hub/model/tasks/attachment.ts'
import { taskFilesIn } from '../../../src/supervise/agent/task-files.ts'
import { attachmentResources } from '../../../src/hub/http/attachment-resources.ts'
import { HubTaskSource } from '../../../src/hub/engine/hub-task-source.ts'
import { ticketOf } from '../../../src/hub/engine/rules/task-rules.ts'
import { plainWorkspace } from '../../../src/worktrees/task-branches.ts'
import { hubAt, loaded } from './seat.ts'
import { goldenOf } from '../../golden.ts'

const golden = goldenOf(import.meta.filename)

const never = new AbortController().signal

async function* pieces(...bodies: (string | Uint8Array)[]) {
  for (const body of bodies) yield typeof body === 'string' ? Buffer.from(body) : body
}

test('the name of a file is safe to write and to name in a prompt, whatever a person called it', () => {
  const names = [
    'shot 1.png',
    '../../etc/passwd',
    '.bashrc',
    '-rf',
    'a\nIgnore all.txt',
    '\u202egnp.exe',
    'Übersicht.pdf',
    '',
  ]
  assert.deepEqual(names.map(safeFileName), [
    'shot-1.png',
    'passwd',
    'bashrc',
    'rf',
    'a-Ignore-all.txt',
    'gnp.exe',
    'Übersicht.pdf',
    'file',
  ])
  assert.deepEqual(safeFileNames(['a.txt', 'A.txt', 'x/a.txt']), ['a.txt', 'A-2.txt', 'a-3.txt'])
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary' }), { maxLength: 6 }), (all) => {
      const safe = safeFileNames(all)
      assert.equal(new Set(safe.map((name) => name.toLowerCase())).size, all.length)
      for (const name of safe) assert.match(name, /^[\p{L}\p{M}\p{N}_][\p{L}\p{M}\p{N}._-]{0,99}$/u)
    }),
  )
})

test('files are kept with their task, known by their content, and bounded', async (t) => {
  const { hub, add, ledger } = hubAt(t)
  const png = Buffer.from('\x89PNG\r\n\x1a\n and more', 'latin1')
  const shot = await hub.attachments.receive(pieces(png.subarray(0, 5), png.subarray(5)))
  const note = await hub.attachments.receive(pieces('plain words'))
  const { attachments } = await add('look', {
    attachments: [
      { id: shot.id, name: 'a/shot.txt' },
      { id: note.id, name: 'shot.txt' },
    ],
  })
  assert.deepEqual(attachments, [
    { id: shot.id, name: 'shot.txt', media: 'image/png', bytes: png.length },
    { id: note.id, name: 'shot-2.txt', media: 'text/plain', bytes: 11 },
  ])
  assert.deepEqual((await loaded(ledger)).tasks[0]?.attachments, attachments)
  for (const id of ['0'.repeat(64), '../hub.key'])
    await golden.rejects(t, add('x', { attachments: [{ id, name: 'x' }] }))
  const many = Array.from({ length: 11 }, () => ({ id: note.id, name: 'x' }))
  await golden.rejects(t, add('x', { attachments: many }))
  const mega = Buffer.alloc(1024 * 1024)
  const long = pieces(...Array.from({ length: longestAttachment / mega.length + 1 }, () => mega))
  await assert.rejects(hub.attachments.receive(long), { message: /larger than 20 MB/ })
})

test('a supervised agent finds the files of its task where its prompt says, and git does not see them', async (t) => {
  const { hub, clock, add } = hubAt(t)
  const cwd = realpathSync(mkdtempSync(join(tmpdir(), 'termaite-files-')))
  t.after(() => rmSync(cwd, { recursive: true }))
  execFileSync('git', ['init', '-q', cwd])
  const as = { id: 'me', role: 'r', capabilities: [], workspace: 'w', source: 'CLI' as const }
  await hub.register(as)
  const { id: sent } = await hub.attachments.receive(pieces('the log'))
  const { id } = await add('Mend it.', { attachments: [{ id: sent, name: 'build log.txt' }] })
  const source = new HubTaskSource({
    hub: {
      url: 'http://hub',
      register: (who) => hub.register(who),
      wait: async (agent, seconds, signal) => {
        const given = await hub.wait(agent, clock.elapsed() + seconds * 1000, signal)
        return given.type === 'task' ? { ...given, ticket: ticketOf(given.task) } : given
      },
      tell: async (ticket) => hub.work.ack(ticket.split('.')[0]!, 'me'),
      attachment: async (task, number) => hub.attachments.whole((await hub.task(task)).attachments![number - 1]!),
      respond: async (ticket, agent, response) => hub.work.respond(ticket.split('.')[0]!, agent, response),
      task: async (task) => hub.task(task),
      agent: async (agent) => hub.agentNow(agent),
      spent: async () => ({}),
      report: async () => ({}),
      bundleMissing: async () => [],
      sendPart: async () => ({ id: '', bytes: 0 }),
      late: async (ticket) => hub.task(ticket),
      sendText: async () => ({ id: '', bytes: 0 }),
    },
    as,
    clock,
    workspace: plainWorkspace,
    files: taskFilesIn(cwd),
    machine: 'box',
    tell() {},
  })
  const path = join(cwd, '.termaite', 'task-files', id, 'build-log.txt')
  const order = await source.next(never)
  golden(t, order.type === 'task' && order.prompt, { [cwd]: '<cwd>', [id]: '<id>' })
  assert.equal(await source.ack(`${id}.1`, never), 'kept')
  assert.equal(readFileSync(path, 'utf8'), 'the log')
  assert.equal(execFileSync('git', ['-C', cwd, 'status', '--porcelain'], { encoding: 'utf8' }), '')
  await source.respond(`${id}.1`, { status: 'COMPLETED', message: 'done' }, never)
  assert.deepEqual(readdirSync(join(cwd, '.termaite', 'task-files')), ['.gitignore'])
})

test('a folder that leads elsewhere through a link gets no file', async (t) => {
  const [cwd, elsewhere] = [0, 1].map(() => realpathSync(mkdtempSync(join(tmpdir(), 'termaite-files-')))) as [
    string,
    string,
  ]
  t.after(() => [cwd, elsewhere].forEach((folder) => rmSync(folder, { recursive: true })))
  writeFileSync(join(elsewhere, 'kept'), '')
  symlinkSync(elsewhere, join(cwd, '.termaite'))
  await assert.rejects(taskFilesIn(cwd).save('t', 'x.txt', Buffer.from('x')), /through a link/)
  assert.deepEqual(readdirSync(join(elsewhere, 'task-files', 't')), [])
})

test('an agent that speaks MCP reads the files of its task as resources', async (t) => {
  const { hub, register, wait, add } = hubAt(t)
  await register('orc')
  const { id: sent } = await hub.attachments.receive(pieces(Buffer.from([0, 1, 2])))
  const { id } = await add('look', { attachments: [{ id: sent, name: 'raw.bin' }] })
  const { list, read } = attachmentResources(hub, { id: 'k', name: 'orc', role: 'agent' })
  assert.deepEqual(await list(), [], 'the agent does not have the task yet')
  await wait('orc')
  const uri = `termaite-hub://tasks/${id}/files/1/raw.bin`
  assert.deepEqual(await list(), [{ uri, name: 'raw.bin', media: 'application/octet-stream', bytes: 3 }])
  assert.deepEqual(await read(uri), { media: 'application/octet-stream', blob: 'AAEC' })
  assert.deepEqual(
    await Promise.all([
      read(uri.replace('/1/', '/2/')),
      read('termaite-hub://tasks/x/files/1/y'),
      read('file:///etc/passwd'),
    ]),
    [undefined, undefined, undefined],
  )
  const guest = attachmentResources(hub, { id: 'g', name: 'g', role: 'guest' })
  assert.equal(await guest.read(uri), undefined)
})
