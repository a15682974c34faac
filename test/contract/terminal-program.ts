import type { TestContext } from 'node:test'
import { describe, test } from 'node:test'
import { cleanText } from '../../src/base/text/ansi.ts'
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Terminal, TerminalHost } from '../../src/core/screen/terminal.ts'
import { processTable } from '../../src/base/process/process-table.ts'
import { drawn, filled } from './terminal.ts'

export type ProgramMaker = {
  host: TerminalHost
  cwd: string
  home: string
  /** A command that runs one of the programs of test/terminals/program.mjs. */
  running(what: string): string
}

/** The processes among these that live; a dead one that its parent has not collected yet does not count. */
export async function living(pids: readonly number[]): Promise<number[]> {
  const table = new Set((await processTable()).map(({ pid }) => pid))
  return pids.filter((pid) => table.has(pid))
}

/** The processes that the program called stubborn says it has started. */
export async function stubbornOnes(terminal: Terminal): Promise<number[]> {
  await drawn(terminal, /child \d+\r[^]*child \d+\r/)
  return [...(await terminal.screen()).rows.join('\n').matchAll(/child (\d+)/g)].map(([, pid]) => Number(pid))
}

/** The contract of every TerminalHost with real programs. */
export function programContract(
  name: string,
  make: (t: TestContext) => ProgramMaker,
  skip: string | false = false,
): void {
  describe(name, { concurrency: 4, skip }, () => programTests(make))
}

function programTests(make: (t: TestContext) => ProgramMaker): void {
  const behaviour = (title: string, run: (maker: ProgramMaker) => Promise<void>) => {
    test(title, (t) => run(make(t)))
  }

  behaviour('exited has the exact exit code or signal', async ({ host, cwd }) => {
    const opened = ['true', 'exit 3', 'exit 128', 'kill -9 $$', "sh -c 'kill -15 $$'", 'no-such-program-anywhere'].map(
      async (command) => {
        const terminal = await host.open(command, { cwd })
        const exit = await terminal.exited
        await terminal.close()
        return exit
      },
    )
    assert.deepEqual(await Promise.all(opened), [
      { code: 0 },
      { code: 3 },
      { code: 128 },
      { signal: 9 },
      { signal: 15 },
      { code: 127 },
    ])
  })

  behaviour(
    'the person’s shell reads its init files, and keeps the quotes in a command',
    async ({ host, cwd, home }) => {
      writeFileSync(join(home, '.bash_profile'), 'export LOGIN=login\n')
      writeFileSync(join(home, '.bashrc'), 'case $- in *i*) rc() { printf "%s|" "$@"; } ;; esac\n')
      const terminal = await host.open(`rc "$LOGIN" 'it'"'"'s' "a \\"b\\"" '#{pid} #(id) %H' "$0"; echo 'é;'`, { cwd })
      await terminal.exited
      assert.deepEqual(filled(await terminal.screen()), [`login|it's|a "b"|#{pid} #(id) %H|termaite-terminal|é;`])
      await terminal.close()
    },
  )

  behaviour(
    'after ten megabytes of output the last screen is whole, and the end of the output can be read',
    async ({ host, cwd, running }) => {
      const terminal = await host.open(running('flood 10000000'), { cwd, size: { cols: 80, rows: 5 } })
      assert.deepEqual(await terminal.exited, { code: 0 })
      const line = 'x'.repeat(79)
      assert.deepEqual((await terminal.screen()).rows, [line, line, line, 'the last line', ''])
      assert.deepEqual(await terminal.history(2), [line, 'the last line'])
      await drawn(terminal, 'the last line\r\n')
      await terminal.close()
    },
  )

  behaviour('wide characters and emoji stand where they were drawn, and so does the cursor', async ({ host, cwd }) => {
    const terminal = await host.open(
      `printf 'aé|漢字|😀|e\\314\\201\\n\\033[31mred\\033[0m \\033]2;a title\\007x'; read _`,
      { cwd },
    )
    await drawn(terminal, '\u0007x')
    const screen = await terminal.screen()
    assert.deepEqual(filled(screen), ['aé|漢字|😀|e\u0301', 'red x'])
    assert.deepEqual([screen.cursor, screen.title], [{ row: 1, col: 5 }, 'a title'])
    await terminal.close()
  })

  behaviour('a full-screen program is shown, and the screen before it comes back after it', async ({ host, cwd }) => {
    const draw = `printf 'before\\n\\033[?1049h\\033[2J\\033[3;5Hfull\\033[?1h'; read -r x; printf '\\033[?1049lafter %s' "$x"; read -r y`
    const terminal = await host.open(draw, { cwd, size: { cols: 30, rows: 4 } })
    const at = await drawn(terminal, 'full')
    assert.deepEqual((await terminal.screen()).rows, ['', '', '    full', ''])
    // A full-screen program gets its arrows in another way.
    await terminal.press('Up')
    await terminal.press('Enter')
    await drawn(terminal, 'after \u001bOA', at)
    assert.equal((await terminal.screen()).rows[0], 'before')
    await terminal.close()
  })

  behaviour('a program that draws all the time can be resized', async ({ host, cwd, running }) => {
    const terminal = await host.open(running('size'), { cwd, size: { cols: 60, rows: 20 } })
    let at = await drawn(terminal, 'size 60x20')
    for (const [cols, rows] of [
      [100, 30],
      [20, 12],
      [90, 15],
    ] as const) {
      await terminal.resize(cols, rows)
      at = await drawn(terminal, `size ${cols}x${rows}`, at)
      const screen = await terminal.screen()
      assert.deepEqual([screen.cols, screen.rows.length, screen.rows[0]], [cols, rows, `size ${cols}x${rows}`])
    }
    await terminal.close()
  })

  behaviour(
    'a megabyte and every printable byte arrive as one paste, and the next paste is separate',
    async ({ host, cwd, running }) => {
      const terminal = await host.open(running('sums'), { cwd })
      let at = await drawn(terminal, 'ready')
      const long = Array.from({ length: 20_000 }, (_, i) => `line ${i} of a prompt that is too long, é漢😀\n`).join('')
      const bytes = String.fromCharCode(...Array.from({ length: 127 }, (_, i) => i + 1))
      for (const text of [long, bytes, 'x']) {
        let sum = 0
        // A terminal sends a line end as Enter does.
        const whole = cleanText(text).replaceAll('\n', '\r')
        for (const char of whole) sum = (sum * 31 + char.codePointAt(0)!) % 1_000_003
        await terminal.paste(text)
        at = await drawn(terminal, `paste ${whole.length} ${sum}\r`, at)
      }
      await terminal.press('Enter')
      await drawn(terminal, 'typed "\\r"', at)
      await terminal.close()
    },
  )

  behaviour(
    'children() counts the processes below the program without termaite’s own shells',
    async ({ host, cwd }) => {
      const terminal = await host.open(`sh -c 'sleep 60 & sh -c "sleep 60 & echo ready; wait" & wait'`, { cwd })
      await drawn(terminal, 'ready')
      assert.equal(await terminal.children(), 3)
      await terminal.close()
      const compound = await host.open(`MARK=1; sh -c 'echo ready; read _' && true`, { cwd })
      await drawn(compound, 'ready')
      assert.equal(await compound.children(), 0)
      await compound.close()
    },
  )

  behaviour('a suspended program goes on at once, because no shell could continue it', async ({ host, cwd }) => {
    const terminal = await host.open('echo ready; exec cat', { cwd })
    const at = await drawn(terminal, 'ready')
    await terminal.press('Ctrl+Z')
    await drawn(terminal, '^Z', at)
    await terminal.write('again\r')
    await drawn(terminal, /again\s+again/, at)
    await terminal.press('Ctrl+C')
    assert.deepEqual(await terminal.exited, { signal: 2 })
    await terminal.close()
  })

  behaviour(
    'close() ends children that ignore signals, also in sessions of their own',
    async ({ host, cwd, running }) => {
      const terminal = await host.open(running('stubborn'), { cwd })
      const pids = await stubbornOnes(terminal)
      assert.deepEqual(await living(pids), pids)
      await terminal.close()
      assert.deepEqual(await living(pids), [])
    },
  )

  behaviour('open() rejects a missing folder before anything starts', async ({ host, cwd }) => {
    await assert.rejects(host.open('true', { cwd: join(cwd, 'gone') }), {
      message: `cannot open a terminal in ${join(cwd, 'gone')}: there is no such folder`,
    })
  })
}
