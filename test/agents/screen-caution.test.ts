import { test } from 'node:test'
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Question } from '../../src/core/talk/question.ts'
import type { Dialog } from '../../src/core/profile/profile.ts'
import type { Tty } from '../terminals/scripted-terminals.ts'
import { defined } from '../../src/base/defined.ts'
import { HandClock } from '../hand-clock.ts'
import { turning } from '../base/alive.ts'
import { eventsOf, turnOf } from '../contract/agent.ts'
import { failureIn } from './pipe-rig.ts'
import { faked, played, reader, stageOf } from './screen-rig.ts'
import { until } from '../until.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

/** Shows a screen and stays. */
const showing = (text: string) => async (tty: Tty) => {
  tty.print(text)
  while ((await tty.read()) !== undefined);
  return 0
}

test('no key is typed into an unknown screen, and the failure says so', async (t) => {
  const clock = new HandClock()
  const { agent, typed, stage } = played(clock, showing('Choose a colour scheme\n(o) dark ( ) light\n'))
  const events = await turning(clock, eventsOf(agent, turnOf({ clock, cwd: stage.cwd })))
  golden(t, failureIn(events))
  assert.deepEqual(typed, [])
  await agent.close()
  await stage.close()
})

test('a look at a half-drawn screen does not shorten the wait for a program that keeps its prompt', async () => {
  const clock = new HandClock()
  const stage = stageOf('scripted', clock)
  const { agent } = faked(stage, ['unmarked', 'torn', 'tool:3000'], { facts: { reader: { idle: /^> /m } } })
  const events = await turning(clock, eventsOf(agent, turnOf({ clock, cwd: stage.cwd })))
  assert.deepEqual(events.findLast((event) => event.type === 'end')?.outcome, {
    ok: true,
    text: 'begins 1\nanswer 1',
    seen: { fenced: false, by: 'pattern' },
  })
  await agent.close()
  await stage.close()
})

test('an unknown dialog is shown as it is, and declined by Escape', async (t) => {
  const clock = new HandClock()
  const asked: Question[] = []
  const ask = async (question: Question) => (asked.push(question), undefined)
  const program = async (tty: Tty) => {
    tty.print('Allow? something strange\n')
    assert.equal(await tty.read(), '\u001b')
    tty.clear()
    return 0
  }
  const { agent, stage } = played(clock, program, { facts: { dialog: () => undefined } })
  const failure = await turning(clock, agent.start!(new AbortController().signal, ask))
  golden(t, failure)
  golden(t, asked)
  await agent.close()
  await stage.close()
})

test('a prompt that was pasted while the program started itself again is pasted once more, and entered once', async () => {
  const clock = new HandClock()
  const program = async (tty: Tty) => {
    tty.print('old screen\n> ')
    await tty.read()
    // The terminal shows a paste that nobody reads as it came.
    tty.print('^[[200~hello^[[201~')
    await clock.sleep(8_000)
    tty.clear()
    tty.print('new screen\n> ')
    for (let text = await tty.read(); text !== undefined; text = await tty.read())
      tty.print(text === '\r' ? '\n42\n> ' : text.replaceAll(/\u001b\[20[01]~/g, ''))
    return 0
  }
  const composer = ({ rows }: { rows: string[] }) => {
    const row = rows.findLast((one) => one.startsWith('>'))
    return row === undefined || row.includes('^[') ? undefined : row.slice(2).trim()
  }
  const { agent, typed, stage } = played(clock, program, { facts: { composer } })
  const events = await turning(clock, eventsOf(agent, turnOf({ clock, cwd: stage.cwd })))
  const end = events.findLast((event) => event.type === 'end')
  assert.deepEqual(end?.outcome, { ok: true, text: '42', seen: { fenced: false, by: 'pattern' } })
  const paste = '\u001b[200~hello\u001b[201~'
  assert.deepEqual(typed, [paste, paste, '\r'])
  await agent.close()
  await stage.close()
})

test('a menu whose pointer is moved is still the same question: it is asked once, and Enter is pressed', async () => {
  const clock = new HandClock()
  const program = async (tty: Tty) => {
    for (let at = 0; ;) {
      tty.clear()
      tty.print(`Allow? the folder\n${at === 0 ? '*' : ' '} 1. No\n${at === 1 ? '*' : ' '} 2. Yes\n`)
      const key = await tty.read()
      if (key === undefined || (key === '\r' && at === 0)) return 1
      if (key === '\r') break
      at = 1
    }
    tty.clear()
    tty.print('> ')
    await tty.read()
    return 0
  }
  const dialog = ({ rows }: { rows: string[] }): Dialog | undefined => {
    const at = rows.slice(1).findIndex((row) => row.startsWith('*'))
    if (at < 0) return undefined
    const options = [
      { id: '2', label: 'Yes' },
      { id: '1', label: 'No' },
    ]
    return {
      question: defined({
        about: 'trust' as const,
        text: 'the folder',
        from: [],
        options,
        enter: at === 1 ? '2' : undefined,
      }),
      keys: () => (at === 1 ? ['Enter'] : ['Down', 'Enter']),
    }
  }
  const asked: string[] = []
  const ask = async ({ text }: Question) => (asked.push(text), ['2'])
  const { agent, typed, stage } = played(clock, program, { facts: { dialog } })
  assert.equal(await turning(clock, agent.start!(new AbortController().signal, ask)), undefined)
  assert.deepEqual({ asked, typed }, { asked: ['the folder'], typed: ['\u001b[B', '\r'] })
  await agent.close()
  await stage.close()
})

for (const [shows, seconds] of [
  ['shows its prompt only after 9 s is typed into only then', 9],
  ['never shows anything is typed into after 20 s', undefined],
] as const)
  test(`a program without patterns that ${shows}`, async () => {
    const clock = new HandClock()
    const began = clock.elapsed()
    let typedAfter: number | undefined
    const program = async (tty: Tty) => {
      if (seconds !== undefined) void clock.sleep(seconds * 1_000).then(() => tty.print('> '))
      for (let text = await tty.read(); text !== undefined; text = await tty.read()) {
        typedAfter ??= clock.elapsed() - began
        if (text === '\r') tty.print('\n42\n')
      }
      return 0
    }
    const { agent, stage } = played(clock, program, { facts: { reader: {} } })
    const events = await turning(clock, eventsOf(agent, turnOf({ clock, cwd: stage.cwd })))
    const end = events.findLast((event) => event.type === 'end')
    assert.equal(end?.outcome.ok, true)
    assert.equal(typedAfter! >= (seconds ?? 20) * 1_000, true, `typed into after ${typedAfter} ms`)
    await agent.close()
    await stage.close()
  })

for (const [deafSeconds, keys] of [
  [12, 'entered once, when it is in sight'],
  [28, 'entered once more, because Enter came with the paste'],
] as const)
  test(`a prompt that a program reads only after ${deafSeconds} s is ${keys}`, async () => {
    const clock = new HandClock()
    const program = async (tty: Tty) => {
      tty.print('> ')
      await clock.sleep(deafSeconds * 1_000)
      // Keys that waited together are one paste: an Enter among them is a part of it and is dropped, as Gemini CLI does.
      const first = clock.elapsed()
      for (let text = await tty.read(); text !== undefined; text = await tty.read())
        if (text === '\r' && clock.elapsed() > first) tty.print('\n42\n> ')
        else if (text !== '\r') tty.print(text.replaceAll(/\u001b\[20[01]~/g, ''))
      return 0
    }
    const composer = ({ rows }: { rows: string[] }) =>
      rows
        .findLast((row) => row.startsWith('>'))
        ?.slice(2)
        .trim()
    const { agent, typed, stage } = played(clock, program, { facts: { composer } })
    const events = await turning(clock, eventsOf(agent, turnOf({ clock, cwd: stage.cwd })))
    const end = events.findLast((event) => event.type === 'end')
    assert.deepEqual(end?.outcome, { ok: true, text: '42', seen: { fenced: false, by: 'pattern' } })
    const enters = deafSeconds === 12 ? ['\r'] : ['\r', '\r']
    assert.deepEqual(typed, ['\u001b[200~hello\u001b[201~', ...enters])
    await agent.close()
    await stage.close()
  })

test('words that a person typed into the composer of an idle program are not entered', async () => {
  const clock = new HandClock()
  const program = async (tty: Tty) => {
    tty.print('> ')
    await tty.read()
    await clock.sleep(28_000)
    tty.print('my own draft')
    for (let text = await tty.read(); text !== undefined; text = await tty.read());
    return 0
  }
  const composer = ({ rows }: { rows: string[] }) =>
    rows
      .findLast((row) => row.startsWith('>'))
      ?.slice(2)
      .trim()
  const over = { facts: { composer }, spec: { timeoutMs: 120_000 } }
  const { agent, typed, stage } = played(clock, program, over)
  const events = await turning(clock, eventsOf(agent, turnOf({ clock, cwd: stage.cwd })))
  assert.equal(failureIn(events)?.kind, 'timeout')
  assert.deepEqual(
    typed.filter((text) => text === '\r'),
    ['\r'],
  )
  await agent.close()
  await stage.close()
})

test('a prompt that is not taken is entered twice and no more, and the failure says so', async (t) => {
  const clock = new HandClock()
  const stage = stageOf('scripted', clock)
  const { agent } = faked(stage, ['stone'])
  const events = await turning(clock, eventsOf(agent, turnOf({ clock, cwd: stage.cwd })))
  golden(t, failureIn(events))
  assert.deepEqual((await agent.terminal!.screen()).rows.slice(0, 2), ['fake-cli 1.0', '> hello'])
  await agent.close()
  await stage.close()
})

for (const limit of ['silenceMs', 'timeoutMs'] as const)
  test(`a program that never answers is stopped by its ${limit}, and can be asked again`, async (t) => {
    const clock = new HandClock()
    const stage = stageOf('scripted', clock)
    const { agent } = faked(stage, ['never'], { spec: { [limit]: 5_000 } })
    const events = await turning(clock, eventsOf(agent, turnOf({ clock, cwd: stage.cwd })))
    golden(t, failureIn(events))
    assert.ok((await agent.terminal!.screen()).rows.includes('interrupted'))
    await agent.close()
    await stage.close()
  })

test('a clock that is set in the middle of a turn neither ends the turn early nor holds it up', async () => {
  const yearMs = 31_536_000_000
  const turnWith = async (shiftMs: number) => {
    const clock = new HandClock()
    const program = async (tty: Tty) => {
      tty.print('> ')
      await tty.read()
      await tty.read()
      tty.print('\nfirst words\n')
      await clock.sleep(500)
      // In the silence before the last words, and again while the prompt stands on the screen.
      clock.set(clock.now() + shiftMs)
      await clock.sleep(500)
      tty.print('last words\n> ')
      clock.set(clock.now() - 2 * shiftMs)
      await tty.read()
      return 0
    }
    const { agent, stage } = played(clock, program, { facts: { reader: { idle: /^> /m } } })
    const events = await turning(clock, eventsOf(agent, turnOf({ clock, cwd: stage.cwd })))
    const took = clock.elapsed()
    await agent.close()
    await stage.close()
    return { end: events.findLast((event) => event.type === 'end')?.outcome, took }
  }
  const usual = await turnWith(0)
  assert.deepEqual(usual.end, { ok: true, text: 'first words\nlast words', seen: { fenced: false, by: 'pattern' } })
  for (const shiftMs of [yearMs, -yearMs]) assert.deepEqual(await turnWith(shiftMs), usual)
})

test('a person whose last key is of a time that has yet to come is waited for no longer than usual', async () => {
  const clock = new HandClock()
  const { agent, typed, stage } = played(clock, showing('> '))
  await turning(clock, agent.start!(new AbortController().signal))
  const terminal = await stage.host.find(agent.terminal!.id)
  await terminal!.write('', true)
  clock.set(clock.now() - 31_536_000_000)
  const cancel = new AbortController()
  const events = eventsOf(agent, turnOf({ clock, cwd: stage.cwd, signal: cancel.signal }))
  await clock.turn(3_100)
  assert.deepEqual(typed.at(-1), '\u001b[200~hello\u001b[201~')
  cancel.abort()
  await turning(clock, events)
  await agent.close()
  await stage.close()
})

test('while a person types nothing is pasted', async () => {
  const clock = new HandClock()
  const { agent, typed, stage } = played(clock, showing('> '))
  await turning(clock, agent.start!(new AbortController().signal))
  const terminal = await stage.host.find(agent.terminal!.id)
  ;(terminal as unknown as { touch(at: number): void }).touch(clock.now())
  const cancel = new AbortController()
  const events = eventsOf(agent, turnOf({ clock, cwd: stage.cwd, signal: cancel.signal }))
  await clock.turn(2_900)
  assert.deepEqual(typed, [])
  await clock.turn(200)
  assert.deepEqual(typed, ['\u001b[200~hello\u001b[201~'])
  cancel.abort()
  await turning(clock, events)
  await agent.close()
  await stage.close()
})

test('a long prompt is put into a file of ours alone, and the agent is told to read it', async (t) => {
  const clock = new HandClock()
  const { agent, typed, stage } = played(clock, showing('> '), { spec: { fence: false } })
  const prompt = `${'words '.repeat(6_000)}end`
  const cancel = new AbortController()
  const events = eventsOf(agent, turnOf({ clock, prompt, cwd: stage.cwd, signal: cancel.signal }))
  const folder = join(stage.cwd, 'prompts')
  await turning(
    clock,
    until(() => typed.length > 0),
  )
  const [file] = readdirSync(folder)
  const path = join(folder, file!)
  assert.equal(readFileSync(path, 'utf8'), `${prompt}\n`)
  assert.equal(statSync(path).mode & 0o777, 0o600)
  golden(t, typed.slice(0, 1), { [stage.cwd]: '<cwd>', [file!]: '<file>' })
  cancel.abort()
  await turning(clock, events)
  assert.deepEqual(readdirSync(folder), [])
  await agent.close()
  await stage.close()
})

test('a command without marks is done when it is quiet and has printed something', async () => {
  const clock = new HandClock()
  const program = async (tty: Tty) => {
    tty.print('calculator\n')
    for (let line = ''; ;) {
      const typed = await tty.read()
      if (typed === undefined) return 0
      if (typed !== '\r') {
        line = typed.replaceAll(/\u001b\[20[01]~/g, '')
        tty.print(line)
        continue
      }
      tty.print('\n')
      await clock.sleep(5_000)
      tty.print('42\n')
    }
  }
  const { agent, stage } = played(clock, program, { spec: { command: 'calc', profile: undefined! } })
  const events = await turning(clock, eventsOf(agent, turnOf({ clock, prompt: '6 * 7', cwd: stage.cwd })))
  assert.deepEqual(events.at(-1), {
    type: 'end',
    outcome: { ok: true, text: '42', seen: { fenced: false, by: 'quiet' } },
  })
  assert.equal(reader.idle.test('calculator'), false)
  await agent.close()
  await stage.close()
})

test('a program that never closes its fence ends its turn by silence only where it waits at its sign again', async () => {
  const line = (tty: Tty, sign: string, again: string) => async () => {
    tty.print(sign)
    for (;;) {
      const typed = await tty.read()
      if (typed === undefined) return 0
      // The words of a paste are shown in one row, whatever ends their lines.
      if (typed !== '\r') tty.print(typed.replaceAll(/\u001b\[20[01]~/g, '').replaceAll(/\s+/g, ' '))
      else tty.print(`\n42\n${again}`)
    }
  }
  const spec = { command: 'calc', profile: undefined!, fence: true, silenceMs: 60_000 }
  const ends = async (again: string) => {
    const clock = new HandClock()
    const { agent, stage } = played(clock, (tty) => line(tty, 'calc> ', again)(), { spec })
    const events = await turning(clock, eventsOf(agent, turnOf({ clock, prompt: '6 * 7', cwd: stage.cwd })))
    await agent.close()
    await stage.close()
    return events.at(-1)
  }
  assert.deepEqual(await ends('calc> '), {
    type: 'end',
    outcome: { ok: true, text: '42', seen: { fenced: false, by: 'quiet' } },
  })
  // Only the limits of silence and time end it.
  const silent = await ends('')
  assert.ok(silent?.type === 'end' && !silent.outcome.ok)
  assert.equal(silent.outcome.failure.kind, 'timeout')
})
