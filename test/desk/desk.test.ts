import type { CommandWorld } from '../../src/core/talk/command.ts'
import type { Leash } from '../../src/core/work/agent.ts'
import type { DeskControls } from '../../src/desk/desk-controls.ts'
import type { AgentSettings } from '../../src/settings/agent-settings.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { StoreError } from '../../src/core/talk/store.ts'
import { HandClock } from '../hand-clock.ts'
import { healthDoc } from '../../src/turn/rotation/health.ts'
import { fileStore } from '../../src/store/files/file-store.ts'
import { initCommand } from '../../src/desk/slash/init.ts'
import { planCommand } from '../../src/desk/slash/agents/mode.ts'
import { treesDoc } from '../../src/think/turn/task-trees.ts'
import { closings, folderOf, questions, replies, seat, sitDown } from './desk.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const options = { timeout: 60_000 }

test('a prompt is a turn: its events are told, then its closing line, then how things stand', options, async (t) => {
  const folder = folderOf(t)
  const { desk, heard, until } = await sitDown(t, folder, { good: 'cat >/dev/null; echo new >> file; echo fine' })
  assert.deepEqual(
    heard.map(({ type }) => type),
    ['opened', 'standing'],
  )
  desk.submit('do it')
  await until((all) => closings(all).length === 1)
  await desk.idle()
  assert.deepEqual(replies(heard), ['fine'])
  const [{ ms, turn, tokens, ...closing }] = closings(heard) as [ReturnType<typeof closings>[0]]
  assert.deepEqual(closing, {
    by: 'good',
    why: 'next in line',
    changed: { files: 1, added: 1, removed: 0 },
    source: 'estimated',
  })
  assert.deepEqual([ms > 0, turn.length > 10, tokens! > 0], [true, true, true])
  const { agents, next, tokens: all } = desk.standing()
  assert.deepEqual(
    { next, all, names: agents.map(({ name, state }) => [name, state]) },
    {
      next: 'good',
      all: { used: tokens, source: 'estimated' },
      names: [['good', 'ready']],
    },
  )
})

test('the status shows the leash that holds the agent of the next turn, and the loosest if chance decides', async (t) => {
  const own = (name: string, leash: Leash) => ({
    ...{ name, kind: 'pipe' as const, profile: name },
    ...{ contextWindowTokens: 10_000, leash },
  })
  const agents = [own('claude', 'all'), own('codex', 'read')]
  const { desk, until } = await sitDown(t, folderOf(t), {}, { agents })
  const shown = () => [desk.standing().next, desk.standing().leash]
  assert.deepEqual(shown(), ['claude', 'all'])
  desk.controls.aim('codex')
  await until(() => desk.standing().next === 'codex')
  assert.deepEqual(shown(), ['codex', 'read'])
  desk.controls.aim(undefined)
  desk.controls.setStrategy('random')
  await until(() => desk.standing().next === undefined)
  assert.deepEqual(shown(), [undefined, 'all'])
})

test('the status shows own flags for a command that the person wrote, unless the agent of the next turn may do everything', async (t) => {
  const agents: AgentSettings[] = [
    { name: 'mine', kind: 'pipe', command: 'cat' },
    { name: 'codex', kind: 'pipe', profile: 'codex', leash: 'edit' },
    { name: 'boxed', kind: 'pipe', command: 'cat', wall: true, leash: 'read' },
    { name: 'editor', kind: 'acp', command: 'cat' },
  ]
  const { desk, heard, until } = await sitDown(t, folderOf(t), {}, { agents })
  const shown = () => [desk.standing().next, desk.standing().leash, desk.standing().ownFlags]
  const shownFor = async (name: string | undefined) => {
    desk.controls.aim(name)
    await until(() => desk.standing().next === name)
    return shown()
  }
  assert.deepEqual(shown(), ['mine', 'ask', true])
  assert.deepEqual(await shownFor('codex'), ['codex', 'edit', undefined])
  assert.deepEqual(await shownFor('boxed'), ['boxed', 'read', undefined])
  assert.deepEqual(await shownFor('editor'), ['editor', 'ask', undefined])
  assert.deepEqual(await shownFor('mine'), ['mine', 'ask', true])
  desk.setScreen(seat())
  desk.setLeash('edit')
  await until((all) => all.some(({ type }) => type === 'said'))
  golden(
    t,
    heard.flatMap((one) => (one.type === 'said' ? [one.text] : [])),
  )
  desk.controls.setStrategy('random')
  assert.deepEqual(await shownFor(undefined), [undefined, 'edit', true])
})

test('/plan names the mode that it has just set', options, async (t) => {
  const own = { name: 'own', kind: 'native' as const, contextWindowTokens: 100_000 }
  const commands = (controls: DeskControls) => [planCommand(controls)]
  const { desk, heard, until } = await sitDown(t, folderOf(t), { good: 'cat' }, { commands, agents: [own] })
  const said = () => heard.flatMap((one) => (one.type === 'said' ? [one.text] : []))
  desk.setScreen(seat())
  desk.submit('/plan')
  await until(() => said().length === 1)
  desk.submit('/plan')
  await until(() => said().length === 2)
  golden(t, said())
})

test('a prompt is shown before anything is read or kept, and the kept prompt names it', options, async (t) => {
  const folder = folderOf(t)
  const { desk, heard, until } = await sitDown(t, folder, { good: 'cat >/dev/null; echo fine' })
  heard.length = 0
  desk.submit('do it')
  await setImmediate()
  assert.deepEqual(heard, [
    { type: 'sent', sent: 'sent 1', text: 'do it', starts: 'turn' },
    { type: 'event', turn: 'sent 1', event: { type: 'waiting', words: 'reading the conversation' } },
  ])
  await until((all) => closings(all).length === 1)
  const named = heard.flatMap((one) => (one.type === 'event' && one.sent ? [[one.event.type, one.sent]] : []))
  assert.deepEqual(named, [['prompt', 'sent 1']])
})

test('each wait of a turn is told, with the agent that is started after another failed', options, async (t) => {
  const folder = folderOf(t)
  const { desk, heard, until } = await sitDown(t, folder, { bad: 'exit 3', good: 'cat >/dev/null; echo fine' })
  desk.submit('do it')
  await until((all) => closings(all).length === 1)
  const told = heard.flatMap((one) => {
    if (one.type !== 'event') return []
    if (one.event.type === 'waiting') return [one.event.words]
    return one.event.type === 'attempt' ? [`${one.event.by} failed`] : []
  })
  golden(t, told)
})

test('an agent that is passed over because it is parked has its line in the transcript', options, async (t) => {
  const folder = folderOf(t)
  const { desk, heard, until } = await sitDown(t, folder, { away: 'exit 3', good: 'cat >/dev/null; echo fine' })
  const parked = { until: Date.now() + 3_600_000, why: 'its quota is spent' }
  await healthDoc(desk.app().store).update(() => ({ agents: { away: { failures: 1, parked } } }))
  desk.submit('do it')
  await until((all) => closings(all).length === 1)
  const skipped = heard.flatMap((one) =>
    one.type === 'event' && one.event.type === 'note' && one.event.text.startsWith('Skipped') ? [one.event.text] : [],
  )
  assert.deepEqual([skipped.length, replies(heard)], [1, ['fine']])
  assert.match(skipped[0]!, /^Skipped away: out of quota until (?:\d{4}-\d\d-\d\d )?\d\d:\d\d$/)
})

test('a prompt that is typed while a turn runs waits, can be taken back, and is the next turn', options, async (t) => {
  const folder = folderOf(t)
  const go = join(folder, 'go')
  const { desk, heard, until } = await sitDown(t, folder, {
    slow: `read -r line; until [ -e ${go} ]; do sleep 0.02; done; echo "heard $line"`,
  })
  desk.submit('one')
  await until((all) => all.some((one) => one.type === 'event' && one.event.type === 'prompt'))
  desk.submit('two')
  desk.submit('three')
  assert.equal(desk.takeBack(), 'three')
  writeFileSync(go, '')
  await until((all) => closings(all).length === 2)
  const queues = heard.flatMap((one) => (one.type === 'queue' ? [one.texts] : []))
  assert.deepEqual(queues, [['two'], ['two', 'three'], ['two'], []])
  assert.equal(replies(heard).length, 2)
})

test('a cancelled turn gives back the text that was typed meanwhile', options, async (t) => {
  const folder = folderOf(t)
  const { desk, heard, until } = await sitDown(t, folder, { hung: 'sleep 600' })
  const filled: string[] = []
  const none = async () => ''
  desk.setScreen({
    suspend: (work) => work(),
    copy: none,
    clear() {},
    palette() {},
    keys() {},
    exit() {},
    fill: (text) => void filled.push(text),
  })
  desk.submit('one')
  await until((all) => all.some((one) => one.type === 'event' && one.event.type === 'prompt'))
  desk.submit('two')
  assert.equal(desk.cancel(), true)
  assert.deepEqual(filled, ['two'], 'at once, before the turn has ended')
  await desk.idle()
  assert.deepEqual(filled, ['two'])
  assert.deepEqual(
    heard.flatMap((one) =>
      one.type === 'event' && one.event.type === 'end' && !one.event.outcome.ok ? [one.event.outcome.failure.kind] : [],
    ),
    ['aborted'],
  )
  assert.equal(desk.cancel(), false)
})

test('a prompt that is sent while a cancelled turn ends is the next turn', options, async (t) => {
  const folder = folderOf(t)
  const { desk, heard, until } = await sitDown(t, folder, {
    slow: 'case "$(cat)" in *"two"*) echo fine;; *) sleep 600;; esac',
  })
  const filled: string[] = []
  desk.setScreen({ ...seat(), fill: (text: string) => void filled.push(text) })
  desk.submit('one')
  await until((all) => all.some((one) => one.type === 'event' && one.event.type === 'prompt'))
  desk.cancel()
  desk.submit('two')
  await until((all) => closings(all).length === 2)
  assert.deepEqual([filled, replies(heard)], [[], ['fine']])
})

test('a conversation that goes on is shown, and three lines say where it was left', options, async (t) => {
  const folder = folderOf(t)
  const agents = { good: 'cat >/dev/null; echo fine' }
  const first = await sitDown(t, folder, agents)
  first.desk.submit('the last request')
  await first.until((all) => closings(all).length === 1)
  await first.desk.idle()
  const { heard, desk, until } = await sitDown(t, folder, agents)
  await until((all) => all.some(({ type }) => type === 'said'))
  const [opened] = heard
  assert.deepEqual(opened?.type === 'opened' && opened.entries.map(({ type }) => type), [
    'prompt',
    'reply',
    'usage',
    'verdict',
    'end',
  ])
  const said = heard.flatMap((one) => (one.type === 'said' ? [one.text] : []))
  assert.deepEqual(
    said.map((text) => text.replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d/g, 'then')),
    ['Last request (then): the last request\nReady: good.'],
  )
  assert.deepEqual(await desk.sources.sentPrompts(), ['the last request'])
})

test('what the turns of the history changed is counted when it is asked for', options, async (t) => {
  const folder = folderOf(t)
  const agents = { good: 'case "$(cat)" in *second*) ;; *) echo hi >made.txt;; esac; echo fine' }
  const first = await sitDown(t, folder, agents)
  for (const [at, prompt] of ['make it', 'second'].entries()) {
    first.desk.submit(prompt)
    await first.until((all) => closings(all).length === at + 1)
  }
  await first.desk.idle()
  const closed = closings(first.heard)
  await first.desk.close()
  const second = await sitDown(t, folder, agents)
  const turns = closed.map(({ turn }) => turn)
  const counted = []
  for await (const one of second.desk.changesOf(['unknown', ...turns])) counted.push(one)
  assert.deepEqual(counted, [{ turn: turns[0], changed: { files: 1, added: 1, removed: 0 } }])
  assert.deepEqual(
    closed.map(({ changed }) => changed),
    [counted[0]!.changed, undefined],
  )
})

test('an unfinished tree of tasks is mentioned, with how to continue it', options, async (t) => {
  const folder = folderOf(t)
  const agents = { good: 'cat >/dev/null; echo fine' }
  const first = await sitDown(t, folder, agents)
  first.desk.submit('the last request')
  await first.until((all) => closings(all).length === 1)
  await first.desk.idle()
  const [slug] = readdirSync(join(folder, 'termaite', 'projects'))
  const task = (id: string, state: 'done' | 'waiting') => ({ id, task: `make ${id}`, needs: [], state })
  const trees = treesDoc(fileStore(join(folder, 'termaite')), slug!)
  await trees.update(() => [{ id: 't', prompt: 'make both', tasks: [task('a', 'done'), task('b', 'waiting')] }])
  const { heard, until } = await sitDown(t, folder, agents)
  await until((all) => all.some(({ type }) => type === 'said'))
  const said = heard.flatMap((one) => (one.type === 'said' ? one.text.split('\n').slice(1) : []))
  golden(t, said)
})

test('a spent quota can be waited for; the request goes on by itself, also after a restart', options, async (t) => {
  const folder = folderOf(t)
  const back = join(folder, 'back')
  const agents = {
    spent: `cat >/dev/null; [ -e ${back} ] && echo "here again" && exit; echo "usage limit reached" >&2; exit 1`,
    other: 'cat >/dev/null; echo "not me"',
  }
  const first = await sitDown(t, folder, agents)
  first.desk.submit('hard work')
  await first.until((all) => questions(all).length === 1)
  const [{ ask, question }] = questions(first.heard) as [ReturnType<typeof questions>[0]]
  assert.deepEqual(
    [question.about, question.options.map(({ id }) => id), question.otherwise?.pick],
    ['quota', ['hand over', 'stop', 'wait'], 'hand over'],
  )
  first.desk.answer(ask, ['wait'])
  await first.until((all) => all.some((one) => one.type === 'standing' && one.standing.waiting !== undefined))
  await first.desk.idle()
  assert.deepEqual([replies(first.heard), first.desk.standing().waiting?.agent], [[], 'spent'])
  const { project, store } = first.desk.app()
  await first.desk.close()

  // The hour is over, and so is the process that was told to wait.
  writeFileSync(back, '')
  await project.doc.update((doc) => ({ ...doc, waiting: { ...doc.waiting!, until: Date.now() } }))
  await store.doc('health', {}).update(() => ({}))
  const second = await sitDown(t, folder, agents)
  await second.until((all) => closings(all).length === 1)
  assert.deepEqual(replies(second.heard), ['here again'])
  assert.deepEqual((await project.doc.read()).waiting, undefined)
})

test('waiting for a quota can be given up', options, async (t) => {
  const folder = folderOf(t)
  const { desk, heard, until } = await sitDown(t, folder, {
    spent: 'cat >/dev/null; echo "usage limit reached" >&2; exit 1',
  })
  desk.submit('hard work')
  await until((all) => questions(all).length === 1)
  desk.answer(questions(heard)[0]!.ask, ['wait'])
  await until((all) => all.some((one) => one.type === 'standing' && one.standing.waiting !== undefined))
  await desk.idle()
  assert.equal(desk.cancel(), true)
  await until((all) => all.some((one) => one.type === 'said' && one.text === 'No longer waiting.'))
  assert.deepEqual((await desk.app().project.doc.read()).waiting, undefined)
})

test('another session shows its own entries, and a turn at work holds it back', options, async (t) => {
  const folder = folderOf(t)
  const { desk, heard, until } = await sitDown(t, folder, { good: 'cat >/dev/null; echo fine' })
  desk.submit('one')
  await assert.rejects(desk.controls.open({ fresh: true }), /a turn is running/)
  await until((all) => closings(all).length === 1)
  await desk.idle()
  const was = desk.app().session.id
  await desk.controls.open({ fresh: true, name: 'other' })
  assert.deepEqual([desk.standing().session, desk.standing().tokens.used], ['other', 0])
  await desk.controls.open({ id: was })
  const opened = heard.flatMap((one) => (one.type === 'opened' ? [one.entries.length] : []))
  assert.deepEqual(opened, [0, 0, 5])
  await assert.rejects(desk.controls.open({ id: 'nothing' }), /there is no session nothing/)
})

test('another session waits for a turn that only saves its last facts', options, async (t) => {
  let controls!: DeskControls
  const commands = (given: DeskControls) => ((controls = given), [])
  const { desk, heard, until } = await sitDown(t, folderOf(t), { good: 'cat >/dev/null; echo fine' }, { commands })
  desk.submit('do it')
  await until((all) => all.some((one) => one.type === 'event' && one.event.type === 'end'))
  assert.deepEqual([desk.busy, closings(heard).length], [false, 0])
  await controls.open({ fresh: true })
  assert.deepEqual(
    heard.map(({ type }) => type).filter((type) => type === 'closing' || type === 'opened'),
    ['opened', 'closing', 'opened'],
  )
})

test('a question of a command is a card like any other, and a broken command says why', options, async (t) => {
  const folder = folderOf(t)
  const { desk, heard, until } = await sitDown(
    t,
    folder,
    { good: 'cat >/dev/null; echo fine' },
    {
      commands: () => [
        {
          name: 'pick',
          help: 'asks',
          async run(args, { ask, say, signal }) {
            const options = [{ id: 'a', label: 'A' }]
            say(`${args}: ${(await ask({ about: 'choice', text: 'which?', from: [], options }, signal))?.join()}`)
          },
        },
        {
          name: 'broken',
          help: 'breaks',
          async run() {
            throw new Error('it broke')
          },
        },
      ],
    },
  )
  desk.setScreen(seat())
  desk.submit('/pick one')
  await until((all) => questions(all).length === 1)
  desk.answer(questions(heard)[0]!.ask, ['a'])
  await until((all) => all.some((one) => one.type === 'said'))
  desk.submit('/broken')
  await until((all) => all.filter((one) => one.type === 'said').length === 2)
  assert.deepEqual(
    heard.flatMap((one) => (one.type === 'said' ? [[one.how, one.text]] : [])),
    [
      ['note', 'one: a'],
      ['error', 'it broke'],
    ],
  )
})

test('the newest of several running commands is cancelled first, and leaving ends them all', options, async (t) => {
  const folder = folderOf(t)
  const ended: string[] = []
  const wait = (name: string) => ({
    name,
    help: 'waits',
    run: (_args: string, { signal }: { signal: AbortSignal }) =>
      new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => {
          ended.push(name)
          resolve()
        })
      }),
  })
  const quick = { name: 'quick', help: 'is over at once', run: async () => {} }
  const { desk } = await sitDown(
    t,
    folder,
    { good: 'cat >/dev/null; echo fine' },
    { commands: () => [wait('one'), wait('two'), wait('three'), quick] },
  )
  desk.setScreen(seat())
  for (const name of ['one', 'two', 'three', 'quick']) desk.submit(`/${name}`)
  await setImmediate()
  assert.deepEqual([desk.cancel(), ended], [true, ['three']])
  assert.deepEqual([desk.cancel(), ended], [true, ['three', 'two']])
  await desk.close()
  assert.deepEqual(ended, ['three', 'two', 'one'])
})

test('leaving the chat returns the prompts that were typed and never sent', options, async (t) => {
  const folder = folderOf(t)
  const { desk, until } = await sitDown(t, folder, { hung: 'sleep 600' })
  desk.setScreen(seat())
  desk.submit('one')
  await until((all) => all.some((one) => one.type === 'event' && one.event.type === 'prompt'))
  desk.submit('two')
  desk.submit('three')
  assert.deepEqual(desk.leave(), ['two', 'three'])
  await desk.idle()
  assert.equal(desk.busy, false)
})

test(
  'a prompt that no agent can take leads to the setup, and goes back to the input when that finds none',
  options,
  async (t) => {
    const folder = folderOf(t)
    const { desk, heard } = await sitDown(t, folder, {}, { path: folder })
    const before = heard.length
    const given = new Promise((fill) => desk.setScreen({ ...seat(), fill }))
    desk.submit('do it')
    assert.equal(await given, 'do it')
    const said = heard.slice(before).flatMap((one) => (one.type === 'said' ? [one.text.split('\n')[0]] : []))
    golden(t, said)
    assert.deepEqual((await desk.app().conversation.view()).length, 0)
  },
)

test('the last answer is the one on the screen, also when the view is a summary', options, async (t) => {
  const folder = folderOf(t)
  const { desk, until } = await sitDown(t, folder, { good: 'cat >/dev/null; echo fine' })
  assert.equal(await desk.controls.lastAnswer(), undefined)
  desk.submit('one')
  await until((all) => closings(all).length === 1)
  await desk.idle()
  await desk.app().conversation.compact(async () => ({ ok: true, text: 'all of it in short' }))
  assert.equal(await desk.controls.lastAnswer(), 'fine')
})

test(
  '/init is a turn like any other: shown, asked about on a card, cancelled, and not beside another',
  options,
  async (t) => {
    const folder = folderOf(t)
    const document = '# AGENTS.md\n\n## Build\n\nmake\n'
    const { desk, heard, until } = await sitDown(
      t,
      folder,
      { good: `cat >/dev/null; printf '${document.replaceAll('\n', '\\n')}'` },
      { commands: (controls) => [initCommand(controls)] },
    )
    desk.setScreen(seat())
    desk.submit('/init')
    await until((all) => questions(all).length === 1)
    assert.deepEqual([desk.busy, questions(heard)[0]!.question.text], [true, 'good wrote an AGENTS.md. Keep it?'])
    desk.submit('/init')
    await until((all) => all.some((one) => one.type === 'said' && one.how === 'error'))
    assert.equal(desk.cancel(), true)
    await desk.idle()
    assert.equal(existsSync(join(folder, 'project', 'AGENTS.md')), false)
    desk.submit('/init')
    await until((all) => questions(all).length === 2)
    desk.answer(questions(heard)[1]!.ask, ['write'])
    await until((all) => closings(all).length === 2)
    assert.equal(readFileSync(join(folder, 'project', 'AGENTS.md'), 'utf8'), document)
    golden(
      t,
      heard.flatMap((one) => (one.type === 'said' ? [one.text] : [])),
    )
  },
)

test('a prompt that cannot be kept is reported, and goes back to the input', options, async (t) => {
  const folder = folderOf(t)
  const { desk, heard, until } = await sitDown(t, folder, { good: 'cat >/dev/null; echo fine' })
  desk.app().project.log.append = async () => {
    throw new StoreError('cannot write history.jsonl: the disk is full')
  }
  const given = new Promise((fill) => desk.setScreen({ ...seat(), fill }))
  desk.submit('precious')
  assert.equal(await given, 'precious')
  await until((all) => all.some(({ type }) => type === 'said'))
  assert.deepEqual(
    heard.flatMap((one) => (one.type === 'said' ? [[one.how, one.text]] : [])),
    [['error', 'cannot write history.jsonl: the disk is full']],
  )
})

test('an agent that was away is shown as back when its time has come', options, async (t) => {
  const folder = folderOf(t)
  const clock = new HandClock()
  const { desk, heard, until } = await sitDown(t, folder, { good: 'cat >/dev/null; echo fine' }, { clock })
  const parked = { until: clock.now() + 60_000, why: 'its quota is spent' }
  await healthDoc(desk.app().store).update(() => ({ agents: { good: { failures: 1, parked } } }))
  await desk.controls.reload()
  assert.deepEqual(desk.standing().agents[0]?.state, 'parked')
  const before = heard.length
  await clock.turn(60_000)
  await until((all) => all.length > before)
  assert.deepEqual(desk.standing().agents[0]?.state, 'ready')
})

test('a secret goes to the command that asked for it, and to nobody who listens', options, async (t) => {
  const given = Promise.withResolvers<string[] | undefined>()
  const question = { about: 'login' as const, text: 'The key?', from: [], free: true, secret: true, options: [] }
  const run = async (_args: string, { ask, signal }: CommandWorld) => given.resolve(await ask(question, signal))
  const commands = () => [{ name: 'asks', help: 'Asks.', run }]
  const { desk, heard, until } = await sitDown(t, folderOf(t), {}, { commands })
  desk.setScreen({
    suspend: (work) => work(),
    copy: async () => '',
    clear() {},
    palette() {},
    keys() {},
    exit() {},
    fill() {},
  })
  const events = () => heard.flatMap((one) => (one.type === 'event' ? [one.event] : []))
  desk.submit('/asks')
  await until(() => events().some(({ type }) => type === 'question'))
  const asked = events().find((event) => event.type === 'question')
  desk.answer(asked!.ask, ['sk-made-up'])
  await until(() => events().some(({ type }) => type === 'answer'))
  assert.deepEqual(await given.promise, ['sk-made-up'])
  assert.deepEqual(
    events().flatMap((event) => (event.type === 'answer' ? [event.picks] : [])),
    [['(not shown)']],
  )
  assert.equal(JSON.stringify(heard).includes('sk-made-up'), false)
})
