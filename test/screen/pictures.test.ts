import type { TestContext } from 'node:test'
import type { Script } from '../real/model-server.ts'
import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { until } from '../until.ts'
import { createHash } from 'node:crypto'
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Machine } from '../cli/program.ts'
import { png } from '../picture-bodies.ts'
import { modelServer } from '../real/model-server.ts'
import { ProgramWindow, keys } from './program-window.ts'
import { looks } from './looks.ts'
import { Sitting, rested } from './sitting.ts'

const options = { timeout: 120_000 }
const shot = png(640, 480)
const pasted = (text: string) => `\u001b[200~${text}\u001b[201~`
const sha = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

/** A machine with a fake clipboard program, whose clipboard is the file `clipboard` beside it; nothing else is on its PATH first. */
function machineWith(t: TestContext, xclip?: string) {
  const machine = new Machine(t)
  const bin = join(machine.folder, 'bin')
  mkdirSync(bin)
  const clipboard = join(machine.folder, 'clipboard')
  const usual = `case "$5" in TARGETS) echo image/png;; *) cat ${clipboard};; esac`
  writeFileSync(join(bin, 'xclip'), `#!/bin/sh\n${xclip ?? usual}\n`)
  chmodSync(join(bin, 'xclip'), 0o755)
  writeFileSync(clipboard, shot)
  const shots = join(machine.folder, 'My Shots')
  mkdirSync(shots)
  return { machine, clipboard, shots, env: { PATH: `${bin}:${process.env.PATH}`, DISPLAY: ':9', WAYLAND_DISPLAY: '' } }
}

/** Our own agent in the chat, on a scripted model. */
async function seeing(t: TestContext, script: Script, place = machineWith(t), look = 'dark', model?: string) {
  const server = await modelServer(script)
  t.after(() => server.close())
  const agent = {
    name: 'alpha',
    kind: 'native',
    model: model ?? 'anthropic/claude-sonnet-4-5',
    baseURL: `${server.url}/v1`,
    contextWindowTokens: 200_000,
  }
  place.machine.settings({ metaInstruction: false, thinking: 'off', agents: [agent] })
  const shown = looks[look]!
  const env = { ...shown.env, ...place.env, ANTHROPIC_API_KEY: 'made-up', GROQ_API_KEY: 'made-up' }
  const open = async (sign = rested('tokens')) => {
    const window = new ProgramWindow(place.machine, { ...shown, env })
    t.after(() => window.end())
    await window.shows(sign)
    return window
  }
  return { ...place, server, open, window: await open(rested('0 tokens')) }
}

const image = (bytes: Buffer) => ({
  type: 'image',
  source: { type: 'base64', media_type: 'image/png', data: bytes.toString('base64') },
})

/** Keys that follow a paste within 30 ms belong to it, because no hand is that fast: a test is. */
const handReturns = () => {
  const from = performance.now()
  return until(() => performance.now() - from > 60)
}

describe('pictures in the input', { concurrency: 2 }, () => {
  test('Ctrl+V pastes the picture on the clipboard, and the model sees it byte for byte', options, async (t) => {
    const { machine, server, window } = await seeing(t, () => ({ text: 'A grey box.' }))
    window.type('what is on ')
    window.type(keys.ctrlV)
    await window.shows('what is on [picture 1: clipboard, 640×480]')
    window.type('?')
    window.type(keys.enter)
    await window.shows('A grey box.')
    assert.deepEqual(server.turns()[0]!.body.messages[0].content, [
      image(shot),
      { type: 'text', text: 'what is on [picture 1: clipboard, 640×480]?' },
    ])
    const [prompt] = machine.history().filter(({ type }) => type === 'prompt')
    assert.deepEqual((prompt as { files?: unknown }).files, [
      { sha: sha(shot), media: 'image/png', bytes: shot.length },
    ])
  })

  test('paths that are dragged there become pictures; a path of anything else stays text', options, async (t) => {
    const place = machineWith(t)
    const { machine, shots } = place
    const [a, b, c] = [join(shots, 'a b.png'), join(shots, "it's.png"), join(machine.project, 'in.png')]
    writeFileSync(a, png(1, 2))
    writeFileSync(b, png(3, 4))
    writeFileSync(c, png(5, 6))
    const { server, window } = await seeing(t, () => ({ text: 'Seen.' }), place)
    window.type(pasted(`${a.replaceAll(' ', '\\ ')} '${b.replace("'", `'\\''`)}'`))
    await window.shows(/\[picture 1: a b\.png, 1×2\] \[picture 2: it's\.png, 3×4\]/)
    window.type(pasted(`${pathToFileURL(c).href}\r\n`))
    await window.shows('[picture 3: in.png, 5×6]')
    await handReturns()
    window.type('\u007f')
    await window.shows((screen) => !screen.includes('picture 3'))
    await window.shows('picture 2')
    window.type(' and ')
    await window.shows(' and')
    window.type(pasted('/etc/hostname'))
    await window.shows('and /etc/hostname')
    await handReturns()
    // The pictures are kept already: the files may go.
    rmSync(shots, { recursive: true })
    await window.shows('hostname')
    window.type(keys.enter)
    await window.shows('Seen.')
    assert.deepEqual(server.turns()[0]!.body.messages[0].content, [
      image(png(1, 2)),
      image(png(3, 4)),
      {
        type: 'text',
        text: `[picture 1: ${a}, 1×2] [picture 2: ${b}, 3×4] and /etc/hostname`,
      },
    ])
  })

  test('hostile files: a name with escapes, a pipe, 500 MB, a picture that was cut', options, async (t) => {
    const place = machineWith(t)
    const { shots, machine } = place
    const evil = join(shots, 'x\u001b]0;evil\u0007\u001b[31m.png')
    writeFileSync(evil, png(7, 8))
    writeFileSync(join(shots, 'cut.png'), shot.subarray(0, -20))
    execFileSync('mkfifo', [join(shots, 'pipe.png')])
    writeFileSync(join(shots, 'vast.png'), shot)
    execFileSync('truncate', ['-s', '500M', join(shots, 'vast.png')])
    const { window } = await seeing(t, () => ({ text: 'Seen.' }), place)
    window.type(pasted(pathToFileURL(evil).href))
    await window.shows('[picture 1: x_)0;evil__(31m.png, 7×8]')
    assert.equal(window.raw.includes('0;evil\u0007'), false)
    for (const [name, words] of [
      ['cut.png', 'it is damaged: its end is missing'],
      ['vast.png', 'a picture of 500.0 MB is too large; scale it below 20.0 MB'],
    ] as const) {
      window.type(pasted(join(shots, name)))
      await window.shows((screen) => screen.replaceAll(/\s+/g, ' ').includes(words))
    }
    window.type(pasted(join(shots, 'pipe.png')))
    await window.shows('pipe.png')
    assert.equal(existsSync(join(machine.project, '.git', 'index.lock')), false)
  })

  test('a clipboard program that hangs or is missing is named, and the chat goes on', options, async (t) => {
    const { window } = await seeing(t, () => ({ text: 'Seen.' }), machineWith(t, 'exec sleep 1000'))
    window.type(keys.ctrlV)
    await window.shows('[reading')
    await window.shows((screen) => screen.replaceAll(/\s+/g, ' ').includes('xclip did not answer within 3 s.'))
    window.type('hello\r')
    await window.shows('Seen.')
  })

  test('nothing is lost: kill -9, the history, the queue and /rewind', options, async (t) => {
    const { server, window, open, clipboard } = await seeing(t, ({ count }) =>
      count === 1 ? { call: { tool: 'bash', input: { command: 'sleep 1000' } } } : { text: `Seen ${count}.` },
    )
    window.type(keys.ctrlV)
    await window.shows('[picture 1: clipboard, 640×480]')
    window.type(' one\r')
    await window.shows(/alpha asks for permission|bash sleep/)
    process.kill(window.pty.pid, 'SIGKILL')
    await window.exited
    writeFileSync(clipboard, 'gone')
    const again = await open(/Ask anything/ as never)
    again.type(keys.up)
    // The transcript shows the same words, so that those of the input are waited for.
    await again.shows(/─\n \[picture 1: clipboard, 640×480\] one\n/)
    again.type('\u0005 again\r')
    await again.shows('Seen 2.')
    const last = server.turns().at(-1)!.body.messages.at(-1)
    assert.deepEqual(last.content, [image(shot), { type: 'text', text: '[picture 1: clipboard, 640×480] one again' }])
    again.type('/rewind\r')
    await again.shows(/To before which prompt[^]*Enter answers/)
    again.type(keys.enter)
    await again.shows(/Go back to before[^]*Enter answers|What goes back[^]*Enter answers/)
    again.type('1')
    await again.shows(/─\n \[picture 1: clipboard, 640×480\] one again\n/)
    again.type(keys.enter)
    await again.shows('Seen 3.')
    const rewound = server.turns().at(-1)!.body.messages.at(-1)
    assert.deepEqual(rewound.content[0], image(shot))
  })

  test(
    'a picture that is sent during a turn reaches the agent in that turn, and is in the history',
    options,
    async (t) => {
      const place = machineWith(t)
      const { machine, server, window } = await seeing(
        t,
        ({ count }) =>
          count === 1
            ? { call: { tool: 'bash', input: { command: 'until [ -e go ]; do sleep 0.05; done' } } }
            : { text: 'I see it now.' },
        place,
      )
      window.type('wait for it\r')
      await window.shows(/alpha asks for permission[^]*Enter answers/)
      window.type('1')
      await window.shows(/bash · /)
      window.type(keys.ctrlV)
      await window.shows('[picture 1: clipboard, 640×480]')
      window.type(' this one\r')
      await window.shows('↳ waiting: [picture 1: clipboard, 640×480] this one')
      writeFileSync(join(machine.project, 'go'), '')
      await window.shows('I see it now.')
      const last = server.turns().at(-1)!.body.messages.at(-1)
      assert.deepEqual(last.content.slice(-2), [
        image(shot),
        { type: 'text', text: '[picture 1: clipboard, 640×480] this one' },
      ])
      const [steered] = machine.history().filter(({ type }) => type === 'steer')
      assert.deepEqual((steered as { files?: unknown }).files, [
        { sha: sha(shot), media: 'image/png', bytes: shot.length },
      ])
    },
  )

  test('a prompt that waits in the queue keeps its picture, and Up takes it back', options, async (t) => {
    const place = machineWith(t)
    const told = join(place.machine.folder, 'told')
    const [go, folder] = [join(place.machine.folder, 'go'), place.machine.folder]
    place.machine.agents(
      { slow: `cat >> ${told}; until [ -e ${go} ]; do sleep 0.05; done; echo Done.` },
      { metaInstruction: false, thinking: 'off' },
    )
    const window = new ProgramWindow(place.machine, { env: place.env })
    t.after(() => window.end())
    await window.shows(rested('0 tokens'))
    window.type('first\r')
    await window.shows('Esc cancels')
    window.type(keys.ctrlV)
    await window.shows('[picture 1: clipboard, 640×480]')
    window.type(' queued\r')
    await window.shows('↳ waiting: [picture 1: clipboard, 640×480] queued')
    window.type(keys.up)
    await window.shows((screen) => /─\n \[picture 1: clipboard, 640×480\] queued\n/.test(screen))
    window.type(keys.enter)
    await window.shows('↳ waiting: [picture 1: clipboard, 640×480] queued')
    writeFileSync(go, folder)
    await window.shows('slow takes no pictures.')
    await window.shows(rested('tokens'))
    const [, path] = /\[picture 1: clipboard, 640×480; the picture is at (\S+\.png)\] queued/.exec(
      readFileSync(told, 'utf8'),
    )!
    assert.deepEqual(readFileSync(path!), shot)
  })

  test('a model that cannot see pictures is told the path of one, and so is the person', options, async (t) => {
    const { server, window } = await seeing(
      t,
      () => ({ text: 'Blind.' }),
      machineWith(t),
      'dark',
      'groq/openai/gpt-oss-120b',
    )
    window.type(keys.ctrlV)
    await window.shows('[picture 1: clipboard, 640×480]')
    window.type('\r')
    await window.shows('Blind.')
    await window.shows((screen) =>
      screen
        .replaceAll(/\s+/g, ' ')
        .includes('alpha did not see your picture, but knows where it is: this model cannot see pictures.'),
    )
    const [, path] = /the picture is at (\S+\.png)\]/.exec(JSON.stringify(server.turns()[0]!.body.messages))!
    assert.deepEqual(readFileSync(path!), shot)
  })

  test('the next agent of the rotation gets the picture too, here by its path', options, async (t) => {
    const place = machineWith(t)
    const told = join(place.machine.folder, 'told')
    place.machine.agents(
      {
        first: "cat >/dev/null; echo 'error: usage limit reached' >&2; exit 1",
        second: `cat > ${told}; echo Taken over.`,
      },
      { metaInstruction: false, thinking: 'off' },
    )
    const window = new ProgramWindow(place.machine, { env: place.env })
    t.after(() => window.end())
    await window.shows(rested('0 tokens'))
    window.type(keys.ctrlV)
    await window.shows('[picture 1: clipboard, 640×480]')
    window.type(' look\r')
    await window.shows('Enter answers')
    window.type('1')
    await window.shows('Taken over.')
    const [, path] = /\[picture 1: clipboard, 640×480; the picture is at (\S+\.png)\] look/.exec(
      readFileSync(told, 'utf8'),
    )!
    assert.deepEqual(readFileSync(path!), shot)
    await window.shows('second takes no pictures.')
  })

  for (const look of ['dark', 'plain'])
    test(`the frames, ${look}`, options, async (t) => {
      const place = machineWith(t)
      writeFileSync(join(place.shots, 'Screenshot from 2026-11-16 10-04-05.png'), png(1920, 1080))
      const { window } = await seeing(t, () => ({ text: 'Two boxes.' }), place, look)
      const sitting = new Sitting(window, look)
      await sitting.begun()
      window.type('compare ')
      window.type(keys.ctrlV)
      await window.shows('[picture 1: clipboard, 640×480]')
      window.type(' with ')
      window.type(pasted(join(place.shots, 'Screenshot from 2026-11-16 10-04-05.png')))
      const at = [
        { cols: 80, rows: 24 },
        { cols: 200, rows: 50 },
      ]
      await sitting.framed('pictures', ['1920×1080]'], at)
    })
})
