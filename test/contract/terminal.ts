import type { TestContext } from 'node:test'
import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import headless from '@xterm/headless'
import type { Screen, Terminal, TerminalHost } from '../../src/core/screen/terminal.ts'

export type TerminalMaker = {
  host: TerminalHost
  cwd: string
  /** Commands any host can be given. */
  commands: {
    /** Prints `ready`, then says `got: <line>` for each line it is sent, with an escape as `^[`. */
    echo: string
    /** Prints `bye` and exits with 3. */
    exits3: string
    /** Prints the value of $MARK and the name of the directory it runs in, each on a line. */
    place: string
    /** Prints `line 1` to `line 100`, each on a line, then `ready`, and stays. */
    lines: string
  }
}

const longestSought = 1000

/** Waits until the program has drawn something, without looking at a clock. */
export async function drawn(terminal: Terminal, text: string | RegExp, after = 0): Promise<number> {
  const decoder = new TextDecoder()
  let seen = ''
  for await (const { at, bytes } of terminal.output(after)) {
    seen = seen.slice(-longestSought) + decoder.decode(bytes, { stream: true })
    if (typeof text === 'string' ? seen.includes(text) : text.test(seen)) return at + bytes.length
  }
  return assert.fail(`the program ended without drawing ${text}: ${seen.slice(-2000)}`)
}

/** The rows of a screen that hold something. */
export const filled = ({ rows }: Screen) => rows.map((row) => row.trimEnd()).filter(Boolean)

const rows = async (terminal: Terminal) => filled(await terminal.screen())

/** The rows of another terminal on which the texts are drawn. */
export async function seenElsewhere(screen: Screen, ...texts: (string | Uint8Array)[]): Promise<string[]> {
  const other = new headless.Terminal({ cols: screen.cols, rows: screen.rows.length, allowProposedApi: true })
  for (const text of texts) await new Promise<void>((resolve) => other.write(text, resolve))
  return screen.rows.map((_row, row) => other.buffer.active.getLine(row)!.translateToString(true))
}

/** The contract of every TerminalHost and its Terminals. */
export function terminalContract(
  name: string,
  make: (t: TestContext) => TerminalMaker,
  skip: string | false = false,
): void {
  describe(name, { concurrency: 4, skip }, () => terminalTests(make))
}

function terminalTests(make: (t: TestContext) => TerminalMaker): void {
  const behaviour = (title: string, run: (maker: TerminalMaker) => Promise<void>) => {
    test(title, (t) => run(make(t)))
  }

  behaviour(
    'an id that could lead to another folder, or be a flag, opens no terminal',
    async ({ host, cwd, commands }) => {
      for (const id of ['../x', '-t', "x'; touch canary; '", ''])
        await assert.rejects(host.open(commands.echo, { cwd, id }), {
          message: `${JSON.stringify(id)} is not the id of a terminal: it may hold only letters, digits, "_", "." and "-"`,
        })
    },
  )

  behaviour(
    'text that is written and entered reaches the program, and its answer the screen',
    async ({ host, cwd, commands }) => {
      const terminal = await host.open(commands.echo, { cwd })
      await drawn(terminal, 'ready')
      await terminal.write('hello')
      await terminal.press('Enter')
      await drawn(terminal, 'got: hello')
      assert.ok((await rows(terminal)).includes('got: hello'))
      await terminal.close()
    },
  )

  behaviour(
    'a paste arrives as plain text, whatever it holds, and neither enters itself nor presses a control key',
    async ({ host, cwd, commands }) => {
      const terminal = await host.open(commands.echo, { cwd })
      await drawn(terminal, 'ready')
      await terminal.paste('one \u001b[20\u001b\u001b[201~1~two\u0003\u0004\u001b]52;c;eA==\u0007')
      await terminal.press('Enter')
      await drawn(terminal, 'got: one [201~two\r')
      await terminal.close()
    },
  )

  behaviour('positions of the output grow, and reading goes on where it was left', async ({ host, cwd, commands }) => {
    const terminal = await host.open(commands.echo, { cwd })
    const first = await drawn(terminal, 'ready')
    await terminal.write('x')
    await terminal.press('Enter')
    const second = await drawn(terminal, 'got: x', first)
    assert.ok(second > first)
    for await (const { at } of terminal.output(first)) {
      assert.ok(at >= first)
      break
    }
    await terminal.close()
  })

  behaviour('exited has the exit code of the program, and its last screen stays', async ({ host, cwd, commands }) => {
    const terminal = await host.open(commands.exits3, { cwd })
    assert.deepEqual(await terminal.exited, { code: 3 })
    assert.deepEqual((await rows(terminal))[0], 'bye')
    await drawn(terminal, 'bye')
    assert.equal(await terminal.children(), 0)
    await terminal.close()
  })

  behaviour('the program runs in the given folder, with the given variables', async ({ host, cwd, commands }) => {
    const terminal = await host.open(commands.place, { cwd, env: { MARK: `it's "m" $42; #{pid}\\` } })
    await terminal.exited
    assert.deepEqual((await rows(terminal)).slice(0, 2), [`it's "m" $42; #{pid}\\`, cwd.split('/').at(-1)])
    await terminal.close()
  })

  behaviour(
    'a terminal is found by its id until it is closed; closing ends the program',
    async ({ host, cwd, commands }) => {
      const terminal = await host.open(commands.echo, { cwd })
      await drawn(terminal, 'ready')
      assert.match(terminal.id, /^[0-9a-f]{8}-[0-9a-f-]{27}$/)
      assert.equal((await host.find(terminal.id))?.id, terminal.id)
      assert.equal(await host.find('00000000-0000-0000-0000-000000000000'), undefined)
      await terminal.close()
      await terminal.exited
      assert.equal(await host.find(terminal.id), undefined)
      await terminal.close()
    },
  )

  behaviour(
    'a terminal has the id, the title and the size that were chosen for it',
    async ({ host, cwd, commands }) => {
      const id = crypto.randomUUID()
      const size = { cols: 50, rows: 12 }
      const terminal = await host.open(commands.echo, { cwd, id, size, title: '1 claude busy' })
      await drawn(terminal, 'ready')
      assert.deepEqual([terminal.id, (await host.find(id))?.id], [id, id])
      const screen = await terminal.screen()
      assert.deepEqual([screen.cols, screen.rows.length, screen.title], [50, 12, '1 claude busy'])
      await terminal.retitle('1 claude asking', true)
      assert.equal((await terminal.screen()).title, '1 claude asking')
      await terminal.close()
    },
  )

  behaviour('a terminal can be resized; touched() is 0 until a person types', async (maker) => {
    const terminal = await maker.host.open(maker.commands.echo, { cwd: maker.cwd })
    await drawn(terminal, 'ready')
    await terminal.resize(40, 10)
    const { cols, rows } = await terminal.screen()
    assert.deepEqual([cols, rows.length], [40, 10])
    await terminal.write('ours')
    assert.deepEqual([await terminal.touched(), await terminal.children()], [0, 0])
    await terminal.write(' theirs', true)
    const touched = await terminal.touched()
    assert.ok(touched > 0)
    assert.equal(
      await (await maker.host.find(terminal.id))!.touched(),
      touched,
      'everybody who finds it knows of the key',
    )
    await terminal.press('Enter')
    await drawn(terminal, 'got: ours theirs')
    await terminal.close()
    const pasted = await maker.host.open(maker.commands.echo, { cwd: maker.cwd })
    await drawn(pasted, 'ready')
    await pasted.paste('ours')
    assert.equal(await pasted.touched(), 0)
    await pasted.paste(' theirs', true)
    assert.ok((await pasted.touched()) > 0)
    await pasted.close()
  })

  behaviour(
    'every process that finds the terminal knows the mark of a pasted prompt',
    async ({ host, cwd, commands }) => {
      const terminal = await host.open(commands.echo, { cwd })
      await drawn(terminal, 'ready')
      const found = async () => (await host.find(terminal.id))!.lastMark?.()
      const kept = (mark: string) => (host.outlives || terminal.lastMark ? mark : undefined)
      assert.equal(await found(), undefined)
      await terminal.paste('one', false, 'a1b2c3')
      assert.equal(await found(), kept('a1b2c3'))
      await terminal.paste(' two', true)
      assert.equal(await found(), kept('a1b2c3'), 'the paste of a person has no mark, and leaves that of the prompt')
      await terminal.paste(' three', false, 'd4e5f6')
      assert.equal(await found(), kept('d4e5f6'))
      await terminal.press('Enter')
      await drawn(terminal, 'got: one two three')
      await terminal.close()
    },
  )

  behaviour('rows that scrolled off the screen are in the history', async ({ host, cwd, commands }) => {
    const terminal = await host.open(commands.lines, { cwd, size: { cols: 40, rows: 10 } })
    await drawn(terminal, 'ready')
    const lines = [...Array.from({ length: 100 }, (_, i) => `line ${i + 1}`), 'ready']
    assert.deepEqual(await rows(terminal), lines.slice(-10))
    assert.deepEqual(await terminal.history(3), lines.slice(-3))
    assert.deepEqual(await terminal.history(60), lines.slice(-60))
    assert.deepEqual((await terminal.history(1000)).slice(-101), lines)
    const { text, cols, rows: height } = await terminal.paint(50)
    assert.deepEqual([cols, height], [40, 10])
    const other = new headless.Terminal({ cols, rows: height, scrollback: 500, allowProposedApi: true })
    await new Promise<void>((resolve) => other.write(text, resolve))
    const painted = Array.from({ length: other.buffer.active.length }, (_, row) =>
      other.buffer.active.getLine(row)!.translateToString(true),
    )
    assert.deepEqual(painted, lines.slice(-60))
    await terminal.close()
  })

  behaviour(
    'a late reader paints the present screen and goes on with the new output',
    async ({ host, cwd, commands }) => {
      const terminal = await host.open(commands.echo, { cwd, size: { cols: 60, rows: 8 } })
      await drawn(terminal, 'ready')
      // To the last column: what is painted after it must not take it away.
      const edge = 'x'.repeat(60 - 'got: '.length)
      await terminal.write(edge)
      await terminal.press('Enter')
      await drawn(terminal, `got: ${edge}`)
      const before = await terminal.screen()
      assert.ok(before.rows.includes(`got: ${edge}`))
      const { at, text } = await terminal.paint()
      assert.deepEqual(await seenElsewhere(before, 'something else', text), before.rows)
      await terminal.write('two')
      await terminal.press('Enter')
      const later: Uint8Array[] = []
      for await (const { bytes } of terminal.output(at)) {
        later.push(bytes)
        if (Buffer.concat(later).includes('got: two\r')) break
      }
      const after = await terminal.screen()
      assert.deepEqual(await seenElsewhere(after, text, ...later), after.rows)
      await terminal.close()
    },
  )

  behaviour('closing the host ends the programs that cannot outlive this process', async ({ host, cwd, commands }) => {
    const terminal = await host.open(commands.echo, { cwd })
    await drawn(terminal, 'ready')
    await host.close()
    if (!host.outlives) await terminal.exited
    else await terminal.close()
  })
}
