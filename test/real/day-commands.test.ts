import type { Answer, Asked } from './model-server.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { collect } from '../../src/base/process/collect.ts'
import { start } from '../cli/program.ts'
import { until } from '../until.ts'
import { dayPlace, noDay } from './day-place.ts'

const names: Record<string, string> = { anthropic: 'claude', gemini: 'gemini', responses: 'codex' }
const story = 'Once upon a time there was a terminal that never lost a word that it had shown'

/** The prompts of this day, and what the scripted models say to them beside their name. */
const answers: Record<string, (asked: Asked, cwd: string) => Answer | undefined> = {
  'hello to the model': () => undefined,
  'an earlier talk of herons': () => ({ text: 'Herons fish.' }),
  'what is two and two': () => ({ text: 'It is four.' }),
  'turn 1 of 1)': () => ({ text: 'I leave it.' }),
  'turn 1 of 10)': (asked) => calledOnce(asked, 'turn 1 of 10)', 'Bash', { command: 'touch passed.txt' }),
  'count on': () => ({ text: 'One more.' }),
  'please write a file': (asked, cwd) =>
    calledOnce(asked, 'please write a file', 'Write', { file_path: join(cwd, 'b.txt'), content: 'one\ntwo\n' }),
  'which files are there': () => ({ text: 'I looked again.' }),
  'a word in the fork': () => ({ text: 'Only the fork has it.' }),
  'say hello to the crew': () => ({ text: 'The crew says hello.' }),
  'tell me a story': () => undefined,
}

/** The call, and words once its result has come. */
const calledOnce = ({ text }: Asked, prompt: string, tool: string, input: unknown): Answer =>
  text.lastIndexOf('toolu_') > text.lastIndexOf(prompt) ? { text: 'It is done.' } : { call: { tool, input } }

test(
  'a day of commands in the chat: what each shows, changes on the disk, and tells the models',
  { skip: noDay },
  async (t) => {
    let stories = 0
    const script = async (asked: Asked): Promise<Answer> => {
      const at = (prompt: string) => asked.text.lastIndexOf(prompt)
      const prompt = Object.keys(answers).toSorted((one, other) => at(other) - at(one))[0]!
      // The story breaks off, and once its beginning is on the screen nothing is left of the quota.
      if (prompt === 'tell me a story' && asked.wire === 'anthropic') {
        if (stories++ === 0) return { drop: story }
        await until(() => window.screen().includes('Once upon a time'))
        return { error: 'credit' }
      }
      return answers[prompt]!(asked, rig.cwd) ?? { text: `${names[asked.wire]} was here` }
    }
    const keys = { palette: 'f6' }
    const place = await dayPlace(t, script, { thinking: 'off', metaInstruction: false, keys })
    const { model, rig, window, settings, kept } = place
    const first = settings()
    const asks = (question: string) => window.shows(question, 'Enter answers')
    const agents = () =>
      (settings().agents as { name: string; enabled?: boolean }[]).map(({ name, enabled }) => [name, enabled ?? true])
    const run = async (...args: string[]) => {
      const ran = await collect(start[0], [...start.slice(1), ...args], { cwd: rig.cwd, env: rig.env })
      assert.equal(ran.code, 0, `${args.join(' ')}: ${ran.out.toString()}${ran.err}`)
      return ran.out.toString()
    }
    // Claude Code asks in its terminal about neither the folder nor the key.
    const known = {
      ...{ hasCompletedOnboarding: true, theme: 'dark' },
      customApiKeyResponses: { approved: ['made-up'], rejected: [] },
      projects: { [rig.cwd]: { hasTrustDialogAccepted: true } },
    }
    writeFileSync(join(rig.env.HOME!, '.claude.json'), JSON.stringify(known))
    const talked = await collect('claude', ['-p', 'an earlier talk of herons'], { cwd: rig.cwd, env: rig.env })
    assert.equal(talked.code, 0, talked.err)
    window.start([], { cols: 100, rows: 40 })
    await window.shows('Welcome to', 'claude ●', 'gemini ●', 'codex ●')

    await t.test('/model and /effort are in the request of each vendor', async () => {
      for (const line of [
        '/model claude opus low',
        '/effort claude high',
        '/model codex mock-two',
        '/effort codex low',
      ])
        window.say(line)
      await window.shows('claude uses opus with the effort high until', 'codex uses mock-two with the effort low until')
      window.say('/effort gemini high')
      await window.shows('The effort of gemini cannot be chosen here')
      window.say('/model gemini gemini-2.5-pro')
      await window.shows('gemini uses gemini-2.5-pro until')
      const said: unknown[] = []
      for (const agent of ['claude', 'codex', 'gemini']) {
        window.say(`/switch ${agent}`)
        await window.shows(new RegExp(`${agent} takes (?:the next turn|this turn)|next ${agent}`))
        window.say('hello to the model')
        await window.shows(new RegExp(`${agent} was here\\n─ ${agent} · `))
        const { body, path } = model.turns().at(-1)!
        said.push([
          body.model ?? /models\/([^:]+):/.exec(path)?.[1],
          body.output_config?.effort ?? body.reasoning?.effort,
        ])
      }
      // Claude Code turns its name for a model into that of its newest version.
      assert.deepEqual(
        [String(said[0]).replace(/claude-opus[^,]*/, 'opus'), ...said.slice(1)],
        ['opus,high', ['mock-two', 'low'], ['gemini-2.5-pro', undefined]],
      )
      assert.deepEqual(settings(), first, 'the choices last until the person leaves')
    })

    await t.test('/agents: a person orders the agents and switches one off', async () => {
      window.say('/agents')
      await window.shows('── Agents', /› ● 1 claude/, 'Esc leaves')
      window.press(']')
      await window.shows(/● 1 gemini/, /› ● 2 claude/)
      window.press('Down', 'Space')
      await window.shows(/› ○ 3 codex/, 'codex takes no turns now.')
      assert.deepEqual(agents(), [
        ['gemini', true],
        ['claude', true],
        ['codex', false],
      ])
      window.press('Space')
      await window.shows(/› ● 3 codex/)
      window.press('Up', '[')
      await window.shows(/› ● 1 claude/, /● 2 gemini/)
      window.press('Escape')
      await window.shows(/leash ask · claude ● · gemini ● · codex ●/)
      assert.deepEqual(agents(), [
        ['claude', true],
        ['gemini', true],
        ['codex', true],
      ])
    })

    await t.test('Shift+Tab goes round read, ask and edit, from all to read, and never to all', async () => {
      for (const leash of ['edit', 'read', 'ask', 'edit']) {
        window.press('BTab')
        await window.shows(` chat · leash ${leash} · `)
      }
      window.say('/leash all')
      await asks('Leash all: the agents may change and delete everything that you can')
      window.press('1')
      await window.shows('The leash is all until you leave', ' chat · leash all · ')
      for (const leash of ['read', 'ask']) {
        window.press('BTab')
        await window.shows(` chat · leash ${leash} · `)
      }
    })

    await t.test('/status shows the project, the session, the leash, the model and the agents', async () => {
      window.say('/status')
      await window.shows(
        ...[
          `Project     ${rig.cwd}`,
          /Session     01\w+/,
          'Leash       ask',
          /Model +(?:opus|gemini-2\.5-pro|mock-two)/,
        ],
        'Agents      claude (ready), gemini (ready), codex (ready)',
      )
    })

    await t.test(
      '/theme shows the colours before it keeps them, /vim and the setting keys change the keys',
      async () => {
        window.say('/theme')
        await window.shows('── Theme', '› terminal (now)')
        window.press('Down')
        await window.shows('› dark')
        assert.equal(settings().theme, undefined)
        window.press('Enter')
        await window.shows('The theme is dark')
        assert.equal(settings().theme, 'dark')

        window.say('/vim')
        await window.shows('The input has the keys of vim', 'INSERT · chat')
        assert.equal(settings().vim, true)
        window.type('one two three')
        window.press('Escape')
        await window.shows('NORMAL · chat')
        window.press('b', 'd', 'b')
        await window.shows(/^ one three$/m)
        window.press('d', 'd')
        await window.shows('Ask anything')
        window.press('i')
        await window.shows('INSERT · chat')
        window.say('/vim off')
        await window.shows('The input has its usual keys again.')
        assert.equal(settings().vim, false)

        window.press('F6')
        await window.shows('── Commands')
        window.press('Escape')
        await window.shows('Ask anything')
      },
    )

    await t.test('/btw: neither the question nor its answer enters the history', async () => {
      const before = kept()
      window.say('/btw what is two and two?')
      await window.shows('┆ aside: what is two and two?', '┆ It is four.', /┆ \w+ · .* · not kept/)
      // What it cost counts; nothing of what was said is kept.
      assert.deepEqual(
        kept()
          .slice(before.length)
          .map(({ type }) => type),
        ['usage'],
      )
      assert.match(model.turns().at(-1)!.text, /what is two and two\?/)
    })

    await t.test('/goal ends with its cap, and once its check passes', async () => {
      window.say('/switch claude --stay')
      await window.shows('next claude')
      window.say('/goal --max 1 test -f passed.txt')
      await window.shows('I leave it.', 'is over: the check still fails after 1 turn.')
      window.say('/goal test -f passed.txt')
      await asks('$ touch passed.txt')
      assert.ok(!existsSync(join(rig.cwd, 'passed.txt')))
      window.press('1')
      await window.shows('is over: the check passes after 1 turn.')
      assert.ok(existsSync(join(rig.cwd, 'passed.txt')))
    })

    await t.test('/loop sends its prompt twice', async () => {
      window.say('/loop 2 count on')
      await window.shows('The loop “count on” is over: all 2 turns are done.')
      const prompts = kept().filter(({ type, text }) => type === 'prompt' && text === 'count on')
      assert.equal(prompts.length, 2)
    })

    await t.test('/undo takes the file back, which the next turn gets to know, and /redo brings it back', async () => {
      const file = join(rig.cwd, 'b.txt')
      window.say('please write a file')
      await asks('1 + one')
      window.press('1')
      await window.shows('✓ Write b.txt', /1 file \+2 −0/)
      assert.equal(readFileSync(file, 'utf8'), 'one\ntwo\n')
      window.say('/undo')
      await asks('Undo this? You can redo it with /redo.')
      window.press('1')
      await window.shows('To redo the changes: /redo')
      assert.ok(!existsSync(file))
      window.say('which files are there')
      await window.shows(/I looked again\.\n─ claude · /)
      assert.match(model.turns().at(-1)!.text, /The user undid the turn [^"]*please write a file[^"]*b\.txt/)
      window.say('/redo')
      await asks('Redo this?')
      window.press('1')
      await window.shows('To undo them again: /undo')
      assert.equal(readFileSync(file, 'utf8'), 'one\ntwo\n')
    })

    await t.test('/import copies an earlier session of Claude Code, /export writes this one', async () => {
      window.say('/import claude')
      await asks('an earlier talk of herons')
      window.press('Enter')
      await window.shows('Imported 1 session.')
      assert.match(await run('sessions', 'search', 'Herons fish'), /Herons fish/)
      window.say('/export talk.md')
      await window.shows(/This session is in \S*talk\.md/)
      const talk = readFileSync(join(rig.cwd, 'talk.md'), 'utf8')
      assert.deepEqual(
        ['which files are there', 'I looked again.', 'two and two', 'Herons'].map((words) => talk.includes(words)),
        [true, true, false, false],
      )
    })

    await t.test('/sessions writes a session to a file, and forks it: the fork goes on by itself', async () => {
      const sessions = () => [...new Set(kept().map(({ session }) => session))]
      window.say('/sessions')
      await window.shows('── Sessions', /› hello to the model \(open\)/, 'from claude: an earlier talk of herons')
      window.press('C-e')
      await window.shows('Write to (.md, .json, .jsonl):')
      window.press('C-u')
      window.type('session.jsonl')
      window.press('Enter')
      await window.shows(/project\/session\.jsonl/)
      const lines = readFileSync(join(rig.cwd, 'session.jsonl'), 'utf8').trim().split('\n')
      assert.ok(lines.length > 10)
      const before = sessions()
      window.press('C-n')
      await window.shows('Ask anything', 'A new session began with the turns of')
      window.say('a word in the fork')
      await window.shows(/Only the fork has it\.\n─ claude · /)
      assert.equal(sessions().length, before.length + 1)
    })

    await t.test(
      '/crew spawn: the real Claude Code in a terminal of its own does the task, and is killed',
      async () => {
        window.say('/crew spawn claude say hello to the crew')
        await window.shows('Started slot 1: claude')
        await run('crew', 'wait', '1')
        assert.equal(await run('crew', 'artifact', '1'), 'The crew says hello.\n')
        window.say('/crew')
        await window.shows(/^ +1 +claude +idle .*say hello to the crew/m)
        window.say('/crew read 1')
        await window.shows('The crew says hello.')
        window.say('/crew kill 1')
        await window.shows('slot 1: exited (killed)')
      },
    )

    await t.test(
      'an agent fails in the middle of its answer: the half stays, dimmed, above who failed and who goes on',
      async () => {
        window.say('/cls')
        window.say('tell me a story')
        await asks('claude cannot go on now')
        window.press('1')
        const screen = await window.shows(/─ gemini · because claude is out of quota/)
        assert.match(
          screen,
          /● claude\n {2}Once upon a time there was a terminal[^\n]*\n\n↷ claude is out of quota: [^\n]* → gemini\n[^]*● gemini\n {2}gemini was here/,
        )
        assert.match(window.painted(), /\x1b\[[\d;]*\b2m[^\n]*Once upon a time/)
        const half = kept().findLast(({ type }) => type === 'words')
        assert.ok(story.startsWith(String(half?.text).trim()), String(half?.text))
        assert.ok(model.turns().at(-1)!.text.includes(String(half?.text).trim()), 'the next agent is shown the half')
      },
    )
  },
)
