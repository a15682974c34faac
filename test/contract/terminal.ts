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

/** Another terminal, on which what is painted and drawn is seen. */
export async function seenElsewhere(screen: Screen, ...texts: (string | Uint8Array)[]): Promise<string[]> {
  const other = new headless.Terminal({ cols: screen.cols, rows: screen.rows.length, allowProposedApi: true })
  for (const text of texts) await new Promise<void>((resolve) => other.write(text, resolve))
  return screen.rows.map((_row, row) => other.buffer.active.getLine(row)!.translateToString(true))
}

/** What every TerminalHost and its Terminals keep to. */
export function terminalContract(
  name: string,
  make: (t: TestContext) => TerminalMaker,
  skip: string | false = false,
): void {
  describe(name, { concurrency: 4, skip }, () => stories(make))
}

function stories(make: (t: TestContext) => TerminalMaker): void {
  const story = (what: string, run: (maker: TerminalMaker) => Promise<void>) => {
    test(what, (t) => run(make(t)))
  }

  story('an id that could lead to another folder, or be a flag, opens no terminal', async ({ host, cwd, commands }) => {
    for (const id of ['../x', '-t', "x'; touch canary; '", ''])
      await assert.rejects(host.open(commands.echo, { cwd, id }), {
        message: `${JSON.stringify(id)} is not the id of a terminal: it may hold only letters, digits, "_", "." and "-"`,
      })
  })

  story(
    'what is written and entered reaches the program, and its answer the screen',
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

  story(
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

  story('positions of the output grow, and reading goes on where it was left', async ({ host, cwd, commands }) => {
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

  story('a program’s exit is told with its code, and its last screen stays', async ({ host, cwd, commands }) => {
    const terminal = await host.open(commands.exits3, { cwd })
    assert.deepEqual(await terminal.exited, { code: 3 })
    assert.deepEqual((await rows(terminal))[0], 'bye')
    await drawn(terminal, 'bye')
    assert.equal(await terminal.children(), 0)
    await terminal.close()
  })

  story('it runs where it was told, with the variables it was given', async ({ host, cwd, commands }) => {
    const terminal = await host.open(commands.place, { cwd, env: { MARK: `it's "m" $42; #{pid}\\` } })
    await terminal.exited
    assert.deepEqual((await rows(terminal)).slice(0, 2), [`it's "m" $42; #{pid}\\`, cwd.split('/').at(-1)])
    await terminal.close()
  })

  story('it is found by its id until it is closed; closing ends the program', async ({ host, cwd, commands }) => {
    const terminal = await host.open(commands.echo, { cwd })
    await drawn(terminal, 'ready')
    assert.match(terminal.id, /^[0-9a-f]{8}-[0-9a-f-]{27}$/)
    assert.equal((await host.find(terminal.id))?.id, terminal.id)
    assert.equal(await host.find('00000000-0000-0000-0000-000000000000'), undefined)
    await terminal.close()
    await terminal.exited
    assert.equal(await host.find(terminal.id), undefined)
    await terminal.close()
  })

  story('it has the id, the title and the size that were chosen for it', async ({ host, cwd, commands }) => {
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
  })

  story('it can be resized; nothing runs below it, and nobody has touched it before a person does', async (maker) => {
    const terminal = await maker.host.open(maker.commands.echo, { cwd: maker.cwd })
    await drawn(terminal, 'ready')
    await terminal.resize(40, 10)
    const { cols, rows } = await terminal.screen()
    assert.deepEqual([cols, rows.length], [40, 10])
    await terminal.write('ours')
    assert.deepEqual([await terminal.touched(), await terminal.children()], [0, 0])
    await terminal.write(' theirs', true)
    assert.ok((await terminal.touched()) > 0)
    await terminal.press('Enter')
    await drawn(terminal, 'got: ours theirs')
    await terminal.close()
  })

  story('what scrolled off the screen is in its history', async ({ host, cwd, commands }) => {
    const terminal = await host.open(commands.lines, { cwd, size: { cols: 40, rows: 10 } })
    await drawn(terminal, 'ready')
    const lines = [...Array.from({ length: 100 }, (_, i) => `line ${i + 1}`), 'ready']
    assert.deepEqual(await rows(terminal), lines.slice(-10))
    assert.deepEqual(await terminal.history(3), lines.slice(-3))
    assert.deepEqual(await terminal.history(60), lines.slice(-60))
    assert.deepEqual((await terminal.history(1000)).slice(-101), lines)
    await terminal.close()
  })

  story('whoever comes late paints what is there and goes on with what comes', async ({ host, cwd, commands }) => {
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
  })

  story('closing the host ends what would not outlive us', async ({ host, cwd, commands }) => {
    const terminal = await host.open(commands.echo, { cwd })
    await drawn(terminal, 'ready')
    await host.close()
    if (!host.outlives) await terminal.exited
    else await terminal.close()
  })
}
