import type { TestContext } from 'node:test'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { machineWithHub } from './agent-machine.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const options = { timeout: 60_000 }

/** A person who has Gemini and a hub; each home is another person's, with settings as they keep them. */
async function people(t: TestContext) {
  const { machine, env: hub, folder } = await machineWithHub(t, { leash: 'edit' })
  const env = { ...machine.install(['gemini']), ...hub, GEMINI_API_KEY: 'x' }
  return (name: string, lay: (settings: string, home: string) => void) => {
    const home = join(machine.folder, name)
    const gemini = join(home, '.gemini')
    const settings = join(gemini, 'settings.json')
    mkdirSync(gemini, { recursive: true })
    lay(settings, home)
    const run = (...args: string[]) => machine.run(args, { env: { ...env, HOME: home } })
    return {
      settings,
      run,
      text: () => (existsSync(settings) ? readFileSync(settings, 'utf8') : undefined),
      files: () => readdirSync(gemini).sort(),
      dry: async () => (await run('agent', '--start=gemini', '--dry-run')).out,
      /** Wires it and starts it, as far as that it runs; what was said by then. */
      async agent(): Promise<string> {
        const child = machine.start(['agent', '--start=gemini', '--yes', '--here'], { env: { ...env, HOME: home } })
        t.after(() => child.kill('SIGKILL'))
        let lines = ''
        child.stdout!.resume()
        for await (const chunk of child.stderr!.setEncoding('utf8')) {
          lines += String(chunk)
          if (lines.includes('gemini: reading its instructions')) break
        }
        child.kill('SIGTERM')
        await once(child, 'exit')
        assert.ok(existsSync(folder('logs')), lines)
        return lines
      },
    }
  }
}

const comments = '{\r\n  // mine\r\n  "theme": "dark", /* kept */\r\n}\r\n'

/** Settings that can be written, as they lie there before. */
const fit: Record<string, (settings: string, home: string) => void> = {
  'with comments and the line ends of another system': (settings) => writeFileSync(settings, comments),
  'that are a link within the home': (settings, home) => {
    mkdirSync(join(home, 'dotfiles'))
    writeFileSync(join(home, 'dotfiles', 'gemini.json'), '{\n\t"theme": "dark"\n}\n')
    symlinkSync('../dotfiles/gemini.json', settings)
  },
  'that are not there yet': () => {},
  'with other servers, and no end of line': (settings) =>
    writeFileSync(settings, '{"mcpServers":{"other":{"command":"mine"}},"ui":{"theme":"x"}}'),
}

test(
  'an entry is written beside what is there, with a backup, and is taken out again to the last byte',
  options,
  async (t) => {
    const person = await people(t)
    for (const [name, lay] of Object.entries(fit)) {
      const { settings, run, text, files, agent } = person(name, lay)
      const [before, were] = [text(), files()]
      const lines = await agent()
      const real = realpathSync(settings)
      if (before === undefined) assert.doesNotMatch(lines, /As it was before/, name)
      else {
        assert.match(lines, /^The file as it was before is kept in .*\.termaite\.bak$/m, name)
        assert.equal(readFileSync(`${real}.termaite.bak`, 'utf8'), before, name)
      }
      const now = text()!
      assert.match(now, /"termaite-hub": ?\{[^]*"serve",\s*"--stdio-proxy"[^]*"trust": ?true/, name)
      for (const row of (before ?? '').split(/[\r\n{}]+/).filter((part) => part.trim().length > 2))
        assert.ok(now.includes(row.trim().replace(/,$/, '')), `${name}: ${row}`)
      assert.equal(now.includes('\r\n'), before?.includes('\r\n') ?? false, name)
      assert.equal(lstatSync(settings).isSymbolicLink(), name.includes('a link'), name)
      assert.doesNotMatch(now, /Bearer|hub\.key/, 'no key stands in it')

      const again = await agent()
      assert.doesNotMatch(again, /Take it back|As it was before/, 'what stands there is used as it is')
      assert.equal(text(), now, name)

      const gone = await run(
        ...(name.includes('servers') ? ['uninstall', '--yes', '--keep-history'] : ['mcp', 'remove', 'gemini', '--yes']),
      )
      assert.equal(gone.code, 0, gone.err)
      assert.deepEqual([text(), files()], [before, were], name)
    }
  },
)

/** Settings that must not be written, and why. */
const unfit: Record<string, [RegExp, (settings: string, home: string) => void]> = {
  'that do not parse': [
    /is not JSON \(line 2: value expected\); correct it first/,
    (settings) => writeFileSync(settings, '{\n  "a": ,\n}'),
  ],
  'that are read-only': [
    /is read-only; make it writable first/,
    (settings) => {
      writeFileSync(settings, '{}')
      chmodSync(settings, 0o444)
    },
  ],
  'that lie elsewhere': [
    /is a link to .*, outside of your home/,
    (settings, home) => {
      writeFileSync(`${home}.json`, '{}')
      symlinkSync(`${home}.json`, settings)
    },
  ],
  'that are a link to nothing': [
    /is a link to a file that does not exist/,
    (settings) => symlinkSync('nothing.json', settings),
  ],
  'of another shape': [
    /must hold an object under mcpServers/,
    (settings) => writeFileSync(settings, '{"mcpServers":[]}'),
  ],
}

test('settings that cannot be written are left as they are, and the agent runs without MCP', options, async (t) => {
  const person = await people(t)
  for (const [name, [words, lay]] of Object.entries(unfit)) {
    const { text, files, agent, dry } = person(name, lay)
    const [before, were] = [text(), files()]
    const lines = await agent()
    assert.match(lines, words, name)
    assert.match(lines, /Nothing was changed\. gemini will run without MCP\.\n/, name)
    assert.deepEqual([text(), files()], [before, were], name)
    assert.match(await dry(), /^hub tools +termaite-hub is not set up$/m)
  }
})

test('an entry of the person’s own is used as it is; keys in plain text are warned about', options, async (t) => {
  const servers = { 'termaite-hub': { command: 'mine' }, other: { url: 'x', headers: { Authorization: 'Bearer abc' } } }
  const before = JSON.stringify({ mcpServers: servers })
  const person = await people(t)
  const { settings, text, files, agent, dry } = person('own', (path) => writeFileSync(path, before))
  assert.match(await dry(), new RegExp(`^hub tools +termaite-hub is set up in ${settings}$`, 'm'))
  const [warning] = (await agent()).split('\n')
  golden(t, warning, { [settings]: '<settings>' })
  assert.deepEqual([text(), files()], [before, ['settings.json']])
})
