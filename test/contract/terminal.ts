import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { Terminal, TerminalHost } from '../../src/core/screen/terminal.ts'

export type TerminalMaker = {
  host: TerminalHost
  cwd: string
  /** Commands any host can be given. */
  commands: {
    /** Prints `ready`, then says `got: <line>` for each line it is sent. */
    echo: string
    /** Prints `bye` and exits with 3. */
    exits3: string
    /** Prints the value of $MARK and the name of the directory it runs in, each on a line. */
    place: string
  }
}

/** Waits until the program has drawn something, without looking at a clock. */
async function drawn(terminal: Terminal, text: string, after = 0): Promise<number> {
  const decoder = new TextDecoder()
  let seen = ''
  for await (const { at, bytes } of terminal.output(after)) {
    seen += decoder.decode(bytes, { stream: true })
    if (seen.includes(text)) return at + bytes.length
  }
  return assert.fail(`the program ended without drawing ${text}: ${seen}`)
}

const rows = async (terminal: Terminal) => (await terminal.screen()).rows.map((row) => row.trimEnd()).filter(Boolean)

/** What every TerminalHost and its Terminals keep to. */
export function terminalContract(name: string, make: () => TerminalMaker): void {
  const opened = async (which: keyof TerminalMaker['commands'], env?: Record<string, string>) => {
    const { host, cwd, commands } = make()
    return { host, terminal: await host.open(commands[which], { cwd, ...(env ? { env } : {}) }) }
  }

  test(`${name}: what is written and entered reaches the program, and its answer the screen`, async () => {
    const { terminal } = await opened('echo')
    await drawn(terminal, 'ready')
    await terminal.write('hello')
    await terminal.press('Enter')
    await drawn(terminal, 'got: hello')
    assert.ok((await rows(terminal)).includes('got: hello'))
    await terminal.close()
  })

  test(`${name}: a paste arrives whole, whatever it holds, and does not enter itself`, async () => {
    const { terminal } = await opened('echo')
    await drawn(terminal, 'ready')
    await terminal.paste('one \u001b[20\u001b\u001b[201~1~two')
    await terminal.press('Enter')
    await drawn(terminal, 'got: one \u001b[20[201~1~two')
    await terminal.close()
  })

  test(`${name}: positions of the output grow, and reading goes on where it was left`, async () => {
    const { terminal } = await opened('echo')
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

  test(`${name}: a program's exit is told with its code, and its last screen stays`, async () => {
    const { terminal } = await opened('exits3')
    assert.deepEqual(await terminal.exited, { code: 3 })
    assert.ok((await rows(terminal)).includes('bye'))
    await terminal.close()
  })

  test(`${name}: it runs where it was told, with the variables it was given`, async () => {
    const { terminal } = await opened('place', { MARK: 'm-42' })
    await drawn(terminal, 'm-42')
    await terminal.exited
    const { cwd } = make()
    assert.deepEqual((await rows(terminal)).slice(0, 2), ['m-42', cwd.split('/').at(-1)])
    await terminal.close()
  })

  test(`${name}: it is found by its id until it is closed; closing ends the program`, async () => {
    const { host, terminal } = await opened('echo')
    await drawn(terminal, 'ready')
    assert.match(terminal.id, /^[0-9a-f]{8}-[0-9a-f-]{27}$/)
    assert.equal((await host.find(terminal.id))?.id, terminal.id)
    assert.equal(await host.find('00000000-0000-0000-0000-000000000000'), undefined)
    await terminal.close()
    await terminal.exited
    assert.equal(await host.find(terminal.id), undefined)
    await terminal.close()
  })

  test(`${name}: it can be resized; nobody has touched it, and nothing runs below it`, async () => {
    const { terminal } = await opened('echo')
    await drawn(terminal, 'ready')
    await terminal.resize(40, 10)
    const { cols, rows } = await terminal.screen()
    assert.deepEqual([cols, rows.length], [40, 10])
    assert.deepEqual([await terminal.touched(), await terminal.children()], [0, 0])
    await terminal.close()
  })
}
